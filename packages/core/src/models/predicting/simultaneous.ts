/**
 * Simultaneous bands from draws: the pointwise central band whose level is raised until the wanted share of whole
 * curves lies inside it. For each draw take the most extreme of its pointwise ranks; the k-th order statistics with
 * k = the (1 − level) quantile of those extremes bound the band.
 */

/** Lower and upper band, [T], that hold `level` of the curves: draws [S,T], one curve a row. */
export function simultaneousBand(
  draws: Float64Array,
  S: number,
  T: number,
  level: number,
): { readonly lower: Float64Array; readonly upper: Float64Array } {
  const columns: Float64Array[] = [];
  const extreme = new Int32Array(S).fill(S);
  for (let t = 0; t < T; t++) {
    const order = Int32Array.from({ length: S }, (_, s) => s).sort((a, b) => draws[a * T + t] - draws[b * T + t]);
    columns.push(Float64Array.from(order, (s) => draws[s * T + t]));
    for (let r = 0; r < S; r++) extreme[order[r]] = Math.min(extreme[order[r]], r, S - 1 - r);
  }
  const sorted = extreme.slice().sort();
  // Largest k such that at least `level` of the draws have no rank below k from either end.
  const k = sorted[Math.min(S - 1, Math.floor((1 - level) * S))];
  return {
    lower: Float64Array.from(columns, (c) => c[k]),
    upper: Float64Array.from(columns, (c) => c[S - 1 - k]),
  };
}
