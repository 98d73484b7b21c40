/** The published bound of everybody with its gradient: against GPy's Bayesian GP-LVM of the same size. */
import { meanDesign } from "../../packages/core/src/models/mean.ts";
import { updateInducing } from "../../packages/core/src/models/paper/engine.ts";
import { hyperLayout } from "../../packages/core/src/models/paper/hyperparameters.ts";
import { sumObjectives, sumOverAll } from "../../packages/core/src/models/paper/passes.ts";
import { collapsedBound } from "../../packages/core/src/models/paper/schedules.ts";
import { type BenchCase, type Row, requireClose, timesFaster } from "../case.ts";
import { PAPER_SIZE, registry } from "../cohorts.ts";
import { chunkOf, interleave } from "../measure.ts";
import { runPython } from "../peers.ts";
import { paperProblem } from "./paper-problem.ts";

/** Inducing points per dimension, and how many times faster than GPy it must be. */
const SIZES = [
  [5, 20],
  [7, 50],
] as const;

export const bound: BenchCase = {
  name: "bound",
  about: "published map: objective and gradient over everybody, against GPy",
  run: async ({ quick, say }) => {
    const m = quick ? 300 : PAPER_SIZE;
    const cohort = registry(m);
    const rows: Row[] = [];
    for (const [perDimension, goal] of SIZES) {
      const { engine, theta } = paperProblem(cohort, perDimension);
      const mean = meanDesign("scalar", engine.parameters.numBasis);
      const layoutOf = (learn: boolean) => {
        const learned = { learn, sharedLengthscale: true };
        return hyperLayout(engine.parameters, engine.statistics, learned, mean);
      };
      const fixed = collapsedBound(engine, layoutOf(false));
      const layout = layoutOf(true);
      const whole = collapsedBound(engine, layout);
      const x = new Float64Array(theta.length + layout.coordinates.length);
      x.set(theta);
      const gradient = new Float64Array(x.length);
      checkGradient(whole, x, gradient);
      sumOverAll(engine, theta);
      updateInducing(engine);
      const time = await interleave(
        [
          { name: "places", chunk: chunkOf(() => sumObjectives(engine, theta, gradient)) },
          { name: "collapsed", chunk: chunkOf(() => fixed(theta, gradient)) },
          { name: "whole", chunk: chunkOf(() => whole(x, gradient)) },
        ],
        quick ? 10 : 60,
      );
      const M = perDimension ** 2;
      say(`GPy, M = ${M}`);
      const gpy = runPython("gpy.py", [String(m), String(M)]);
      const row = (what: string, name: string, held: number | undefined, note: string) =>
        timesFaster(`${what}, N = ${m}, M = ${M}`, "ms", time(name) / 1e6, "GPy", gpy && gpy.cpu * 1e3, {
          goal: held,
          note,
        });
      rows.push(
        row(
          "objective + gradient in all places",
          "places",
          goal,
          "as the goal was set: q(u) and hyperparameters given",
        ),
        row("the same, q(u) solved for", "collapsed", undefined, "two passes and one solve of order 5M"),
        row(
          "the same, with the gradient in mean, noise and kernel",
          "whole",
          goal,
          "what GPy computes, but for its moving inducing points; GPy runs without its compiled extras",
        ),
      );
    }
    return rows;
  },
};

/** The gradient against a difference of the objective along one direction. */
function checkGradient(
  objective: (x: Float64Array, gradient: Float64Array) => number,
  x: Float64Array,
  gradient: Float64Array,
): void {
  // The kernel matrix of 49 places is ill-conditioned: eleven digits of the bound are left, so four of its differences.
  const h = 1e-3;
  const direction = x.map((_, k) => Math.sin(k + 1) / Math.sqrt(x.length));
  const work = new Float64Array(x.length);
  const at = (t: number) =>
    objective(
      x.map((v, k) => v + t * direction[k]),
      work,
    );
  const slope = (at(h) - at(-h)) / (2 * h);
  objective(x, gradient);
  const exact = gradient.reduce((sum, g, k) => sum + g * direction[k], 0);
  requireClose("slope of the bound", exact, slope, 1e-3);
}
