/** What a pass costs per individual with 300 visits against 3: nothing more, since all read the same statistics. */
import { type Cohort, makeCohort } from "../../packages/core/src/cohort/cohort.ts";
import { createEngine, loadIndividual, updateInducing } from "../../packages/core/src/models/paper/engine.ts";
import { sumOverAll } from "../../packages/core/src/models/paper/passes.ts";
import { type GlobalParameters, packLocations } from "../../packages/core/src/models/paper/state.ts";
import { createRandom } from "../../packages/core/src/numeric/random.ts";
import { against, type BenchCase } from "../case.ts";
import { startOf } from "../cohorts.ts";
import { chunkOf, interleave, type Variant } from "../measure.ts";
import { paperParameters } from "./paper-problem.ts";

const INDIVIDUALS = 100;

export const visits: BenchCase = {
  name: "visits",
  about: "published map: set-up, evaluation and accumulation with 300 visits against 3",
  guard: true,
  run: async ({ quick }) => {
    const few = workOn(cohortWith(3));
    const many = workOn(cohortWith(300));
    const parts = ["set-up", "evaluation", "accumulation"] as const;
    const variants: Variant[] = parts.flatMap((part) => [
      { name: `${part} few`, chunk: chunkOf(few[part], INDIVIDUALS) },
      { name: `${part} many`, chunk: chunkOf(many[part], INDIVIDUALS) },
    ]);
    const time = await interleave(variants, quick ? 60 : 200);
    return parts.map((part) =>
      against(`${part}, 300 visits`, "ns", time(`${part} many`), "3 visits", time(`${part} few`), {
        goal: 1.05,
        guard: true,
      }),
    );
  },
};

/** Individuals with n visits each. */
function cohortWith(n: number): Cohort {
  const random = createRandom(5);
  const [ids, times, values]: [string[], number[], number[]] = [[], [], []];
  for (let i = 0; i < INDIVIDUALS; i++) {
    const [level, slope] = [random.normal(), random.normal()];
    for (let j = 0; j < n; j++) {
      const t = 10 * random.uniform();
      ids.push(`P${String(i).padStart(3, "0")}`);
      times.push(t);
      values.push(70 + 8 * level + slope * t + 3 * random.normal());
    }
  }
  return makeCohort({ ids, times, values });
}

/** The three parts of a pass over all individuals. */
function workOn(cohort: Cohort): Record<"set-up" | "evaluation" | "accumulation", () => void> {
  const { statistics, start } = startOf(cohort);
  // The same global parameters for both, so that only the number of visits differs.
  const parameters: GlobalParameters = { ...paperParameters(start, statistics, 5), noiseVariance: 9 };
  const engine = createEngine(statistics, parameters, {
    diagonal: false,
    priors: {},
    sharedLengthscale: true,
    kernels: "wasm-simd",
  });
  const theta = packLocations({ mean: start.locationMean, covariance: start.locationCovariance }, 2, false);
  sumOverAll(engine, theta);
  updateInducing(engine);
  const P = engine.numLocal;
  const gradient = new Float64Array(P);
  const hessian = new Float64Array(P * P);
  return {
    // Statistics, weights on the nodes and one evaluation, which is where the weights are made.
    "set-up": () => {
      for (let i = 0; i < INDIVIDUALS; i++) {
        loadIndividual(engine, i);
        engine.solver.evaluate(theta, i * P, gradient, null);
      }
    },
    evaluation: () => {
      loadIndividual(engine, 0);
      for (let i = 0; i < INDIVIDUALS; i++) engine.solver.evaluate(theta, 0, gradient, hessian);
    },
    accumulation: () => {
      for (let i = 0; i < INDIVIDUALS; i++) engine.solver.accumulate(theta, i * P, 1);
    },
  };
}
