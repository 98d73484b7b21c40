/**
 * Values below or above a limit (docs/math/noise.md §8), by expectation propagation. What a censored visit says of its value y_j, a
 * step at the limit, is replaced by a Gaussian site N(ỹ_j, u_j): a pseudo-value with white variance κs + u_j instead of κs, that is
 * a weight W_j = κs/(κs + u_j) and a replaced value for the filter of serial.ts. With V = BΣB' + sR the covariance of the values
 * and pseudo-values, D_j = (V⁻¹)_jj and α = V⁻¹(ỹ − Bβ), the visit without its own site has
 *   m_c = ỹ_j − α_j/D_j,   s_c² = 1/D_j − u_j,
 * and below the limit ℓ, with z = (ℓ − m_c)/s_c, H = φ(z)/Φ(z) and γ = H(z + H), the site that leaves mean and variance right is
 *   ỹ_j = m_c − s_c H/γ,   u_j = s_c²(1/γ − 1)
 * (above: mirrored). Sites are moved one after the other, each a rank-one step of V⁻¹, until they rest. Where visits are not correlated,
 * V⁻¹ = W/κs − W/κs L (I + L'WL/κs)⁻¹ L'W/κs with BΣB' = LL' and κ = 1, and the step is one of the matrix of size d in the middle.
 *
 * As statistics scale all noise by s, which u_j does not follow, a censored visit counts as 1 + u_j(α_j² − D_j) visits, from 0 (a limit
 * that says nothing) over 1 (z = 0) to 2: the slope of log p(y) by log s is then right at the level s of the sites. Where individuals
 * have levels of their own, visits count together as no more than they are, lest a level of 0 explain them. log|R| takes up what is left, so that
 *   log p(y) = log N(ỹ | Bβ, V) + Σ_j [log Φ(z_j) − log N(ỹ_j | m_c, s_c² + u_j)]
 * there too. Cost per sweep O(n d²), and O(n³) where visits are correlated.
 */
import { cholesky, invertFromCholesky } from "../numeric/cholesky.ts";
import { dot, multiply, multiplyTransposed, multiplyVector } from "../numeric/matrix.ts";
import { LOG_2PI, logNormalCdf } from "../numeric/special.ts";
import { expectedSquares, levelDensities, levelPosterior, levelsOf, logLevelMoments, rotateEffect } from "./levels.ts";
import { filterVisits, type SerialCorrelation, UNCORRELATED, type VisitRows, whitenedProducts } from "./serial.ts";

/** One Gaussian for everybody's coefficients, and the noise: what sites are computed under. Learned in the mixed model. */
export interface LimitPrior {
  /** β, [d]. */
  readonly mean: Float64Array;
  /** L with Σ = LL', [d,d]. */
  readonly factor: Float64Array;
  /** σ² and ω. */
  readonly variance: number;
  readonly spread: number;
  /** The lower limit given most often, on the scale of the model, where there is one. */
  readonly lower?: number;
}

/** Visits of one individual with their sites. */
export interface CensoredSites extends VisitRows {
  /** Rows with the pseudo-values. */
  readonly rows: Float64Array;
  /** W, [n]; 1 for a measured value. */
  readonly weights: Float64Array;
  /** What the visits count together; n where all are measured. */
  readonly count: number;
  /** What is added to log|R|. */
  readonly logDet: number;
}

const MOST_SWEEPS = 100;
/** Sites are at rest where none would move its visit by more than this, in standard deviations. */
const REST = 1e-8;
/** A limit far away says no less than this, so that u stays finite. */
const LEAST_INFORMATION = 1e-7;
/** u before the first sweep, in prior variances of the visit. */
const FIRST_VARIANCE = 1e4;

/**
 * The sites of visits with rows (b, y − center), of which those with side −1 lie below y and those with 1 above; with levels (ω > 0)
 * at the expected level of the individual, σ² exp E[log λ].
 */
export function censoredSites(
  visits: VisitRows,
  sides: ArrayLike<number>,
  center: number,
  prior: LimitPrior,
  correlation: SerialCorrelation = UNCORRELATED,
): CensoredSites {
  const { times } = visits;
  const n = times.length;
  const c = visits.rows.length / n;
  const d = c - 1;
  const beta = prior.mean.map((v) => v - center);
  const loaded = loadedRows(visits, prior); // L
  const covariance = correlation.whiteShare === 1 ? whiteCovariance : correlatedCovariance(times, correlation);
  const censored = Array.from({ length: n }, (_, j) => j).filter((j) => sides[j] !== 0);
  const rows = visits.rows.slice();
  const fitted = Float64Array.from({ length: n }, (_, j) => dot(rows.subarray(j * c, j * c + d), beta));
  const residuals = fitted.map((v, j) => rows[j * c + d] - v); // ỹ − Bβ
  const variances = new Float64Array(n); // u
  for (const j of censored) {
    const own = loaded.subarray(j * d, (j + 1) * d);
    variances[j] = FIRST_VARIANCE * (prior.variance + dot(own, own));
  }
  let s = prior.variance;
  for (let sweep = 0; ; sweep++) {
    const V = covariance({ loaded, s, variances, residuals });
    let moved = 0;
    let evidence = 0;
    let count = n;
    for (const j of censored) {
      const u = variances[j];
      const [D, a] = V.cavity(j);
      const spread = Math.sqrt(Math.max(1 / D - u, REST / D));
      const limit = visits.rows[j * c + d] - fitted[j];
      const site = truncatedSite(residuals[j] - a / D, spread, limit, sides[j]);
      evidence += site.logMass - 0.5 * (Math.log(D) - LOG_2PI - (a * a) / D);
      count += u * (a * a - D);
      const change = 1 / site.variance - 1 / u;
      const pull = (site.value - residuals[j]) / site.variance;
      moved = Math.max(moved, Math.abs(change) / D, Math.abs(pull) / Math.sqrt(D));
      V.move(j, site);
      variances[j] = site.variance;
      residuals[j] = site.value;
    }
    for (const j of censored) rows[j * c + d] = residuals[j] + fitted[j];
    const white = correlation.whiteShare * s;
    const weights = variances.map((u) => white / (white + u));
    // Somebody's own level of 0 must not explain all visits: they count as no more than they are.
    const own = prior.spread > 0 ? Math.min(count, n) : count;
    const level = prior.spread > 0 ? expectedLevel({ times, rows, weights }, own, beta, prior, correlation) : s;
    moved = Math.max(moved, Math.abs(Math.log(level / s)));
    if (moved <= REST || sweep === MOST_SWEEPS) {
      const logDet = (n - own) * (LOG_2PI + Math.log(s)) - 2 * evidence;
      return { times, rows, weights, count: own, logDet };
    }
    s = level;
  }
}

/** What V is made of: L with BΣB' = LL', [n,d]; the level of the noise; u and ỹ − Bβ, [n] each. */
interface CovarianceParts {
  readonly loaded: Float64Array;
  readonly s: number;
  readonly variances: Float64Array;
  readonly residuals: Float64Array;
}

/** V as sites need it. */
interface VisitCovariance {
  /** (V⁻¹)_jj and α_j. */
  cavity(j: number): readonly [number, number];
  /** Makes V⁻¹ that of another site of visit j; u and ỹ are still those of before. */
  move(j: number, site: { readonly variance: number; readonly value: number }): void;
}

/** L with BΣB' = LL', [n,d]. */
function loadedRows({ times, rows }: VisitRows, { factor }: LimitPrior): Float64Array {
  const n = times.length;
  const d = rows.length / n - 1;
  const B = Float64Array.from({ length: n * d }, (_, e) => rows[Math.floor(e / d) * (d + 1) + (e % d)]);
  return multiply(B, factor, n, d, d);
}

/** V = LL' + diag(s + u), by P = (I + L'(s + u)⁻¹L)⁻¹ and h = L'(s + u)⁻¹(ỹ − Bβ). */
function whiteCovariance({ loaded, s, variances, residuals }: CovarianceParts): VisitCovariance {
  const n = variances.length;
  const d = loaded.length / n;
  const rowOf = (j: number) => loaded.subarray(j * d, (j + 1) * d);
  const M = Float64Array.from({ length: d * d }, (_, e) => (e % (d + 1) === 0 ? 1 : 0));
  const h = new Float64Array(d);
  for (let j = 0; j < n; j++) {
    const [own, w] = [rowOf(j), 1 / (s + variances[j])];
    for (let a = 0; a < d; a++) {
      h[a] += w * residuals[j] * own[a];
      for (let b = 0; b < d; b++) M[a * d + b] += w * own[a] * own[b];
    }
  }
  const P = invertFromCholesky(cholesky(M, d, "information of visits"), d);
  return {
    cavity(j) {
      const [own, w] = [rowOf(j), 1 / (s + variances[j])];
      const v = multiplyVector(P, own, d, d);
      return [w * (1 - w * dot(own, v)), w * (residuals[j] - dot(v, h))];
    },
    move(j, { variance, value }) {
      const [own, w, next] = [rowOf(j), 1 / (s + variances[j]), 1 / (s + variance)];
      const v = multiplyVector(P, own, d, d);
      const factor = (next - w) / (1 + (next - w) * dot(own, v));
      for (let a = 0; a < d; a++) {
        h[a] += (next * value - w * residuals[j]) * own[a];
        for (let b = 0; b < d; b++) P[a * d + b] -= factor * v[a] * v[b];
      }
    },
  };
}

/** V = LL' + sR + diag u, as a matrix. */
function correlatedCovariance(times: ArrayLike<number>, { range, whiteShare }: SerialCorrelation) {
  const n = times.length;
  const noise = Float64Array.from({ length: n * n }, (_, e) => {
    const [j, k] = [Math.floor(e / n), e % n];
    return (1 - whiteShare) * Math.exp(-Math.abs(times[j] - times[k]) / range) + (j === k ? whiteShare : 0);
  });
  return ({ loaded, s, variances, residuals }: CovarianceParts): VisitCovariance => {
    const V = multiplyTransposed(loaded, loaded, n, loaded.length / n, n).map((v, e) => v + s * noise[e]);
    for (let j = 0; j < n; j++) V[j * n + j] += variances[j];
    const inverse = invertFromCholesky(cholesky(V, n, "covariance of visits"), n);
    return {
      cavity(j) {
        const own = inverse.subarray(j * n, (j + 1) * n);
        return [own[j], dot(own, residuals)];
      },
      move: (j, { variance }) => replaceVariance(inverse, j, variance - variances[j]),
    };
  };
}

/** V⁻¹ after V_jj has grown by `change`: a rank-one step. */
function replaceVariance(inverse: Float64Array, j: number, change: number): void {
  const n = Math.sqrt(inverse.length);
  const own = inverse.slice(j * n, (j + 1) * n);
  const factor = change / (1 + change * own[j]);
  for (let a = 0; a < n; a++) for (let b = 0; b < n; b++) inverse[a * n + b] -= factor * own[a] * own[b];
}

/** σ² exp E[log λ] given visits that count as `n`. */
function expectedLevel(
  visits: VisitRows,
  n: number,
  beta: Float64Array,
  { factor, variance, spread }: LimitPrior,
  correlation: SerialCorrelation,
): number {
  const d = beta.length;
  const { products } = whitenedProducts(filterVisits(visits, correlation));
  const G = new Float64Array(d * d);
  for (let a = 0; a < d; a++) for (let b = 0; b < d; b++) G[a * d + b] = products[a * (d + 1) + b];
  const cross = Float64Array.from({ length: d }, (_, a) => products[a * (d + 1) + d]);
  const fitted = multiplyVector(G, beta, d, d);
  const g = cross.map((v, a) => v - fitted[a]);
  const rho = Math.max(products[products.length - 1] - dot(beta, cross) - dot(beta, g), 0);
  const effect = rotateEffect(G, factor, d);
  const levels = levelsOf(variance, spread);
  const evidence = { n, logDet: 0, delta: effect.delta, ...expectedSquares({ G, g, rho }, effect) };
  const { weights } = levelPosterior(levelDensities(evidence, levels, 1), levels);
  return variance * Math.exp(logLevelMoments(weights, levels).mean);
}

/** The site of a value N(mean, spread²) that lies below (side −1) or above (1) a limit, and log of the probability that it does. */
function truncatedSite(mean: number, spread: number, limit: number, side: number) {
  const z = (side * (mean - limit)) / spread;
  const logMass = logNormalCdf(z);
  const H = Math.exp(-0.5 * (z * z + LOG_2PI) - logMass);
  const gamma = Math.min(Math.max(H * (z + H), LEAST_INFORMATION), 1 - LEAST_INFORMATION);
  return { logMass, value: mean + (side * spread * H) / gamma, variance: spread * spread * (1 / gamma - 1) };
}
