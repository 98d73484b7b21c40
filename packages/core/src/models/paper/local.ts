/**
 * The local step of the published DTM: one individual's place q(x) = N(m, S), S = TT', given the global q(u)
 * (docs/math/local-step.md):
 *   J(m,T) = c + h'ψ1 − ½⟨W,Ψ2⟩ − KL(q(x) ‖ N(0,I)),
 *   h = A g / σ²,   W = (Σ_kl G_kl T_kl − Tr(G) K⁻¹)/σ²,
 * in θ = [m (q), log diag T (q), strictly lower T row by row (q(q−1)/2, absent if diagonal)].
 * For q = 2, an RBF kernel and inducing points on a grid a WebAssembly kernel works on the same tables
 * (packages/core/assembly/local.ts); whoever is out of its range is worked on here.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { type CurvedObjective, type NewtonOptions, newtonAscent } from "../../numeric/optimize/newton.ts";
import { conjugateAscent } from "../../numeric/optimize/scaled-conjugate-gradient.ts";
import type { KernelKind } from "../../wasm/instance.ts";
import { type LocalKernel, openLocalKernel } from "../../wasm/local.ts";
import type { Kernel } from "../gp/kernel.ts";
import type { Derivatives } from "./derivatives.ts";
import { type Features, featuresOf } from "./features.ts";
import type { DataSums } from "./inducing.ts";
import {
  createPlace,
  type FreeEntries,
  freeEntries,
  locationKl,
  numLocalParameters,
  type Place,
  unpackPlace,
} from "./state.ts";

export interface LocalSolveOptions extends NewtonOptions {
  readonly method: "newton" | "scg";
}

/** Numbers in tables and sums, one row of features per statistic. */
function roomSizes(numFirst: number, numSecond: number, d: number, numBand: number, q: number) {
  return {
    table0: d * numFirst, // ψ1's weights [d,numFirst]
    table1: numBand * numSecond, // Ψ2's weights [numBand,numSecond]
    weights0: numFirst,
    weights1: numSecond,
    sums0: 2 * d * numFirst, // Σ g ψ1' and Σ G1 ψ1' [2,d,numFirst]
    sums1: numBand * numSecond, // Σ G Ψ2 [numBand,numSecond]
    residual: 2 * d, // g, G1
    gram: numBand, // band of G
    slopes: q, // ½(D2 + D2 of h'ψ1)_cc [q]
  };
}

/** Tables and sums in features; in the memory of the kernels where they are used. */
type Room = Readonly<Record<keyof ReturnType<typeof roomSizes>, Float64Array>>;

/** Sums over individuals in features: Σ g ψ1' and Σ G1 ψ1' [2,d,numFirst], Σ G Ψ2 [numBand,numSecond]. */
export type FeatureSums = readonly [Float64Array, Float64Array];

export type LocalSolver = ReturnType<typeof createLocalSolver>;

/** A local solver for p inducing points in q dimensions and individuals whose statistics have the given band. */
export function createLocalSolver(
  { basis: { numBasis: d }, numBand, bandRow, bandColumn }: BasisStatistics,
  p: number,
  q: number,
  diagonal: boolean,
  kernels: KernelKind = "typescript",
) {
  const P = numLocalParameters(q, diagonal);
  const place = createPlace(q);
  const entries = freeEntries(q, diagonal);
  let features!: Features;
  let room!: Room;
  let fast: LocalKernel | null = null;
  let constant = Number.NaN;
  let weighed = false;
  let evaluations = 0;

  /** w1 = C1'h, w2 = −½ C2'W of the individual. */
  const weigh = (): void => {
    weighed = true;
    if (fast !== null) fast.weigh();
    else {
      contractRows(room.table0, room.residual.subarray(0, d), room.weights0);
      contractRows(room.table1, room.gram, room.weights1);
    }
  };

  const evaluate: CurvedObjective = (theta, offset, gradient, hessian) => {
    evaluations++;
    if (!weighed) weigh();
    if (fast !== null) {
      const value = fast.evaluate(theta, offset, gradient, hessian);
      if (!Number.isNaN(value)) return constant + value;
    }
    unpackPlace(theta, offset, diagonal, place);
    const D = features.derivatives(place, room.weights0, room.weights1, hessian === null ? 2 : 4, room.slopes);
    writeDerivatives(place, entries, D, gradient, hessian);
    return constant + D.value - locationKl(theta, offset, q, diagonal);
  };
  const ascents = { newton: newtonAscent(evaluate, P), scg: conjugateAscent(evaluate, P) };
  const resetSums = (): void => {
    room.sums0.fill(0);
    room.sums1.fill(0);
  };

  return {
    /** P: 2q for a diagonal, q + q(q+1)/2 for a full covariance. */
    numParameters: P,
    /** ½(D2 + D2 of h'ψ1)_cc of the last evaluation, [q]: what individuals add to the gradient by log ℓ_c. */
    get slopes(): Float64Array {
      return room.slopes;
    },
    /** Which kernels the objective runs on, after `setKernel`. */
    get kernels(): KernelKind {
      return fast === null ? "typescript" : "wasm-simd";
    },
    /** Evaluations of J since creation. */
    get evaluations(): number {
      return evaluations;
    },
    /** Takes over the kernel and inducing points Z [p,q]; sums and global state are gone. */
    setKernel: (kernel: Kernel, Z: Float64Array): void => {
      features = featuresOf({ kernel, inducingLocations: Z, numInducing: p, mapDimension: q });
      const { grid, numFirst, numSecond } = features;
      const onGrid = kernels === "wasm-simd" && q === 2 && grid !== null && kernel.kind === "rbf";
      if (!onGrid) fast = null;
      else {
        if (fast?.counts.join() !== grid.counts.join()) fast = openLocalKernel(grid.counts, P, d, numBand);
        fast.buffers.squares.set(kernel.lengthscales.map((ell) => ell * ell));
        fast.buffers.geometry.set([...grid.first, ...grid.spacing]);
      }
      const sizes = Object.entries(roomSizes(numFirst, numSecond, d, numBand, q));
      room = fast?.buffers ?? (Object.fromEntries(sizes.map(([name, n]) => [name, new Float64Array(n)])) as Room);
      resetSums();
    },
    /**
     * Takes over the global state: A = K⁻¹M [p,d]; T_kl = K⁻¹(S_kl + m_k m_l')K⁻¹ symmetrised, [numBand,p,p]; K⁻¹ [p,p].
     */
    setGlobal: (A: Float64Array, T: Float64Array, Kinv: Float64Array, noiseVariance: number): void => {
      const { numSecond } = features;
      const inverse = new Float64Array(numSecond); // C2'K⁻¹
      features.collapseSecond(Kinv, 1, inverse);
      features.collapseFirst(A, d, 1 / noiseVariance, room.table0);
      room.table1.fill(0);
      for (let e = 0; e < numBand; e++) {
        const row = room.table1.subarray(e * numSecond, (e + 1) * numSecond);
        const scale = (bandRow[e] === bandColumn[e] ? -0.5 : -1) / noiseVariance;
        features.collapseSecond(T.subarray(e * p * p, (e + 1) * p * p), scale, row);
        if (bandRow[e] !== bandColumn[e]) continue;
        for (let f = 0; f < numSecond; f++) row[f] -= scale * inverse[f];
        features.collapseVariance(scale, row);
      }
      weighed = false;
    },
    /**
     * Loads individual i of the statistics: G_i, g_i [d] and c_i. For the RBF kernel c_i contains −α Tr(G_i)/2σ²; for the
     * linear kernel it does not, since E[k(x,x)] then depends on the place.
     */
    setIndividual: (statistics: BasisStatistics, i: number, g: Float64Array, c: number): void => {
      const { residual, gram } = room;
      residual.fill(0);
      for (let k = 0; k < d; k++) residual[k] = g[k];
      for (let e = 0; e < numBand; e++) {
        const G = statistics.gram[i * numBand + e];
        gram[e] = G;
        residual[d + bandRow[e]] += G;
        if (bandRow[e] !== bandColumn[e]) residual[d + bandColumn[e]] += G;
      }
      constant = c;
      weighed = false;
    },
    /** J at θ = theta[offset..offset+P]; writes the gradient [P] and the Hessian [P,P] where given. */
    evaluate,
    /** Maximises J from θ in place; returns J there. */
    solve: (theta: Float64Array, offset: number, options: LocalSolveOptions): number => {
      if (!weighed) weigh();
      const used = options.method === "scg" && fast !== null ? fast.climb(theta, offset, constant, options) : 0;
      evaluations += used;
      return used > 0 ? fast!.buffers.value[0] : ascents[options.method](theta, offset, options);
    },
    /** Adds the individual's part of the data sums at θ, times the weight; needs no global state. */
    accumulate: (theta: Float64Array, offset: number, weight: number): void => {
      if (fast?.accumulate(theta, offset, weight)) return;
      const [first, second] = [new Float64Array(features.numFirst), new Float64Array(features.numSecond)];
      unpackPlace(theta, offset, diagonal, place);
      features.values(place, first, second);
      addOuter(room.sums0, room.residual, weight, first);
      addOuter(room.sums1, room.gram, weight, second);
    },
    resetSums,
    /** A copy of the sums in features. */
    copySums: (): FeatureSums => [room.sums0.slice(), room.sums1.slice()],
    /** Takes over the total of such copies, added in their order. */
    joinSums: (parts: readonly FeatureSums[]): void => {
      resetSums();
      for (const [first, second] of parts) {
        for (let e = 0; e < first.length; e++) room.sums0[e] += first[e];
        for (let e = 0; e < second.length; e++) room.sums1[e] += second[e];
      }
    },
    /** Writes the data sums that the sums in features stand for. */
    readSums: ({ cross, gram, course }: DataSums): void => {
      const { numFirst, numSecond } = features;
      features.expandFirst(room.sums0, d, cross);
      features.expandFirst(room.sums0.subarray(d * numFirst), d, course);
      for (let e = 0; e < numBand; e++) {
        const row = room.sums1.subarray(e * numSecond, (e + 1) * numSecond);
        features.expandSecond(row, gram.subarray(e * p * p, (e + 1) * p * p));
      }
    },
  };
}

/** out = Σ_e x_e table[e]. */
function contractRows(table: Float64Array, x: Float64Array, out: Float64Array): void {
  const n = out.length;
  out.fill(0);
  for (let e = 0; e < x.length; e++) {
    if (x[e] !== 0) for (let f = 0; f < n; f++) out[f] += x[e] * table[e * n + f];
  }
}

/** table[e] += weight · x_e values. */
function addOuter(table: Float64Array, x: Float64Array, weight: number, values: Float64Array): void {
  const n = values.length;
  for (let e = 0; e < x.length; e++) {
    if (x[e] !== 0) for (let f = 0; f < n; f++) table[e * n + f] += weight * x[e] * values[f];
  }
}

/**
 * From the derivatives of F in m to ∂J/∂θ [P] and ∂²J/∂θ∂θ' [P,P] of J = c + F(m,S) − KL, where given. Let E = D2 − I and
 * let a free entry of T be τ = (row c, column b) with κ = T_cc for a logarithm and κ = 1 otherwise. The heat equation and
 * dS = dT T' + T dT' give (docs/math/local-step.md §3)
 *   ∂J/∂m = D1 − m                     ∂J/∂τ = κ (ET)_cb  (+1 for a logarithm)
 *   ∂²J/∂m∂m' = E                      ∂²J/∂m_a∂τ = κ Σ_j D3_acj T_jb
 *   ∂²J/∂τ∂τ' = κκ' (Σ_jl D4_cjel T_jb T_lf + [b = f] E_ce)  (+ κ (ET)_cc on the diagonal of a logarithm),  τ' = (e,f).
 * S⁻¹ is never formed: S → 0 is safe.
 */
function writeDerivatives(
  { m, T }: Place,
  { rows, columns }: FreeEntries,
  { q, first, second, third, fourth }: Derivatives,
  gradient: Float64Array | null,
  H: Float64Array | null,
): void {
  const P = q + rows.length;
  const E = (a: number, b: number) => second[a * q + b] - (a === b ? 1 : 0);
  const ET = (c: number, b: number) => {
    let s = 0;
    for (let j = b; j < q; j++) s += E(c, j) * T[j * q + b];
    return s;
  };
  const kappa = (k: number) => (rows[k] === columns[k] ? T[rows[k] * (q + 1)] : 1);
  if (gradient !== null) {
    for (let a = 0; a < q; a++) gradient[a] = first[a] - m[a];
    for (let k = 0; k < rows.length; k++) {
      gradient[q + k] = kappa(k) * ET(rows[k], columns[k]) + (rows[k] === columns[k] ? 1 : 0);
    }
  }
  if (H === null) return;
  for (let a = 0; a < q; a++) for (let b = 0; b < q; b++) H[a * P + b] = E(a, b);
  for (let k = 0; k < rows.length; k++) {
    const [c, b] = [rows[k], columns[k]];
    for (let a = 0; a < q; a++) {
      let s = 0;
      for (let j = b; j < q; j++) s += third[(a * q + c) * q + j] * T[j * q + b];
      H[a * P + q + k] = kappa(k) * s;
      H[(q + k) * P + a] = kappa(k) * s;
    }
    for (let l = 0; l <= k; l++) {
      const [e, f] = [rows[l], columns[l]];
      let s = b === f ? E(c, e) : 0;
      for (let j = b; j < q; j++) {
        for (let i = f; i < q; i++) s += fourth[((c * q + j) * q + e) * q + i] * T[j * q + b] * T[i * q + f];
      }
      s *= kappa(k) * kappa(l);
      if (k === l && b === c) s += kappa(k) * ET(c, c);
      H[(q + k) * P + q + l] = s;
      H[(q + l) * P + q + k] = s;
    }
  }
}
