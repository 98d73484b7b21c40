/** Pens of the map: colours as custom properties (live) or written out (files); paths. */
import { customProperties, greyTokens, type Pen as Ink, namedColours, shorten } from "@trajectory-maps/report";
import { mapTokens } from "./tokens.ts";

/** Where and in which colours something is drawn. */
export interface Pen extends Ink {
  /** Colour of a token by its name: "ink-2", "group-0". */
  readonly colour: (token: string) => string;
}

/** A pen for the page: colours follow the theme by themselves. */
export function livePen(document: Document, prefix: string): Pen {
  const colour = (token: string) => `var(--tm-${token})`;
  return { document, tokens: customProperties("--tm-"), colour, id: (name) => `${prefix}-${name}` };
}

/** A pen for files: light colours, written out; grey ones for a map that should not be used. */
export function filePen(document: Document, grey: boolean): Pen {
  const tokens = grey ? greyTokens(mapTokens("light")) : mapTokens("light");
  const colours = new Map(namedColours(tokens));
  const colour = (token: string) => colours.get(token) ?? "#000000";
  return { document, tokens, colour, id: (name) => `map-${name}` };
}

/** Text of others without control characters, which files cannot hold. */
export function plain(words: string): string {
  return [...words].filter((c) => c >= " " && c !== "\u007f").join("");
}

/** A path through points given by two functions of the position. */
export function linePath(count: number, x: (k: number) => number, y: (k: number) => number): string {
  let d = "";
  for (let k = 0; k < count; k++) d += `${k === 0 ? "M" : "L"}${shorten(x(k))} ${shorten(y(k))}`;
  return d;
}

/** Rings in map coordinates as a path whose corners are rounded: curves through the middles of the sides. */
export function smoothRings(rings: readonly (readonly (readonly [number, number])[])[]): string {
  const write = (v: number) => String(Math.round(v * 1e4) / 1e4);
  let d = "";
  for (const ring of rings) {
    // The last point repeats the first.
    const n = ring.length - 1;
    if (n < 3) continue;
    const middle = (k: number) => {
      const [a, b] = [ring[k % n], ring[(k + 1) % n]];
      return `${write((a[0] + b[0]) / 2)} ${write((a[1] + b[1]) / 2)}`;
    };
    d += `M${middle(0)}`;
    for (let k = 1; k <= n; k++) {
      const point = ring[k % n];
      d += `Q${write(point[0])} ${write(point[1])} ${middle(k)}`;
    }
    d += "Z";
  }
  return d;
}

/** Rings in map coordinates as a path with corners. */
export function straightRings(rings: readonly (readonly (readonly [number, number])[])[]): string {
  return rings.map((ring) => `M${ring.map(([x, y]) => `${x} ${y}`).join("L")}Z`).join("");
}
