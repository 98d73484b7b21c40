/**
 * Logistic and Cox regression on standardised predictors of several kinds, shrunk by what each kind is worth: β_c ~ N(0, τ_k²)
 * for predictors c of kind k, τ estimated with β. First β̂ maximises log-likelihood − ½|β|², which has a maximum even where
 * predictors separate cases from others or repeat one another. With I the information there, the log-likelihood is
 * −½(β − β̂)'I(β − β̂) + β̂'(β − β̂) to second order; on it EM repeats
 *   A = I + diag(1/τ²),   β = A⁻¹(I + 1)β̂,   τ_k² = mean over kind k of β_c² + (A⁻¹)_cc,
 * so that a kind that says nothing gets τ near 0 and costs little. Logistic regression has a free constant β_p beside:
 * Σ y η − log(1 + e^η), η = x'β + β_p.                                              (docs/math/association.md §12)
 */
import { choleskyInPlace, invertFromCholesky } from "../numeric/cholesky.ts";
import { dot, multiplyVector } from "../numeric/matrix.ts";
import { type CurvedObjective, newtonAscent } from "../numeric/optimize/newton.ts";
import { type CoxRows, coxWorkspace, partialLikelihood } from "../survival/partial-likelihood.ts";

export type Regression = "logistic" | "cox";

const EM_STEPS = 50;

/**
 * β for rows in falling order of time and the kinds of their predictors [p]: [p] for Cox's regression, [p+1] for a logistic
 * one, which reads no times.
 */
export function fitShrunk(rows: CoxRows, kinds: readonly string[], regression: Regression): Float64Array {
  const size = regression === "cox" ? rows.p : rows.p + 1;
  const objective = ridgeObjective(rows, regression);
  const first = new Float64Array(size);
  newtonAscent(objective, size)(first, 0, { gradientTolerance: 1e-6 * rows.n, maxEvaluations: 100 });
  // I + 1 with no 1 for the constant.
  const curvature = new Float64Array(size * size);
  objective(first, 0, new Float64Array(size), curvature);
  const ridged = curvature.map((h) => -h);
  const pull = multiplyVector(ridged, first, size, size, new Float64Array(size));

  let beta: Float64Array = first;
  const precision = new Float64Array(rows.p).fill(1);
  for (let step = 0; step < EM_STEPS; step++) {
    const A = ridged.slice();
    for (let c = 0; c < rows.p; c++) A[c * size + c] += precision[c] - 1;
    if (!choleskyInPlace(A, size)) break;
    const covariance = invertFromCholesky(A, size);
    beta = multiplyVector(covariance, pull, size, size, new Float64Array(size));
    for (const kind of new Set(kinds)) {
      const own = kinds.flatMap((k, c) => (k === kind ? [c] : []));
      const total = own.reduce((sum, c) => sum + beta[c] * beta[c] + covariance[c * size + c], 0);
      for (const c of own) precision[c] = own.length / total;
    }
  }
  return beta;
}

/** x'β of every row, [n]; a constant is left out. */
export function linearPredictor({ n, p, X }: CoxRows, beta: Float64Array): Float64Array {
  const out = new Float64Array(n);
  for (let i = 0; i < n; i++) for (let c = 0; c < p; c++) out[i] += X[i * p + c] * beta[c];
  return out;
}

/** Log-likelihood − ½|β|² with gradient and Hessian. */
export function ridgeObjective(rows: CoxRows, regression: Regression): CurvedObjective {
  const logLikelihood = regression === "cox" ? coxLikelihood(rows) : logisticLikelihood(rows);
  return (beta, _offset, gradient, hessian) => {
    let value = logLikelihood(beta, gradient!, hessian!);
    const size = gradient!.length;
    for (let c = 0; c < rows.p; c++) {
      value -= 0.5 * beta[c] * beta[c];
      gradient![c] -= beta[c];
      hessian![c * size + c]--;
    }
    return value;
  };
}

type LogLikelihood = (beta: Float64Array, gradient: Float64Array, hessian: Float64Array) => number;

function coxLikelihood(rows: CoxRows): LogLikelihood {
  const work = coxWorkspace(rows.n, rows.p);
  return (beta, gradient, hessian) => {
    const value = partialLikelihood(rows, beta, true, work);
    gradient.set(work.gradient);
    for (let e = 0; e < hessian.length; e++) hessian[e] = -work.information[e];
    return value;
  };
}

function logisticLikelihood({ n, p, X, events }: CoxRows): LogLikelihood {
  const size = p + 1;
  const row = new Float64Array(size).fill(1);
  return (beta, gradient, hessian) => {
    gradient.fill(0);
    hessian.fill(0);
    let value = 0;
    for (let i = 0; i < n; i++) {
      for (let a = 0; a < p; a++) row[a] = X[i * p + a];
      const eta = dot(row, beta);
      const share = 1 / (1 + Math.exp(-eta));
      value += events[i] * eta - Math.max(eta, 0) - Math.log1p(Math.exp(-Math.abs(eta)));
      for (let a = 0; a < size; a++) {
        gradient[a] += (events[i] - share) * row[a];
        const slope = share * (1 - share) * row[a];
        for (let b = 0; b <= a; b++) hessian[a * size + b] -= slope * row[b];
      }
    }
    for (let a = 0; a < size; a++) for (let b = 0; b < a; b++) hessian[b * size + a] = hessian[a * size + b];
    return value;
  };
}
