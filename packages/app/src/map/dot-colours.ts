/**
 * Which colour each dot takes: a palette of tokens and a position in it per individual. Hues belong to categories; order
 * and amount are steps of one hue. Dots of unknown category are rings of quiet ink.
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
}

const NUM_GROUP_COLOURS = 6;
/** Steps of the one-hue ramp that are dark enough for small marks. */
const STEPS = [2, 3, 4, 5, 6];
const UNKNOWN: Swatch = { token: "ink-3", hollow: true, name: "unknown", letter: "" };

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
      : `group-${k % NUM_GROUP_COLOURS}`,
    // Past six, hues come again as rings.
    hollow: hollow || (!ordered && k >= NUM_GROUP_COLOURS),
    name,
    letter,
  }));
  swatches.push(UNKNOWN);
  const positions = Uint8Array.from({ length: m }, (_, i) => {
    const label = labels[i];
    return label >= 0 && label <= last ? label : last + 1;
  });
  return { title, swatches, positions, carriesHue: true };
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
  };
}
