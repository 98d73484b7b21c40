/** Small problems that make every kernel work: what the conformance set is recorded from. Seeded, so that it comes out the same again. */
import { bsplineBasis } from "../../packages/core/src/basis/knots.ts";
import { basisStatistics } from "../../packages/core/src/basis/statistics.ts";
import { bandIndices } from "../../packages/core/src/basis/visit-columns.ts";
import { makeCohort, onlyMarker } from "../../packages/core/src/cohort/cohort.ts";
import { TRANSFORMS } from "../../packages/core/src/cohort/marker.ts";
import { residualRoot } from "../../packages/core/src/models/dtm/individual-statistics.ts";
import { startingSquares } from "../../packages/core/src/models/dtm/level-statistics.ts";
import { latticeNodes } from "../../packages/core/src/models/dtm/nodes.ts";
import { placesFromPosterior, startingWeights } from "../../packages/core/src/models/dtm/starting-places.ts";
import { gridLocations } from "../../packages/core/src/models/gp/inducing.ts";
import { rbfKernel } from "../../packages/core/src/models/gp/kernel.ts";
import { createConditioner, posteriorFunctionals } from "../../packages/core/src/models/mixture/conditioner.ts";
import { createNodeDensities } from "../../packages/core/src/models/mixture/joint.ts";
import { makeMixture } from "../../packages/core/src/models/mixture/mixture.ts";
import { quantileSolver } from "../../packages/core/src/models/mixture/normal-mixture.ts";
import { nodeWeigher } from "../../packages/core/src/models/mixture/weigh.ts";
import { createLocalSolver } from "../../packages/core/src/models/paper/local.ts";
import { levelNoise, type Noise, whiteNoise } from "../../packages/core/src/noise/noise.ts";
import { identity } from "../../packages/core/src/numeric/matrix.ts";
import { createRandom } from "../../packages/core/src/numeric/random.ts";
import { wasmPositiveSolver } from "../../packages/core/src/wasm/cholesky.ts";
import { wasmPasses } from "../../packages/core/src/wasm/expectation.ts";
import { openLinearKernels } from "../../packages/core/src/wasm/linear.ts";
import { wasmPairKernel } from "../../packages/core/src/wasm/pairs.ts";
import { transformValues, visitColumns } from "../../packages/core/src/wasm/statistics.ts";
import { packedStride } from "../../packages/core/src/wasm/tiles.ts";
import { makeLocalProblem } from "../../test/local-problem.ts";

/** Work whose kernels of one layout are recorded as a case of that name. */
export interface Problem {
  readonly layout: string;
  readonly name: string;
  readonly work: () => void;
}

/** Splines in the problems. */
const NUM_BASIS = 3;
const DEGREE = 2;
const CORRELATION = { range: 0.8, whiteShare: 0.35 };

/** Seven individuals with one to four visits at irregular times. */
function smallCohort() {
  const random = createRandom(11);
  const rows = Array.from({ length: 7 }, (_, i) => Array.from({ length: 1 + (i % 4) }, () => `P${i}`)).flat();
  const times = rows.map(() => 10 * random.uniform());
  const cohort = makeCohort({ ids: rows, times, values: rows.map(() => 20 + 3 * random.normal()) });
  return { cohort, basis: bsplineBasis([0, 4, 10], { numBasis: NUM_BASIS, degree: DEGREE }) };
}

const { cohort, basis } = smallCohort();

function statisticsFor(noise: Noise) {
  return basisStatistics(cohort, basis, { noise, kernels: "typescript" });
}

/** A bent random map on a coarse lattice, with second moments as a map has them. */
function smallTable() {
  const random = createRandom(4);
  const { numNodes: n, locations, logWeights } = latticeNodes(2, { step: 1, radius: 2 });
  const d = NUM_BASIS;
  const stride = packedStride(d);
  const rows = new Float64Array(stride * n);
  const F = Float64Array.from({ length: 2 * d }, () => 2 * random.normal());
  for (let g = 0; g < n; g++) {
    const f = Float64Array.from({ length: d }, (_, k) => F[k] * locations[2 * g] + F[d + k] * locations[2 * g + 1]);
    let e = d;
    for (let k = 0; k < d; k++) {
      rows[k * n + g] = f[k];
      for (let l = k; l < d; l++) rows[e++ * n + g] = k === l ? -0.5 * (f[k] * f[k] + 0.2) : -f[k] * f[l];
    }
  }
  return { numNodes: n, stride, rows, logWeights };
}

/** The E step, the start, and the sums of the maximisation step. */
function passes(noise: Noise): void {
  const statistics = statisticsFor(noise);
  const table = smallTable();
  const m = statistics.numIndividuals;
  const model = {
    mean: Float64Array.of(19, 20, 21),
    noise,
    residualRoot: residualRoot(identity(NUM_BASIS, 0.4), NUM_BASIS),
  };
  const kernel = wasmPasses([NUM_BASIS], table.numNodes, table.stride);
  const nodeSums = new Float64Array(table.rows.length);
  const moments = new Float64Array(m * table.stride);
  const leveled = noise.spread !== undefined;
  const before = new Float64Array(m * (1 + NUM_BASIS));
  if (leveled) startingSquares(statistics, model, before);
  const squares = { before, after: before.slice(), directions: new Float64Array(m * NUM_BASIS) };
  kernel.expect([statistics], [model], table, { nodeSums, moments: [moments], ...(leveled && { squares: [squares] }) });
  if (leveled) {
    kernel.squares(statistics, model, before);
    kernel.levels(statistics, model, squares);
    return;
  }
  kernel.maximize(statistics, model, moments);
  kernel.residual(statistics, model, moments);
  const nodes = latticeNodes(2, { step: 1, radius: 2 });
  const random = createRandom(6);
  const means = Float64Array.from({ length: m * 2 }, () => random.normal());
  const places = placesFromPosterior(means, new Float64Array(m * 4).fill(0.02), 2);
  kernel.start([statistics], [model], startingWeights(nodes, places), nodeSums);
}

/** A random mixture of six components. */
function smallMixture(noise: Noise) {
  const random = createRandom(9);
  const [d, n] = [NUM_BASIS, 6];
  const covariances = new Float64Array(n * d * d);
  for (let g = 0; g < n; g++) {
    const R = Float64Array.from({ length: d * d }, () => random.normal());
    for (let a = 0; a < d; a++) {
      for (let b = 0; b < d; b++) {
        for (let c = 0; c < d; c++) covariances[(g * d + a) * d + b] += R[a * d + c] * R[b * d + c];
      }
    }
  }
  return makeMixture({
    numBasis: d,
    mapDimension: 2,
    locations: Float64Array.from({ length: n * 2 }, () => random.normal()),
    logWeights: new Float64Array(n).fill(-Math.log(n)),
    means: Float64Array.from({ length: n * d }, () => 2 * random.normal()),
    covariances,
    meanCoefficients: new Float64Array(d).fill(20),
    noise,
  });
}

/** Places of two individuals: one with more visits than splines, one with fewer. */
function placing(noise: Noise): void {
  const mixture = smallMixture(noise);
  const statistics = statisticsFor(noise);
  const { weigh } = nodeWeigher(mixture, mixture.locations);
  for (const i of [3, 1]) weigh(statistics, i, true, true);
}

function densities(noise: Noise): void {
  createNodeDensities(smallMixture(noise))(statisticsFor(noise), 2);
}

/** The course of one individual: its distribution at two times, and quantiles. */
function predicting(noise: Noise): void {
  const mixture = smallMixture(noise);
  const posterior = createConditioner(mixture)(statisticsFor(noise), 2);
  const functional = posteriorFunctionals(posterior, mixture.meanCoefficients);
  for (const row of [Float64Array.of(0.2, 0.5, 0.3), Float64Array.of(0, 0.1, 0.9)]) {
    const { value, sums } = functional(row, 0, true);
    quantileSolver(value, sums).quantile(0.9);
  }
}

function linear(noise: Noise): void {
  const random = createRandom(5);
  const statistics = statisticsFor(noise);
  const factor = Float64Array.from({ length: NUM_BASIS * 2 }, () => 2 * random.normal());
  const meanCoefficients = Float64Array.of(19, 20, 21);
  const { expect, place } = openLinearKernels(NUM_BASIS, statistics.numBand, 2);
  expect(statistics, { meanCoefficients, noise, factor });
  if (noise.spread !== undefined) place(statistics, { meanCoefficients, noise, factor }, () => {});
}

function pairs(): void {
  const random = createRandom(7);
  const draw = (length: number) => Float64Array.from({ length }, () => random.normal());
  const [p, n, R] = [3, 9, 3];
  const kernel = wasmPairKernel({ row: [0, 0, 0, 1, 1, 2], column: [0, 1, 2, 1, 2, 2] }, p, n, R);
  const [A, rows] = [draw(p * n), draw(R * n)];
  kernel.sum(A, A, rows, new Float64Array(6 * R));
  kernel.sum(A, draw(p * n), rows, new Float64Array(6 * R));
  kernel.add(A, draw(6 * R), new Float64Array(R * n));
}

function positive(): void {
  const random = createRandom(3);
  const n = 5;
  const R = Float64Array.from({ length: n * n }, () => random.normal());
  const A = identity(n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) for (let k = 0; k < n; k++) A[i * n + j] += R[i * n + k] * R[j * n + k];
  }
  wasmPositiveSolver(n)(A, R.slice(0, n), new Float64Array(n), new Float64Array(n * n));
}

/** One individual's place under the published map. */
function local(): void {
  const kernel = rbfKernel(2, 1.3, 1.1);
  const Z = gridLocations(2, 3);
  const problem = makeLocalProblem(kernel, Z, 9, 2, { seed: 2, d: NUM_BASIS, degree: 1, numIndividuals: 2 });
  const solver = createLocalSolver(problem.statistics, 9, 2, false, "wasm-simd");
  solver.setKernel(kernel, Z);
  solver.setGlobal(problem.A, problem.blocks, problem.Kinv, problem.sigma2);
  solver.setIndividual(problem.statistics, 0, problem.g.subarray(0, NUM_BASIS), problem.constants[0]);
  const theta = Float64Array.of(0.2, -0.3, -0.5, -0.4, 0.1);
  solver.solve(theta, 0, { method: "scg", gradientTolerance: 1e-6, maxEvaluations: 4 });
  solver.solve(theta, 0, { method: "newton", gradientTolerance: 1e-6, maxEvaluations: 1 });
  solver.accumulate(theta, 0, 1);
}

function statistics(serial: boolean): void {
  const { numBand } = bandIndices(NUM_BASIS, serial ? NUM_BASIS - 1 : DEGREE);
  const series = onlyMarker(cohort);
  visitColumns(basis, series, { center: 20, numBand }, serial ? CORRELATION : undefined);
}

const VALUES = Float64Array.of(0.001, 0.25, 0.5, 0.98, 1, 3.7, 81, -0.5, 0, 2e5);
const WHITE = whiteNoise(1.5);
const LEVELS = levelNoise(1.5, 0.6);

export const PROBLEMS: readonly Problem[] = [
  ...TRANSFORMS.map((transform) => ({
    ...{ layout: "Visits", name: `transform ${transform}` },
    work: () => void transformValues(VALUES.filter(inDomain(transform)), transform),
  })),
  { layout: "Visits", name: "statistics, independent visits", work: () => statistics(false) },
  { layout: "Visits", name: "statistics, correlated visits", work: () => statistics(true) },
  { layout: "Pass", name: "passes, one noise level", work: () => passes(WHITE) },
  { layout: "Pass", name: "passes, noise levels", work: () => passes(LEVELS) },
  { layout: "Nodes", name: "placing, one noise level", work: () => placing(WHITE) },
  { layout: "Nodes", name: "placing, noise levels", work: () => placing(LEVELS) },
  { layout: "Nodes", name: "densities at nodes, one noise level", work: () => densities(WHITE) },
  { layout: "Nodes", name: "densities at nodes, noise levels", work: () => densities(LEVELS) },
  { layout: "Course", name: "predicting, one noise level", work: () => predicting(WHITE) },
  { layout: "Course", name: "predicting, noise levels", work: () => predicting(LEVELS) },
  { layout: "Linear", name: "E step of a linear model, one noise level", work: () => linear(WHITE) },
  { layout: "Linear", name: "E step of a linear model, noise levels", work: () => linear(LEVELS) },
  { layout: "Pairs", name: "sums over pairs", work: pairs },
  { layout: "Positive", name: "a system of order 5", work: positive },
  { layout: "Local", name: "a place under the published map", work: local },
];

/** Values that have a transform: NaN has no bytes that all engines agree on. */
function inDomain(transform: (typeof TRANSFORMS)[number]): (value: number) => boolean {
  const lowest = { identity: Number.NEGATIVE_INFINITY, log: 0, log1p: -1, sqrt: -1e-300, logit: 0 }[transform];
  return (value) => value > lowest && (transform !== "logit" || value < 1);
}
