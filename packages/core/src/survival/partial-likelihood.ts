/**
 * Cox's partial log-likelihood with its gradient U and information I, for risks r_i = exp(x_i'β). At a time with events
 * D (d of them) and risk set R:
 *   Efron    Σ_D x_i'β − Σ_{l<d} log( Σ_R r − (l/d) Σ_D r ),
 *   Breslow  Σ_D x_i'β − d log Σ_R r.
 * With w the weights of that sum over the risk set, U gains x_i − E_w[x] and I gains Var_w[x] per event. One sweep from
 * the last time to the first keeps the sums over R: O(n p²).   (docs/math/survival.md §3)
 */

/** Rows in falling order of time: times, events [n] and covariates X [n,p]. */
export interface CoxRows {
  readonly n: number;
  readonly p: number;
  readonly times: Float64Array;
  readonly events: Float64Array;
  readonly X: Float64Array;
}

/** Buffers, and the gradient U [p] and information I [p,p] of the last call. */
export interface CoxWorkspace {
  readonly gradient: Float64Array;
  readonly information: Float64Array;
  readonly linear: Float64Array; // x_i'β [n]
  /** Sums of r, r x, r x x' over the risk set and over the events of one time, [1 + p + p²] each. */
  readonly risk: Float64Array;
  readonly dying: Float64Array;
  readonly mean: Float64Array; // [p]
}

export function coxWorkspace(n: number, p: number): CoxWorkspace {
  return {
    gradient: new Float64Array(p),
    information: new Float64Array(p * p),
    linear: new Float64Array(n),
    risk: new Float64Array(1 + p + p * p),
    dying: new Float64Array(1 + p + p * p),
    mean: new Float64Array(p),
  };
}

/**
 * The partial log-likelihood at β; fills U, I and x'β. `onTime` is called after the events of each time, the last first, with
 * U and I so far, the rows [start, end) of that time, and Σ_l 1/(Σ_R r − (l/d) Σ_D r): the step of the baseline hazard.
 */
export function partialLikelihood(
  rows: CoxRows,
  beta: Float64Array,
  efron: boolean,
  work: CoxWorkspace,
  onTime?: (start: number, end: number, hazard: number) => void,
): number {
  const { n, p, times, events, X } = rows;
  const { gradient, information, linear, risk, dying } = work;
  gradient.fill(0);
  information.fill(0);
  risk.fill(0);
  for (let i = 0; i < n; i++) {
    let s = 0;
    for (let c = 0; c < p; c++) s += X[i * p + c] * beta[c];
    linear[i] = s;
  }
  // Sums are kept times exp(−shift), the largest x'β met so far, so that none overflows or vanishes.
  let shift = Number.NEGATIVE_INFINITY;
  let logLikelihood = 0;
  for (let start = 0; start < n; ) {
    dying.fill(0);
    let d = 0;
    let end = start;
    for (; end < n && times[end] === times[start]; end++) {
      if (linear[end] > shift) {
        rescale(work, Math.exp(shift - linear[end]));
        shift = linear[end];
      }
      const r = Math.exp(linear[end] - shift);
      addMoments(risk, X, end * p, p, r);
      if (events[end] !== 1) continue;
      d++;
      addMoments(dying, X, end * p, p, r);
      logLikelihood += linear[end];
      for (let c = 0; c < p; c++) gradient[c] += X[end * p + c];
    }
    let hazard = 0;
    for (let l = 0; l < d; l++) {
      const logSum = addEvent(work, p, efron ? l / d : 0) + shift;
      logLikelihood -= logSum;
      hazard += Math.exp(-logSum);
    }
    if (d > 0) onTime?.(start, end, hazard);
    start = end;
  }
  return logLikelihood;
}

function rescale({ risk, dying }: CoxWorkspace, factor: number): void {
  for (let e = 0; e < risk.length; e++) {
    risk[e] *= factor;
    dying[e] *= factor;
  }
}

/** sums += r (1, x, x x'), lower triangle. */
function addMoments(sums: Float64Array, X: Float64Array, at: number, p: number, r: number): void {
  sums[0] += r;
  for (let a = 0; a < p; a++) {
    const ra = r * X[at + a];
    sums[1 + a] += ra;
    for (let b = 0; b <= a; b++) sums[1 + p + a * p + b] += ra * X[at + b];
  }
}

/** One event's part of U and I, with the share f of those dying taken out of the risk set; returns log of its sum. */
function addEvent({ gradient, information, risk, dying, mean }: CoxWorkspace, p: number, f: number): number {
  const total = risk[0] - f * dying[0];
  for (let a = 0; a < p; a++) {
    mean[a] = (risk[1 + a] - f * dying[1 + a]) / total;
    gradient[a] -= mean[a];
    for (let b = 0; b <= a; b++) {
      const e = 1 + p + a * p + b;
      const variance = (risk[e] - f * dying[e]) / total - mean[a] * mean[b];
      information[a * p + b] += variance;
      if (b < a) information[b * p + a] += variance;
    }
  }
  return Math.log(total);
}
