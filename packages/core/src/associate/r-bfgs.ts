/**
 * The variable-metric minimiser of R's optim(method = "BFGS"), step for step (Nash 1990, algorithm 21).
 * The plug-in bandwidth minimises a function whose minimum is a whole surface, so that the answer is where this
 * particular path ends; any better optimiser would give another bandwidth. For ordinary problems use numeric/optimize.
 */

/** Where the path ended. */
export interface RBfgsResult {
  readonly x: Float64Array;
  readonly value: number;
  readonly iterations: number;
}

const GRADIENT_STEP = 1e-3;
const STEP_REDUCTION = 0.2;
const SUFFICIENT_DECREASE = 1e-4;
const RELATIVE_TEST = 10;
const RELATIVE_TOLERANCE = Math.sqrt(Number.EPSILON);
const MAX_ITERATIONS = 100;

/** Minimises f from `start` [n], with R's defaults; gradients by central differences of step 1e-3. */
export function minimizeLikeR(f: (x: Float64Array) => number, start: Float64Array): RBfgsResult {
  const n = start.length;
  const x = start.slice();
  const X = new Float64Array(n);
  const t = new Float64Array(n);
  const c = new Float64Array(n);
  const g = new Float64Array(n);
  const B = new Float64Array(n * n);
  let value = f(x);
  let trial = value;
  centralDifferences(f, x, g);
  let gradients = 1;
  let last = 1;
  let iterations = 1;
  let unmoved = 0;
  do {
    if (last === gradients) {
      B.fill(0);
      for (let i = 0; i < n; i++) B[i * n + i] = 1;
    }
    X.set(x);
    c.set(g);
    let slope = 0;
    for (let i = 0; i < n; i++) {
      let s = 0;
      for (let j = 0; j < n; j++) s -= B[i * n + j] * g[j];
      t[i] = s;
      slope += s * g[i];
    }
    if (slope < 0) {
      // Backtrack until the decrease suffices or no coordinate moves in floating point.
      let step = 1;
      let accepted = false;
      do {
        unmoved = 0;
        for (let i = 0; i < n; i++) {
          x[i] = X[i] + step * t[i];
          if (RELATIVE_TEST + X[i] === RELATIVE_TEST + x[i]) unmoved++;
        }
        if (unmoved < n) {
          trial = f(x);
          accepted = Number.isFinite(trial) && trial <= value + SUFFICIENT_DECREASE * slope * step;
          if (!accepted) step *= STEP_REDUCTION;
        }
      } while (unmoved !== n && !accepted);
      if (!(Math.abs(trial - value) > RELATIVE_TOLERANCE * (Math.abs(value) + RELATIVE_TOLERANCE))) unmoved = n;
      value = trial;
      if (unmoved < n) {
        centralDifferences(f, x, g);
        gradients++;
        iterations++;
        for (let i = 0; i < n; i++) {
          t[i] *= step;
          c[i] = g[i] - c[i];
        }
        if (!updateInverse(B, t, c, X)) last = gradients;
      } else if (last < gradients) {
        unmoved = 0;
        last = gradients;
      }
    } else if (last === gradients) {
      unmoved = n;
    } else {
      unmoved = 0;
      last = gradients;
    }
    if (iterations >= MAX_ITERATIONS) break;
    if (gradients - last > 2 * n) last = gradients;
  } while (unmoved !== n || last !== gradients);
  return { x, value, iterations };
}

/** B ← B + (D₂ tt' − tX' − Xt')/D₁ with D₁ = t'c, X = Bc, D₂ = 1 + X'c/D₁; false, and nothing done, unless D₁ > 0. */
function updateInverse(B: Float64Array, t: Float64Array, c: Float64Array, X: Float64Array): boolean {
  const n = t.length;
  let D1 = 0;
  for (let i = 0; i < n; i++) D1 += t[i] * c[i];
  if (!(D1 > 0)) return false;
  let D2 = 0;
  for (let i = 0; i < n; i++) {
    let s = 0;
    for (let j = 0; j < n; j++) s += B[i * n + j] * c[j];
    X[i] = s;
    D2 += s * c[i];
  }
  D2 = 1 + D2 / D1;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) B[i * n + j] += (D2 * t[i] * t[j] - t[i] * X[j] - X[i] * t[j]) / D1;
  }
  return true;
}

function centralDifferences(f: (x: Float64Array) => number, x: Float64Array, out: Float64Array): void {
  for (let i = 0; i < x.length; i++) {
    const at = x[i];
    x[i] = at + GRADIENT_STEP;
    const up = f(x);
    x[i] = at - GRADIENT_STEP;
    const down = f(x);
    x[i] = at;
    out[i] = (up - down) / (2 * GRADIENT_STEP);
  }
}
