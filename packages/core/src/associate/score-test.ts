/**
 * Does a label go with the features of places? For labels z_i (0/1, a number, a rank, a martingale residual), features φ_i
 * and covariates C with a constant,
 *   a = residual of z on C,   S = Σ a_i φ_i,   T = |S|²,
 *   e_i = (residual of φ_i on [C, a]) / √(1 − h_i),  h the leverages (HC2),   V = Σ a_i² e_i e_i'.
 * For two groups without covariates S = (n₁n₀/m)(φ̄₁ − φ̄₀) and V = (n₁n₀/m)²(S₁/n₁ + S₀/n₀) with separate covariances:
 * groups that are seen differently have equal means but not equal covariances, so they are never pooled and labels never
 * exchanged. T is compared with Σ λ_j χ²₁, λ the eigenvalues of V: at once by its moments here, by multipliers in
 * multipliers.ts.                                                                  (docs/math/association.md §3)
 */
import { DtmError } from "../errors.ts";
import { dot, trace } from "../numeric/matrix.ts";
import { chisquareUpper, noncentralChisquareUpper } from "../numeric/special.ts";

/** The score of a label and what its law under the null is made of. */
export interface Score {
  readonly n: number;
  readonly numFeatures: number;
  /** a [n], orthogonal to constant and covariates. */
  readonly residual: Float64Array;
  /** Orthonormal basis of [C, a], one column after the other, [k,n]; a is the last. */
  readonly design: readonly Float64Array[];
  /** √(1 − h_i), [n]. */
  readonly root: Float64Array;
  /** e [n,F]. */
  readonly errors: Float64Array;
  /** S [F]. */
  readonly sum: Float64Array;
  /** V [F,F]. */
  readonly variance: Float64Array;
  /** T. */
  readonly statistic: number;
}

/** Below this share of its variance, what covariates leave of a label is rounding error. */
const DETERMINED = 1e-6;
/** A covariate with a smaller share that is new is a combination of those before. */
const REPEATED = 1e-10;
/** Below this share of their squares, features do not differ between individuals. */
const ROUNDING = 1e-24;

/**
 * The score of labels [n] for features [n,F] given covariates [n] each.
 * @throws DtmError "one-class" for a constant label, "determined-label" for one that the covariates determine.
 */
export function scoreOf(
  features: Float64Array,
  labels: ArrayLike<number>,
  covariates: readonly ArrayLike<number>[] = [],
): Score {
  const n = labels.length;
  const F = features.length / n;
  const { a, design } = freeLabel(labels, covariates);
  design.push(normalized(a));
  const root = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    root[i] = Math.sqrt(Math.max(1 - design.reduce((h, column) => h + column[i] * column[i], 0), 1e-8));
  }
  const errors = features.slice();
  for (const column of design) {
    const slope = weightedSum(column, features, n, F);
    for (let i = 0, at = 0; i < n; i++) for (let f = 0; f < F; f++) errors[at++] -= column[i] * slope[f];
  }
  for (let i = 0, at = 0; i < n; i++) for (let f = 0; f < F; f++) errors[at++] /= root[i];
  const variance = varianceOf(a, errors, n, F);
  // Equal posteriors leave rounding errors, which must not be compared with one another.
  const flat = !(trace(variance, F) > ROUNDING * weightedSquares(a, features, n, F));
  const sum = flat ? new Float64Array(F) : weightedSum(a, features, n, F);
  if (flat) variance.fill(0);
  return { n, numFeatures: F, residual: a, design, root, errors, sum, variance, statistic: dot(sum, sum) };
}

/** a [n] for labels [n] given covariates [n] each, as in `scoreOf`. */
export function labelResidual(labels: ArrayLike<number>, covariates: readonly ArrayLike<number>[]): Float64Array {
  return freeLabel(labels, covariates).a;
}

/** Whether covariates [n] each leave nothing of labels [n] that differ. */
export function isDetermined(labels: ArrayLike<number>, covariates: readonly ArrayLike<number>[]): boolean {
  const { spread, left } = labelParts(labels, covariates);
  return spread > 0 && !(left > DETERMINED * spread);
}

/** What covariates leave of a label, an orthonormal basis of the constant and them, and squares of the label and of what is left. */
function labelParts(labels: ArrayLike<number>, covariates: readonly ArrayLike<number>[]) {
  const design = orthonormalColumns(labels.length, covariates);
  const centred = residualOn(design.slice(0, 1), Float64Array.from(labels));
  const a = residualOn(design, centred);
  return { a, design, spread: dot(centred, centred), left: dot(a, a) };
}

function freeLabel(labels: ArrayLike<number>, covariates: readonly ArrayLike<number>[]) {
  const n = labels.length;
  const { a, design, spread, left } = labelParts(labels, covariates);
  if (!(spread > 0)) {
    throw new DtmError("one-class", `scoreOf: expected labels that differ, received ${labels[0]} for all ${n}.`);
  }
  if (!(left > DETERMINED * spread)) {
    throw new DtmError(
      "determined-label",
      "scoreOf: expected a label that the covariates leave free, received one that they determine. Leave some of them out.",
    );
  }
  return { a, design };
}

/** An orthonormal basis of the constant and covariates [n] each; those that repeat others add nothing. */
function orthonormalColumns(n: number, covariates: readonly ArrayLike<number>[]): Float64Array[] {
  const design: Float64Array[] = [];
  for (const column of [new Float64Array(n).fill(1), ...covariates]) {
    const given = Float64Array.from(column);
    const left = residualOn(design, given);
    if (dot(left, left) > REPEATED * dot(given, given)) design.push(normalized(left));
  }
  return design;
}

/** Features [n,F] less what covariates [n] each explain of them, whatever the labels; as they are without covariates. */
export function withoutCovariates(
  features: Float64Array,
  n: number,
  covariates: readonly ArrayLike<number>[],
): Float64Array {
  const F = features.length / n;
  const out = features.slice();
  for (const column of orthonormalColumns(n, covariates).slice(1)) {
    const slope = weightedSum(column, features, n, F);
    for (let i = 0, at = 0; i < n; i++) for (let f = 0; f < F; f++) out[at++] -= column[i] * slope[f];
  }
  return out;
}

/** What is left of x after its regression on orthonormal columns; twice, so that rounding leaves nothing. */
function residualOn(columns: readonly Float64Array[], x: Float64Array): Float64Array {
  const out = x.slice();
  for (const column of [...columns, ...columns]) {
    const slope = dot(column, out);
    for (let i = 0; i < out.length; i++) out[i] -= slope * column[i];
  }
  return out;
}

function normalized(x: Float64Array): Float64Array {
  const norm = Math.sqrt(dot(x, x));
  return x.map((v) => v / norm);
}

/** Σ w_i φ_i, [F]. */
export function weightedSum(weights: Float64Array, rows: Float64Array, n: number, F: number): Float64Array {
  const out = new Float64Array(F);
  for (let i = 0, at = 0; i < n; i++) for (let f = 0; f < F; f++) out[f] += weights[i] * rows[at++];
  return out;
}

/** Σ w_i² |φ_i|². */
function weightedSquares(weights: Float64Array, rows: Float64Array, n: number, F: number): number {
  let sum = 0;
  for (let i = 0, at = 0; i < n; i++) for (let f = 0; f < F; f++) sum += (weights[i] * rows[at++]) ** 2;
  return sum;
}

/** Σ a_i² e_i e_i', [F,F]. */
function varianceOf(a: Float64Array, errors: Float64Array, n: number, F: number): Float64Array {
  const V = new Float64Array(F * F);
  for (let i = 0; i < n; i++) {
    for (let f = 0; f < F; f++) {
      const v = a[i] * a[i] * errors[i * F + f];
      for (let g = 0; g <= f; g++) V[f * F + g] += v * errors[i * F + g];
    }
  }
  for (let f = 0; f < F; f++) for (let g = 0; g < f; g++) V[g * F + f] = V[f * F + g];
  return V;
}

/** tr V, tr V², tr V³, tr V⁴. */
export function cumulants(V: Float64Array, F: number): readonly [number, number, number, number] {
  const V2 = new Float64Array(F * F);
  for (let f = 0; f < F; f++) {
    for (let g = 0; g <= f; g++) {
      let s = 0;
      for (let k = 0; k < F; k++) s += V[f * F + k] * V[g * F + k];
      V2[f * F + g] = s;
      V2[g * F + f] = s;
    }
  }
  return [trace(V, F), trace(V2, F), dot(V2, V), dot(V2, V2)];
}

/**
 * P(Σ λ_j χ²₁ > T) by the χ² with four matched moments (Liu, Tang & Zhang 2009); 1 where all posteriors are equal. Its far
 * tail is not to be relied on with fewer than 50 cases.
 */
export function approximateP({ statistic: T, variance: V, numFeatures: F }: Score): number {
  const [c1, c2, c3, c4] = cumulants(V, F);
  if (!(c1 > 0)) return 1;
  const s1 = c3 / c2 ** 1.5;
  const s2 = c4 / (c2 * c2);
  const gap = s1 * s1 - s2;
  const a = gap > 0 ? 1 / (s1 - Math.sqrt(gap)) : 1 / s1;
  const delta = gap > 0 ? s1 * a ** 3 - a * a : 0;
  const degrees = a * a - 2 * delta;
  const t = ((T - c1) / Math.sqrt(2 * c2)) * Math.SQRT2 * a + degrees + delta;
  if (t <= 0) return 1;
  return delta < 1e-12 ? chisquareUpper(t, degrees) : noncentralChisquareUpper(t, degrees, delta);
}
