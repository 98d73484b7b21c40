/**
 * Dots as small pictures laid on bytes, for drawing without a graphics card: twenty thousand by a canvas's own drawImage
 * take ten times as long. Colours are multiplied by their opacity, so that laying one picture s of opacity a on another is
 *   p ← s + p (1 − a)
 * in each of four bytes. A picture is made for each of 4 × 4 positions within a pixel.
 */

/** A picture: bytes of red, green, blue (times opacity) and opacity, [side,side,4]. */
export interface Stamp {
  readonly side: number;
  readonly bytes: Uint8Array;
}

/** How a dot looks; lengths in device pixels. */
export interface Look {
  readonly colour: readonly [number, number, number];
  readonly opacity: number;
  readonly radius: number;
  /** Width of the line of a ring; 0 for a disc. */
  readonly line: number;
}

/** Positions within a pixel, along each axis. */
export const PHASES = 4;

/** The picture of a dot whose middle stands `phaseX`, `phaseY` quarters of a pixel beyond the middle of the picture. */
export function makeStamp({ colour, opacity, radius, line }: Look, phaseX: number, phaseY: number): Stamp {
  const half = Math.ceil(radius + line / 2 + 1);
  const side = 2 * half + 1;
  const bytes = new Uint8Array(4 * side * side);
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const d = Math.hypot(x - half - phaseX / PHASES, y - half - phaseY / PHASES);
      // How much of the pixel is covered, to within the curvature of the border.
      const covered = line > 0 ? line / 2 + 0.5 - Math.abs(d - radius) : radius + 0.5 - d;
      const alpha = opacity * Math.min(1, Math.max(0, covered));
      const at = 4 * (y * side + x);
      for (let c = 0; c < 3; c++) bytes[at + c] = Math.round(colour[c] * alpha);
      bytes[at + 3] = Math.round(255 * alpha);
    }
  }
  return { side, bytes };
}

/** Lays a picture with its middle at pixel (x, y) on bytes [height,width,4], multiplied by opacity like the picture. */
export function layStamp(
  onto: Uint8Array,
  width: number,
  height: number,
  { side, bytes }: Stamp,
  x: number,
  y: number,
): void {
  const half = (side - 1) / 2;
  const [left, top] = [x - half, y - half];
  const c0 = left < 0 ? -left : 0;
  const c1 = left + side > width ? width - left : side;
  const r0 = top < 0 ? -top : 0;
  const r1 = top + side > height ? height - top : side;
  for (let r = r0; r < r1; r++) {
    let from = 4 * (r * side + c0);
    let to = 4 * ((top + r) * width + left + c0);
    for (let c = c0; c < c1; c++, from += 4, to += 4) {
      const alpha = bytes[from + 3];
      if (alpha === 0) continue;
      const keep = 255 - alpha;
      for (let k = 0; k < 4; k++) {
        // v / 255, rounded, for v up to 65,025.
        const v = onto[to + k] * keep + 128;
        onto[to + k] = bytes[from + k] + ((v + (v >> 8)) >> 8);
      }
    }
  }
}

/** Writes bytes multiplied by their opacity as plain ones, which is what a canvas takes. */
export function divideInto(from: Uint8Array, out: Uint8ClampedArray): void {
  const whole = new Uint32Array(from.buffer, from.byteOffset, from.length / 4);
  for (let k = 0; k < whole.length; k++) {
    const at = 4 * k;
    if (whole[k] === 0) {
      out[at + 3] = 0;
      continue;
    }
    const scale = 255 / from[at + 3];
    out[at] = from[at] * scale;
    out[at + 1] = from[at + 1] * scale;
    out[at + 2] = from[at + 2] * scale;
    out[at + 3] = from[at + 3];
  }
}
