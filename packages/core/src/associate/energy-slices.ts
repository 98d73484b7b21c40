/**
 * The energy kernel on a line or in space by projections: |u| = κ · average of |u'θ| over directions θ, κ = 1 on the line,
 * 2 in space. Each projection is counted in bins, so that a sum over pairs costs one sweep of the bins.
 * (docs/math/association.md §4)
 */

/** Binned projections of n places; κ and the number of directions are in the means. */
export interface EnergySlices {
  readonly numSlices: number;
  readonly numBins: number;
  /** Bin of each individual in each slice, counted through all slices (fewer than 2¹⁶), [n,numSlices]. */
  readonly bins: Uint16Array;
  /** Weighted mean place of each bin, ascending in each slice, [numSlices,numBins]. */
  readonly means: Float64Array;
}

/** Size of the tally of marked individuals, [numSlices,numBins]. */
export function numTallies({ numSlices, numBins }: EnergySlices): number {
  return numSlices * numBins;
}

/** Projections of places x [n,q] in bins. */
export function energySlices(x: Float64Array, n: number, q: 1 | 3): EnergySlices {
  // With these the error stays below 1 % of the null standard deviation.
  const numBins = q === 1 ? 2048 : 256;
  const numSlices = q === 1 ? 1 : 160;
  const directions = sliceDirections(q, numSlices);
  const bins = new Uint16Array(n * numSlices);
  const means = new Float64Array(numSlices * numBins);
  const weight = (q === 1 ? 1 : 2) / numSlices;
  const p = new Float64Array(n);
  for (let s = 0; s < numSlices; s++) {
    for (let i = 0; i < n; i++) {
      p[i] = 0;
      for (let k = 0; k < q; k++) p[i] += weight * x[i * q + k] * directions[s][k];
    }
    binProjection(p, n, s, numSlices, means.subarray(s * numBins, (s + 1) * numBins), bins);
  }
  return { numSlices, numBins, bins, means };
}

/** −Σ_ij |p_i − p_j| = −2 Σ_b (mean_{b+1} − mean_b) N_b (m − N_b), N_b the marked up to bin b; summed over slices. */
export function sliceSum(slices: EnergySlices, members: Int32Array, count: number, tally: Int32Array): number {
  const { means, numSlices, numBins } = slices;
  tallySlices(slices, members, count, tally);
  let total = 0;
  for (let s = 0; s < numSlices; s++) {
    let below = 0;
    const last = (s + 1) * numBins - 1;
    for (let b = s * numBins; b < last; b++) {
      below += tally[b];
      total += (means[b + 1] - means[b]) * below * (count - below);
    }
  }
  return -2 * total;
}

/** tally[slice,bin] = number of marked. */
function tallySlices({ bins, numSlices }: EnergySlices, members: Int32Array, count: number, tally: Int32Array): void {
  tally.fill(0);
  for (let k = 0; k < count; k++) {
    const from = Math.imul(members[k], numSlices);
    const to = (from + numSlices) | 0;
    for (let s = from; s < to; s = (s + 1) | 0) tally[bins[s]]++;
  }
}

/** −Σ_{j marked} |p_i − p_j| for everyone, summed over slices. */
export function sliceRowSums(slices: EnergySlices, n: number, members: Int32Array): Float64Array {
  const { bins, means, numSlices, numBins } = slices;
  const tally = new Int32Array(numTallies(slices));
  tallySlices(slices, members, members.length, tally);
  const distances = new Float64Array(tally.length);
  for (let s = 0; s < numSlices; s++) {
    const from = s * numBins;
    let all = 0;
    for (let b = from; b < from + numBins; b++) all += tally[b] * means[b];
    let below = 0;
    let sumBelow = 0;
    for (let b = from; b < from + numBins; b++) {
      below += tally[b];
      sumBelow += tally[b] * means[b];
      // Those below are nearer by their mean, those above by the rest.
      distances[b] = means[b] * below - sumBelow + (all - sumBelow) - means[b] * (members.length - below);
    }
  }
  const out = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    for (let s = i * numSlices; s < (i + 1) * numSlices; s++) out[i] -= distances[bins[s]];
  }
  return out;
}

/** Unit vectors spread evenly over half of the sphere (a Fibonacci lattice): a line is one direction. */
function sliceDirections(q: 1 | 3, length: number): readonly (readonly number[])[] {
  if (q === 1) return [[1]];
  const turn = Math.PI * (3 - Math.sqrt(5));
  return Array.from({ length }, (_, s) => {
    const height = (s + 0.5) / length;
    const radius = Math.sqrt(1 - height * height);
    return [radius * Math.cos(turn * s), radius * Math.sin(turn * s), height];
  });
}

/**
 * Bins projections p [n] of slice s: writes the means of the bins and each individual's bin, counted through all slices.
 * Half of the bins hold equal numbers, half have equal widths, so that neither middle nor outliers are blurred.
 */
function binProjection(
  p: Float64Array,
  n: number,
  s: number,
  numSlices: number,
  means: Float64Array,
  bins: Uint16Array,
): void {
  const numBins = means.length;
  const sorted = p.slice().sort();
  const half = numBins / 2;
  const edges: number[] = [];
  for (let k = 1; k < half; k++) {
    edges.push(sorted[Math.floor((k * n) / half)], sorted[0] + ((sorted[n - 1] - sorted[0]) * k) / half);
  }
  edges.sort((a, b) => a - b);
  const counts = new Float64Array(numBins);
  means.fill(0);
  for (let i = 0; i < n; i++) {
    let low = 0;
    let high = edges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (edges[middle] <= p[i]) low = middle + 1;
      else high = middle;
    }
    bins[i * numSlices + s] = s * numBins + low;
    means[low] += p[i];
    counts[low]++;
  }
  // An empty bin takes the place of the one before: nothing lies between them.
  for (let b = 0; b < numBins; b++) means[b] = counts[b] > 0 ? means[b] / counts[b] : b > 0 ? means[b - 1] : sorted[0];
}
