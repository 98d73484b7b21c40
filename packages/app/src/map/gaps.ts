/** Lattices with gaps: filled from their borders, so that lines can be drawn up to the border of what is known. */

/** A lattice [ny,nx] whose gaps (NaN) take the mean of their known neighbours, from the border of the gap inwards. */
export function fillGaps(values: Float64Array, nx: number): Float64Array {
  const out = values.slice();
  const ny = values.length / nx;
  let gaps = Array.from(out.keys()).filter((k) => Number.isNaN(out[k]));
  while (gaps.length > 0) {
    const before = out.slice();
    const left: number[] = [];
    for (const k of gaps) {
      const [r, c] = [Math.floor(k / nx), k % nx];
      let [sum, n] = [0, 0];
      for (let i = Math.max(0, r - 1); i <= Math.min(ny - 1, r + 1); i++) {
        for (let j = Math.max(0, c - 1); j <= Math.min(nx - 1, c + 1); j++) {
          const v = before[i * nx + j];
          if (Number.isNaN(v)) continue;
          sum += v;
          n++;
        }
      }
      if (n === 0) left.push(k);
      else out[k] = sum / n;
    }
    // Nothing known anywhere: there is nothing to fill from.
    if (left.length === gaps.length) return out;
    gaps = left;
  }
  return out;
}
