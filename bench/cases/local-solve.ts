/** How many evaluations the local solve of the published map takes to a gradient of 1e-4. */
import { loadIndividual, updateInducing } from "../../packages/core/src/models/paper/engine.ts";
import { placeInShards, sumOverAll } from "../../packages/core/src/models/paper/passes.ts";
import { alone, type BenchCase } from "../case.ts";
import { PAPER_SIZE, registry } from "../cohorts.ts";
import { paperProblem } from "./paper-problem.ts";

const TOLERANCE = 1e-4;
const WARM_SWEEPS = 4;

export const localSolve: BenchCase = {
  name: "local-solve",
  about: "published map: evaluations per local solve to a gradient of 1e-4, p = 25",
  run: async ({ quick }) => {
    const m = quick ? 400 : PAPER_SIZE;
    const { engine, theta } = paperProblem(registry(m), 5);
    const options = { method: "newton", gradientTolerance: TOLERANCE, maxEvaluations: 200 } as const;
    const sweep = () => {
      sumOverAll(engine, theta);
      updateInducing(engine);
      const before = engine.solver.evaluations;
      placeInShards(engine, theta, { from: 0, to: m }, options, null);
      return (engine.solver.evaluations - before) / m;
    };
    const fromStart = sweep();
    let warm = 0;
    for (let k = 0; k < WARM_SWEEPS; k++) warm += sweep() / WARM_SWEEPS;
    const steepest = largestGradient(engine, theta, m);
    // Cold: from 0 with sd 0.1, the published start without its scores, under the map just found.
    theta.fill(0);
    for (let i = 0; i < m; i++) theta.fill(Math.log(0.1), i * engine.numLocal + 2, i * engine.numLocal + 4);
    const before = engine.solver.evaluations;
    placeInShards(engine, theta, { from: 0, to: m }, options, null);
    const cold = (engine.solver.evaluations - before) / m;
    const note = `${m} individuals; largest gradient left ${steepest.toExponential(1)}`;
    return [
      alone("local solve to 1e-4, cold (from 0, sd 0.1)", "evaluations", cold, { goal: 8, note }),
      alone("local solve to 1e-4, first sweep from the linear start", "evaluations", fromStart, { goal: 8, note }),
      alone("local solve to 1e-4, warm (sweeps 2 to 5)", "evaluations", warm, { goal: 4, note }),
    ];
  },
};

function largestGradient(engine: ReturnType<typeof paperProblem>["engine"], theta: Float64Array, m: number): number {
  const P = engine.numLocal;
  const gradient = new Float64Array(P);
  let most = 0;
  for (let i = 0; i < m; i++) {
    loadIndividual(engine, i);
    engine.solver.evaluate(theta, i * P, gradient, null);
    for (const g of gradient) most = Math.max(most, Math.abs(g));
  }
  return most;
}
