/** The local objective of the published map, one individual: our kernels against C. */
import type { LocalSolver } from "../../packages/core/src/models/dtm-paper/local/local.ts";
import { naiveObjective } from "../../test/local-problem.ts";
import { against, alone, type BenchCase, type Row, requireClose } from "../case.ts";
import { chunkOf, interleave, type Variant } from "../measure.ts";
import { compileC, type LineChild, startChild } from "../peers.ts";
import {
  INDIVIDUAL,
  type LocalBench,
  localBench,
  NUM_PLACES,
  NUM_PARAMETERS as P,
  solverOf,
  writeForC,
} from "./local-problem.ts";

/** Fast against naive; C against ours, which is compiled to round freely. */
const TOLERANCE = 1e-10;
/** Evaluations of one chunk of the C program: about a millisecond. */
const C_EVALUATIONS = { pairs: 1000, grid: 2000, hessian: 2000 };
type CKernel = keyof typeof C_EVALUATIONS;

export const localKernel: BenchCase = {
  name: "local-kernel",
  about: "published map: value, gradient and Hessian of one individual, full S, p = 25",
  guard: true,
  run: async ({ quick }) => {
    const bench = localBench(5);
    const scattered = localBench(5, true);
    const child = startChild(compileC("limit", ["-ffast-math"]));
    const solvers = { typescript: solverOf(bench, "typescript"), wasm: solverOf(bench, "wasm-simd") };
    const general = { typescript: solverOf(scattered, "typescript"), wasm: solverOf(scattered, "wasm-simd") };
    for (const solver of Object.values(solvers)) checkAgainstDefinition(bench, solver);
    for (const solver of Object.values(general)) checkAgainstDefinition(scattered, solver);
    const ours: Variant[] = [
      { name: "typescript", chunk: evaluations(solvers.typescript, bench, true) },
      { name: "wasm", chunk: evaluations(solvers.wasm, bench, true) },
      { name: "typescript general", chunk: evaluations(general.typescript, scattered, false) },
      { name: "wasm general", chunk: evaluations(general.wasm, scattered, false) },
    ];
    const rounds = quick ? 40 : 150;
    if (child === undefined) {
      const time = await interleave(ours, rounds);
      return [...rowsWithoutC(time), ...wasmAgainstTypescript(time)];
    }
    try {
      // The scattered problem first; the grid stays loaded for the timing, whose cost does not depend on the weights.
      await child.ask(`load ${writeForC(scattered, "scattered.bin")}`);
      await checkC(child, scattered, general.wasm, ["pairs"]);
      await child.ask(`load ${writeForC(bench, "grid.bin")}`);
      await checkC(child, bench, solvers.wasm, ["pairs", "grid", "hessian"]);
      const kernels = Object.keys(C_EVALUATIONS) as CKernel[];
      const theirs = kernels.map((kernel) => ({
        name: `C ${kernel}`,
        chunk: async () => (await child.ask(`run ${kernel} ${C_EVALUATIONS[kernel]}`))[0],
      }));
      return rowsWithC(await interleave([...ours, ...theirs], rounds));
    } finally {
      child.close();
    }
  },
};

type Times = (name: string) => number;

function rowsWithC(time: Times): Row[] {
  const limit = time("C hessian");
  const pairs = time("C pairs");
  const control = pairs / time("C grid");
  const grid = "C grid with Hessian";
  return [
    against("local value + gradient + Hessian, TypeScript", "ns", time("typescript"), grid, limit, {
      goal: 2,
      guard: true,
    }),
    against("local value + gradient + Hessian, WebAssembly", "ns", time("wasm"), grid, limit, {
      goal: 1.3,
      guard: true,
    }),
    against("any inducing places, value + gradient, WebAssembly", "ns", time("wasm general"), "C pairs", pairs, {
      goal: 4,
      guard: true,
    }),
    against("any inducing places, value + gradient, TypeScript", "ns", time("typescript general"), "C pairs", pairs, {
      goal: 6,
    }),
    alone("control: C pairs over C grid", "x", control, {
      note: "2.3 within 10 % where the goals were set; elsewhere the other ratios may move with it",
    }),
    ...wasmAgainstTypescript(time),
  ];
}

function rowsWithoutC(time: Times): Row[] {
  return [
    against("local value + gradient + Hessian, TypeScript", "ns", time("typescript"), "C grid with Hessian", undefined),
    against("local value + gradient + Hessian, WebAssembly", "ns", time("wasm"), "C grid with Hessian", undefined),
    against("any inducing places, value + gradient, WebAssembly", "ns", time("wasm general"), "C pairs", undefined),
  ];
}

function wasmAgainstTypescript(time: Times): Row[] {
  return [
    against("local kernel, WebAssembly over TypeScript", "ns", time("wasm"), "our TypeScript", time("typescript"), {
      goal: 1,
      guard: true,
    }),
  ];
}

/** A chunk of evaluations over all places. */
function evaluations(solver: LocalSolver, { theta }: LocalBench, withHessian: boolean): () => number {
  const gradient = new Float64Array(P);
  const hessian = withHessian ? new Float64Array(P * P) : null;
  return chunkOf(() => {
    for (let k = 0; k < NUM_PLACES; k++) solver.evaluate(theta, k * P, gradient, hessian);
  }, NUM_PLACES);
}

function checkAgainstDefinition(bench: LocalBench, solver: LocalSolver): void {
  const { problem, theta } = bench;
  for (let k = 0; k < NUM_PLACES; k++) {
    const naive = naiveObjective(problem, INDIVIDUAL, theta.slice(k * P, (k + 1) * P)) - problem.constants[INDIVIDUAL];
    requireClose("local objective against its definition", solver.evaluate(theta, k * P, null, null), naive, TOLERANCE);
  }
}

async function checkC(child: LineChild, bench: LocalBench, solver: LocalSolver, kernels: readonly CKernel[]) {
  const gradient = new Float64Array(P);
  const hessian = new Float64Array(P * P);
  for (const kernel of kernels) {
    for (let k = 0; k < NUM_PLACES; k += 5) {
      const theirs = await child.ask(`value ${kernel} ${k}`);
      const value = solver.evaluate(bench.theta, k * P, gradient, hessian);
      const all = [value, ...gradient, ...(kernel === "hessian" ? hessian : [])];
      const scale = Math.max(...all.map(Math.abs));
      all.forEach((v, e) => {
        requireClose(`C ${kernel} against ours, entry ${e}`, theirs[e] / scale, v / scale, TOLERANCE);
      });
    }
  }
}
