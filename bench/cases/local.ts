/** The local objective of the published map, one individual: our kernel against C. */
import type { LocalSolver } from "../../packages/core/src/models/paper/local.ts";
import { naiveObjective } from "../../test/local-problem.ts";
import { against, type BenchCase, requireClose } from "../case.ts";
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
const C_EVALUATIONS = 2000;

export const localKernel: BenchCase = {
  name: "local-kernel",
  about: "published map: value, gradient and Hessian of one individual, full S, p = 25",
  guard: true,
  run: async ({ quick }) => {
    const child = startChild(compileC("limit", ["-ffast-math"]));
    try {
      const bench = localBench(5);
      const solver = solverOf(bench, "wasm-simd");
      checkAgainstDefinition(bench, solver);
      const variants: Variant[] = [{ name: "ours", chunk: evaluations(solver, bench) }];
      if (child !== undefined) {
        await child.ask(`load ${writeForC(bench, "local.bin")}`);
        await checkC(child, bench, solver);
        variants.push({ name: "C", chunk: async () => (await child.ask(`run hessian ${C_EVALUATIONS}`))[0] });
      }
      const time = await interleave(variants, quick ? 40 : 150);
      const limit = child === undefined ? undefined : time("C");
      return [
        against("local value + gradient + Hessian, WebAssembly", "ns", time("ours"), "C grid with Hessian", limit, {
          goal: 1.3,
          guard: true,
        }),
      ];
    } finally {
      child?.close();
    }
  },
};

/** A chunk of evaluations over all places. */
function evaluations(solver: LocalSolver, { theta }: LocalBench): () => number {
  const gradient = new Float64Array(P);
  const hessian = new Float64Array(P * P);
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

async function checkC(child: LineChild, bench: LocalBench, solver: LocalSolver) {
  const gradient = new Float64Array(P);
  const hessian = new Float64Array(P * P);
  for (let k = 0; k < NUM_PLACES; k += 5) {
    const theirs = await child.ask(`value hessian ${k}`);
    const value = solver.evaluate(bench.theta, k * P, gradient, hessian);
    const all = [value, ...gradient, ...hessian];
    const scale = Math.max(...all.map(Math.abs));
    all.forEach((v, e) => {
      requireClose(`C against ours, entry ${e}`, theirs[e] / scale, v / scale, TOLERANCE);
    });
  }
}
