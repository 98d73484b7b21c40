/**
 * Which colour each dot takes: a palette of tokens and a position in it per individual. Groups have hues of their own, other
 * categories have others; order and amount are steps of one hue; the unknown is quiet ink. A thin ring is one visit and
 * nothing else; a thick one is a category past the sixth, whose hue stands for another one already.
 */
import type { DotStyle } from "./dot-style.ts";
import { sizedValue } from "./surfaces.ts";
import type { MapColour } from "./types.ts";

/** One entry of the palette, also one line of the legend. */
export interface Swatch {
  /** Name of a token: "ink-2", "group-0", "sequential-4". */
  readonly token: string;
  readonly hollow: boolean;
  readonly name: string;
  readonly letter: string;
}

export interface DotColours {
  /** Heading of the legend; empty when colour says nothing. */
  readonly title: string;
  readonly swatches: readonly Swatch[];
  /** Position of each individual's swatch, [m]. */
  readonly positions: Uint8Array;
  /** Whether dots carry hue, so that terrain must not. */
  readonly carriesHue: boolean;
  /** How sure the category is: what the opacity of each dot is multiplied by, [m]; null where all are. */
  readonly sure: Float32Array | null;
}

const NUM_HUES = 6;
/** Opacity of a dot that may be of any category, as a share of a sure one's; probability from which on it is sure. */
const PALEST = 0.5;
const SURE = 0.9;
/** Steps of the one-hue ramp that are dark enough for small marks. */
const STEPS = [2, 3, 4, 5, 6];
const UNKNOWN: Swatch = { token: "ink-3", hollow: false, name: "unknown", letter: "" };

/** Colours of all dots. */
export function dotColours(colour: MapColour, style: DotStyle): DotColours {
  const m = style.sd.length;
  switch (colour.kind) {
    case "none":
      return {
        title: "",
        swatches: [{ token: "ink", hollow: false, name: "individual", letter: "" }],
        positions: new Uint8Array(m),
        carriesHue: false,
        sure: null,
      };
    case "category":
      return categoryColours(colour, m);
    case "number":
      return numberColours(colour.title, colour.values, m, colour.unit ?? "");
    case "certainty": {
      const steps = numberColours(
        "Certainty of the place",
        style.sd.map((sd) => -sd),
        m,
        "",
      );
      const last = steps.swatches.length - 2;
      const word = (k: number) => (k === last ? "certain" : k === 0 ? "uncertain" : "");
      return { ...steps, swatches: steps.swatches.map((s, k) => ({ ...s, name: k > last ? s.name : word(k) })) };
    }
  }
}

function categoryColours(colour: Extract<MapColour, { kind: "category" }>, m: number): DotColours {
  const { categories, labels, title, ordered = false } = colour;
  const last = categories.length - 1;
  const swatches: Swatch[] = categories.map(({ name, letter = "", hollow = false }, k) => ({
    token: ordered
      ? `sequential-${STEPS[last === 0 ? 4 : Math.round((4 * k) / last)]}`
      : `${letter === "" ? "category" : "group"}-${k % NUM_HUES}`,
    // Past six, hues come again as thick rings.
    hollow: hollow || (!ordered && k >= NUM_HUES),
    name,
    letter,
  }));
  swatches.push(UNKNOWN);
  const positions = Uint8Array.from({ length: m }, (_, i) => {
    const label = labels[i];
    return label >= 0 && label <= last ? label : last + 1;
  });
  const { shares } = colour;
  const sure = shares === undefined ? null : Float32Array.from(positions, (k, i) => sureness(shares, last + 1, i, k));
  return { title, swatches, positions, carriesHue: true, sure };
}

/** From 0.5 for a category no likelier than any of K to 1 for a sure one; 1 for the unknown. */
function sureness(shares: ArrayLike<number>, K: number, i: number, k: number): number {
  if (k >= K || K === 1) return 1;
  const share = (shares[i * K + k] - 1 / K) / (SURE - 1 / K);
  return PALEST + (1 - PALEST) * Math.min(1, Math.max(0, share));
}

/** Fifths of the known values, so that a few extreme ones do not take all colours. */
function numberColours(title: string, values: ArrayLike<number>, m: number, unit: string): DotColours {
  const known = Float64Array.from(values)
    .filter((v) => Number.isFinite(v))
    .sort();
  const breaks: number[] = [];
  for (let k = 1; k < STEPS.length; k++) {
    const at = known[Math.floor((k * known.length) / STEPS.length)];
    if (at !== undefined && at > (breaks[breaks.length - 1] ?? known[0])) breaks.push(at);
  }
  const digits = breaks.every((b) => Number.isInteger(b)) ? 0 : 2;
  const write = (v: number) => sizedValue(v, digits);
  const swatches: Swatch[] = Array.from({ length: breaks.length + 1 }, (_, k) => ({
    token: `sequential-${STEPS[breaks.length === 0 ? 4 : Math.round((4 * k) / breaks.length)]}`,
    hollow: false,
    name:
      breaks.length === 0
        ? "all"
        : k === 0
          ? `under ${write(breaks[0])}`
          : k === breaks.length
            ? `${write(breaks[k - 1])} or more`
            : `${write(breaks[k - 1])} to ${write(breaks[k])}`,
    letter: "",
  }));
  const positions = Uint8Array.from({ length: m }, (_, i) => {
    const v = values[i];
    if (!Number.isFinite(v)) return swatches.length;
    let k = 0;
    while (k < breaks.length && v >= breaks[k]) k++;
    return k;
  });
  return {
    title: unit === "" ? title : `${title}, ${unit}`,
    swatches: [...swatches, UNKNOWN],
    positions,
    carriesHue: true,
    sure: null,
  };
}
