/**
 * What noise with levels and serial correlation gains on each cohort (docs/studies/noise.md): held-out log-likelihood of the mixed model
 * and the map against white noise, coverage of forecasts of second halves, what was learned, and what the rule `auto` takes.
 * Usage: npm run study:noise [-- --only NAME,... --cohort NAME=FILE,COLUMN[,TRANSFORM] ...]
 */
import { writeFileSync } from "node:fs";
import { bsplineBasis } from "../packages/core/src/basis/knots.ts";
import { visitRows } from "../packages/core/src/basis/visit-columns.ts";
import {
  type Cohort,
  makeCohort,
  numIndividuals,
  numObservations,
  onlyMarker,
} from "../packages/core/src/cohort/cohort.ts";
import { applyTransform } from "../packages/core/src/cohort/marker.ts";
import { splitCohort } from "../packages/core/src/cohort/split.ts";
import { centralCoverage, laterVisits, modelForecaster } from "../packages/core/src/evaluate/forecast.ts";
import { heldOutLogLikelihood } from "../packages/core/src/evaluate/held-out.ts";
import { markerModel } from "../packages/core/src/models/fit.ts";
import { fitDtm, fitLinear } from "../packages/core/src/models/fit-models.ts";
import { mixtureCdf } from "../packages/core/src/models/mixture/normal-mixture.ts";
import { modelMixture, type TrajectoryModel } from "../packages/core/src/models/model.ts";
import { drawNoise, levelNoise, type Noise, type NoiseKind } from "../packages/core/src/noise/noise.ts";
import { createRandom } from "../packages/core/src/numeric/random.ts";
import { markdownTable, type StudyCohort, studyCohorts } from "./shared/cohorts.ts";

const FOLDS = 5;
/** Of large cohorts two of the five folds are enough, and all there is time for. */
const LARGE = 1000;
const FEW_FOLDS = 2;
const KINDS = ["white", "level", "level+serial"] as const satisfies readonly NoiseKind[];
const MODELS = ["LMM", "map"] as const;
const TRUTH = levelNoise(1, 0.8, { range: 0.5, whiteShare: 0.3 });

/** Courses of random coefficients seen 20 to 30 times in ten years, with noise of ω = 0.8, ρ = 0.5 and κ = 0.3. */
function denseCohort(): Cohort {
  const random = createRandom(12);
  const basis = bsplineBasis(Float64Array.from({ length: 101 }, (_, k) => k / 10));
  const d = basis.numBasis;
  const columns = { ids: [] as string[], times: [] as number[], values: [] as number[] };
  for (let i = 0; i < 200; i++) {
    const times = Float64Array.from(
      { length: 20 + Math.floor(11 * random.uniform()) },
      () => 10 * random.uniform(),
    ).sort();
    const noise = drawNoise(TRUTH, times, random);
    const rows = visitRows(basis, times, noise, 0);
    // The course bends with a first score and rises with a second.
    const [x, z] = [random.normal(), random.normal()];
    const w = Float64Array.from(
      { length: d },
      (_, k) => 1.5 * x * Math.cos(k) + z * (k / 2 - 1) + 0.5 * x * x + 0.3 * random.normal(),
    );
    times.forEach((t, j) => {
      columns.ids.push(`p${i}`);
      columns.times.push(t);
      columns.values.push(noise[j] + w.reduce((sum, v, k) => sum + v * rows[j * (d + 1) + k], 0));
    });
  }
  return makeCohort(columns);
}

interface Score {
  readonly logLikelihood: Float64Array;
  readonly pit: Float64Array;
}

/** Held-out log-likelihoods, and where later values lie in forecasts from the first half. */
function scoreOf(model: TrajectoryModel, test: Cohort): Score {
  const mixture = modelMixture(model);
  const { marker, offsets, values } = onlyMarker(test);
  const tasks = laterVisits(test);
  const forecast = modelForecaster(model, mixture)(test, tasks);
  const pit = tasks.flatMap(({ individual, from, to }, task) => {
    const at = forecast(task);
    return Array.from({ length: to - from }, (_, k) => {
      const j = offsets[individual] + from + k;
      return mixtureCdf(at(j), applyTransform(marker.transform, values[j]));
    });
  });
  return { logLikelihood: heldOutLogLikelihood(model, test, { mixture }).logLikelihood, pit: Float64Array.from(pit) };
}

function evaluate({ name, cohort }: StudyCohort) {
  const used = numIndividuals(cohort) > LARGE ? FEW_FOLDS : FOLDS;
  const folds = splitCohort(cohort, FOLDS, 1)
    .slice(0, used)
    .map(({ train, test }, fold) => {
      const taken = markerModel(fitLinear(train, { noise: "auto", restarts: 0 }).lmm).noise;
      // Serial noise alone is fitted only where the rule takes it.
      const kinds: NoiseKind[] = taken.kind === "serial" ? [...KINDS, "serial"] : [...KINDS];
      const fits = kinds.map((noise) => {
        const began = performance.now();
        const linear = fitLinear(train, { noise });
        const map = fitDtm(train, { noise, linear, restarts: 0 });
        const seconds = (performance.now() - began) / 1000;
        process.stderr.write(`${name}: fold ${fold + 1} of ${used}, ${noise}, ${seconds.toFixed(1)} s\n`);
        const { trace } = map.record;
        const fall = trace.reduce(
          (worst, v, k) => (k === 0 ? 0 : Math.max(worst, (trace[k - 1] - v) / Math.abs(v))),
          0,
        );
        const noises = [linear.lmm, map].map((model) => markerModel(model).noise);
        return { scores: [scoreOf(linear.lmm, test), scoreOf(map, test)], noises, seconds, fall };
      });
      return { taken, fits };
    });
  return {
    name: `${name} (${numIndividuals(cohort)}, ${numObservations(cohort)})${used < FOLDS ? ` [${used}]` : ""}`,
    folds,
  };
}

type Evaluated = ReturnType<typeof evaluate>;

const mean = (x: ArrayLike<number>) => Array.from(x).reduce((sum, v) => sum + v / x.length, 0);
const signed = (v: number, digits = 2) => `${v < 0 ? "−" : "+"}${Math.abs(v).toFixed(digits)}`;

/** Scores of a model in one fold; what `auto` takes is fitted as one of the kinds. */
function scoreIn({ fits, taken }: Evaluated["folds"][number], kind: NoiseKind | "auto", model: number): Score {
  const wanted = kind === "auto" ? taken.kind : kind;
  return fits.find(({ noises }) => noises[0].kind === wanted)!.scores[model];
}

/** Mean of paired differences to white noise (standard error over individuals). */
function gain({ folds }: Evaluated, kind: NoiseKind | "auto", model: number): string {
  const differences = folds.flatMap((fold) => {
    const white = scoreIn(fold, "white", model).logLikelihood;
    return Array.from(scoreIn(fold, kind, model).logLikelihood, (v, i) => v - white[i]);
  });
  const middle = mean(differences);
  const variance = differences.reduce((sum, v) => sum + (v - middle) ** 2, 0) / (differences.length - 1);
  return `${signed(middle)} (${Math.sqrt(variance / differences.length).toFixed(2)})`;
}

function coverage({ folds }: Evaluated, kind: NoiseKind | "auto", model: number): string {
  const pit = Float64Array.from(folds.flatMap((fold) => Array.from(scoreIn(fold, kind, model).pit)));
  return [0.9, 0.5].map((level) => Math.round(100 * centralCoverage(pit, level))).join(", ");
}

/** What was learned in a kind of noise, averaged over folds. */
function learned(
  { folds }: Evaluated,
  kind: (typeof KINDS)[number],
  model: number,
  pick: (noise: Noise) => number,
): string {
  return mean(folds.map(({ fits }) => pick(fits[KINDS.indexOf(kind)].noises[model]))).toFixed(2);
}

const CHOICES = ["level", "level+serial", "auto"] as const;

function countKinds(kinds: readonly NoiseKind[]): string {
  return [...new Set(kinds)].map((kind) => `${kind} ${kinds.filter((own) => own === kind).length}`).join(", ");
}

function pageOf(evaluated: readonly Evaluated[]): string {
  const gains = evaluated.map((own) => {
    const white = MODELS.map((_, model) =>
      mean(own.folds.flatMap((fold) => Array.from(scoreIn(fold, "white", model).logLikelihood))),
    );
    return [
      own.name,
      ...MODELS.flatMap((_, model) => [
        white[model].toFixed(2).replace("-", "−"),
        ...CHOICES.map((kind) => gain(own, kind, model)),
      ]),
    ];
  });
  const lead = evaluated.map((own) => [
    own.name,
    ...KINDS.map((kind) =>
      signed(
        mean(
          own.folds.flatMap((fold) => {
            const lmm = scoreIn(fold, kind, 0).logLikelihood;
            return Array.from(scoreIn(fold, kind, 1).logLikelihood, (v, i) => v - lmm[i]);
          }),
        ),
      ),
    ),
  ]);
  const covered = evaluated.map((own) => [
    own.name,
    ...MODELS.flatMap((_, model) => (["white", ...CHOICES] as const).map((kind) => coverage(own, kind, model))),
  ]);
  const numbers = evaluated.map((own) => [
    own.name,
    learned(own, "level", 0, ({ spread }) => spread ?? 0),
    learned(own, "level", 1, ({ spread }) => spread ?? 0),
    learned(own, "level+serial", 1, ({ spread }) => spread ?? 0),
    learned(own, "level+serial", 1, ({ correlation }) => correlation?.range ?? 0),
    learned(own, "level+serial", 1, ({ correlation }) => correlation?.whiteShare ?? 1),
    countKinds(own.folds.map(({ taken }) => taken.kind)),
    KINDS.map((_, k) => mean(own.folds.map(({ fits }) => fits[k].seconds)).toFixed(1)).join(", "),
  ]);
  const falls = evaluated.flatMap(({ folds }) => folds.flatMap(({ fits }) => fits.map(({ fall }) => fall)));
  const reasons = evaluated.map(({ name, folds }) => `- ${name}: ${folds[0].taken.reason ?? ""}`);
  return `# What other noise gains

\`npm run study:noise\` writes this page: ${FOLDS}-fold cross-validation over individuals, seed 1; [${FEW_FOLDS}] after a cohort of more than
${LARGE} individuals says that only so many folds were run. In brackets after a cohort its individuals and observations. Both models have a constant mean, the
default of the map, and one start. "Dense" is simulated with ω = 0.8, ρ = 0.5 and κ = 0.3. Cohorts beside the bundled and simulated ones were given
by \`--cohort NAME=FILE,COLUMN[,TRANSFORM]\`.

## Held-out log-likelihood per individual, minus that of the same model with white noise

Mean of paired differences (standard error); above zero is better. The first column of each model is the value with white noise.

${markdownTable(
  ["cohort", ...MODELS.flatMap((model) => [`${model}: white`, ...CHOICES.map((kind) => `${model}: ${kind}`)])],
  gains,
)}

The map minus the mixed model *with the same noise*:

${markdownTable(["cohort", ...KINDS], lead)}

## Coverage of forecasts

Share in percent of the second half of visits inside the 90% and the 50% interval, forecast from the first half (without the guard of
[safe forecasts](../decisions/0014-safe-forecasts.md)).

${markdownTable(
  ["cohort", ...MODELS.flatMap((model) => ["white", ...CHOICES].map((kind) => `${model}: ${kind}`))],
  covered,
)}

## What was learned

Averages over folds; what \`auto\` took in how many folds; seconds of a fit (mixed model, components and map) with white noise, levels, and both, on a busy machine.

${markdownTable(
  ["cohort", "ω, LMM, level", "ω, map, level", "ω, map, both", "ρ", "κ", "auto takes", "seconds"],
  numbers,
)}

${Math.max(...falls) > 0 ? `The bound of the map fell by at most ${Math.max(...falls).toExponential(0)} of its value` : "The bound of the map never fell"} in ${falls.length} fits.

What the rule said in the first fold:

${reasons.join("\n")}
`;
}

const dense = process.argv.includes("--only") ? [] : [{ name: "dense", cohort: denseCohort() }];
const cohorts = [...studyCohorts(), ...dense].sort((a, b) => numIndividuals(a.cohort) - numIndividuals(b.cohort));
const done: Evaluated[] = [];
for (const one of cohorts) {
  done.push(evaluate(one));
  // Long: what is known so far is on the page.
  writeFileSync("docs/studies/noise.md", pageOf(done));
}
process.stdout.write(pageOf(done));
