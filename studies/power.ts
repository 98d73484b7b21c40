/**
 * Does the power that `dtm power` predicts come true? For each design 500 whole studies are simulated: visits and values from a known map, a map fitted to them from one start and with default options else, everybody placed on it, and outcomes
 * of several strengths tested, each once. The share of studies that find the outcome is held against the prediction, which is made from other simulated studies with other seeds
 * and coarser fits. Writes docs/studies/power.md.
 * Usage: npm run study:power [-- --studies 500 --only 100 --json > part.json] and, to join such parts, [-- --join part.json --join other.json]
 */
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { parseArgs } from "node:util";
import { multiplierP } from "../packages/core/src/associate/multipliers.ts";
import { LEAST } from "../packages/core/src/associate/outcome-test.ts";
import { testKernel } from "../packages/core/src/associate/place-features.ts";
import { posteriorFeatures } from "../packages/core/src/associate/posterior-features.ts";
import { approximateP, scoreOf } from "../packages/core/src/associate/score-test.ts";
import { fitDtm, simulateCohort } from "../packages/core/src/index.ts";
import type { MapModel } from "../packages/core/src/models/model.ts";
import { createRandom } from "../packages/core/src/numeric/random.ts";
import type { StudyDesign } from "../packages/core/src/study/design.ts";
import { drawOutcome, interceptOf, linkScores } from "../packages/core/src/study/outcome-links.ts";
import { type StudyPower, studyPower } from "../packages/core/src/study/power.ts";
import { drawStudy, type PowerPlan, type PowerReplicate } from "../packages/core/src/study/power-replicate.ts";
import { markdownTable } from "./shared/cohorts.ts";

const { values: flags } = parseArgs({
  options: {
    studies: { type: "string", default: "500" },
    only: { type: "string", default: "" },
    json: { type: "boolean", default: false },
    join: { type: "string", multiple: true, default: [] },
  },
});

interface Planned {
  readonly name: string;
  readonly design: StudyDesign;
}

const DESIGNS: readonly Planned[] = [
  {
    name: "100 individuals; visits at 0, 1, 2, 3, 5 years, 20% missed, jitter 0.1",
    design: { numIndividuals: 100, visits: { times: [0, 1, 2, 3, 5], missing: 0.2, jitter: 0.1 } },
  },
  {
    name: "150 individuals; visits at 0, 1.5, 3 years, jitter 0.1, 5% a year drop out",
    design: { numIndividuals: 150, visits: { times: [0, 1.5, 3], jitter: 0.1, dropout: 0.05 } },
  },
];

/** Log odds ratios: none, and 1.5 to 11. */
const EFFECTS = [0, 0.4, 0.7, 1, 1.6, 2.4];
const DRAWS = 999;

/** A whole study: its own map, with default options but for one start, and each outcome tested once, by draws wherever its p-value is not clear. */
async function wholeStudy(plan: PowerPlan, seed: number): Promise<PowerReplicate> {
  const { cohort, locations } = drawStudy(plan, seed);
  const { mapDimension: q } = plan.model;
  const [{ rows }] = posteriorFeatures(fitDtm(cohort, { seed: 1, restarts: 0 }), cohort, [testKernel(q)]);
  const random = createRandom(seed + 0.5);
  const fitted: number[][] = [];
  for (const link of plan.links) {
    const scores = linkScores(link, locations);
    const found: number[] = [];
    for (const effect of link.effects) {
      const labels = drawOutcome(scores, interceptOf(link, effect, plan.risk), effect, random);
      const cases = labels.reduce((sum, label) => sum + label, 0);
      found.push(Math.min(cases, labels.length - cases) >= LEAST && (await isFound(rows, labels, seed)) ? 1 : 0);
    }
    fitted.push(found);
  }
  return { known: fitted, fitted };
}

async function isFound(rows: Float64Array, labels: Uint8Array, seed: number): Promise<boolean> {
  const score = scoreOf(rows, labels);
  const p = approximateP(score);
  return (p < 0.005 || p > 0.25 ? p : await multiplierP(score, seed, { draws: DRAWS })) <= 0.05;
}

interface Compared {
  readonly name: string;
  readonly studies: number;
  readonly predicted: StudyPower;
  readonly found: StudyPower;
}

async function compare({ name, design }: Planned): Promise<Compared> {
  const studies = Number(flags.studies);
  const { cohort } = simulateCohort("pfvc", { seed: 1, numIndividuals: 400 });
  const law = fitDtm(cohort, { seed: 1 }) as MapModel;
  const shared = { effects: EFFECTS, onProgress };
  // The same seed of reference, so that links are the same; studies are seeded by their number, far apart.
  const predicted = await studyPower(law, design, { ...shared });
  const found = await studyPower(law, design, {
    ...shared,
    replicates: studies,
    numOutcomes: 1,
    run: (plan, seed) => wholeStudy(plan, seed + 500_000),
  });
  return { name, studies, predicted, found };
}

function onProgress(done: number, of: number): void {
  if (done % 10 === 0) process.stderr.write(`${done}/${of} ${process.cpuUsage().user / 1e6} s\n`);
}

const LINKS = {
  "most-resolved": "best resolved direction",
  "least-resolved": "least resolved direction",
  groups: "two groups",
} as const;

/** Predicted less found, and the error of that difference if both estimate one share: near 0 and 1 neither sample tells its own error. */
function gapOf(
  { predicted, found, studies }: Compared,
  l: number,
  e: number,
): { readonly gap: number; readonly error: number } {
  const [told, came] = [predicted.links[l].curve[e], found.links[l].curve[e]];
  const n = predicted.replicates * predicted.numOutcomes;
  const share = (n * told.power + studies * came.power) / (n + studies);
  const binomial = (size: number) => Math.sqrt((share * (1 - share)) / size);
  const error = Math.hypot(Math.max(told.standardError, binomial(n)), binomial(studies));
  return { gap: told.power - came.power, error: Math.max(error, 1e-9) };
}

function rowsOf(one: Compared): string[][] {
  const percent = (x: number, error: number) => `${(100 * x).toFixed(1)} (${(100 * error).toFixed(1)})`;
  return one.predicted.links.flatMap(({ kind, resolved, curve, knownCurve }, l) =>
    curve.map(({ effect, power, standardError }, e) => {
      const came = one.found.links[l].curve[e];
      const { gap, error } = gapOf(one, l, e);
      return [
        e > 0 ? "" : `${LINKS[kind]}${resolved === null ? "" : `, ${Math.round(100 * resolved)}% resolved`}`,
        Math.exp(effect).toFixed(2),
        percent(knownCurve[e].power, knownCurve[e].standardError),
        percent(power, standardError),
        percent(came.power, came.standardError),
        (gap / error).toFixed(1),
      ];
    }),
  );
}

function page(compared: readonly Compared[]): string {
  const gaps = compared.flatMap((one) =>
    one.predicted.links.flatMap(({ curve }, l) => curve.map((_, e) => gapOf(one, l, e))),
  );
  const within = gaps.filter(({ gap, error }) => Math.abs(gap) <= 1.96 * error).length;
  const largest = Math.max(...gaps.map(({ gap, error }) => Math.abs(gap) / error));
  const mean = gaps.reduce((sum, { gap }) => sum + gap, 0) / gaps.length;
  const squares = gaps.reduce((sum, { gap, error }) => sum + (gap / error) ** 2, 0) / gaps.length;
  const most = (kind: string) =>
    Math.max(
      ...compared.flatMap(({ predicted }) =>
        predicted.links
          .filter((link) => link.kind === kind)
          .flatMap(({ curve, knownCurve }) => curve.map(({ power }, e) => 100 * (knownCurve[e].power - power))),
      ),
    ).toFixed(1);
  const tables = compared.map(
    (one) =>
      `## ${one.name}\n\n${markdownTable(["outcome along", "odds ratio", "map known", "predicted", `${one.studies} studies`, "z"], rowsOf(one))}`,
  );
  const [{ predicted }] = compared;
  return `# Power, predicted and found

\`npm run study:power\` writes this page (\`--studies\` says how many). Courses come from a map fitted to 400 individuals of the simulated PFVC registry. Prediction: \`dtm power\` as it comes, ${predicted.replicates} simulated
studies, ${predicted.numOutcomes} outcomes for each effect in each, a coarse fit to each. Found: other whole studies, as many as the tables say, in each a map fitted to its own
values with default options but for one start (on such cohorts three reach the same map), and each outcome tested once (p ≤ 0.05 by ${DRAWS} multiplier draws wherever its approximation is between 0.005 and 0.25, as \`dtm associate\` tests). Risk of the outcome 30%. The odds ratio is per prior standard deviation of
places, or between the groups. Percent of studies that find the outcome, with Monte Carlo errors in brackets; z is predicted less found in errors of their difference (from their pooled share). "Map known": the same simulated studies, placed on the map that values came from.

${tables.join("\n\n")}

Of ${gaps.length} rows ${within} have predicted and found within 1.96 errors (${Math.round(0.95 * gaps.length)} expected); the mean of z² is ${squares.toFixed(2)} (1 expected), the largest gap ${largest.toFixed(1)} errors, the mean gap ${(100 * mean).toFixed(1)} points. Rows of a
table share their studies, so they are not independent.

Against a known map, a map fitted to the study itself lost at most ${most("least-resolved")} points along the least resolved direction here, ${most("most-resolved")} along the best and
${most("groups")} between the groups. It can be more where the model is harder to learn, so \`dtm power\` fits a map to each simulated study and tells both, unless \`--map known\` says that people will be placed on an existing one.
`;
}

const chosen = DESIGNS.filter(({ name }) => name.startsWith(flags.only));
const compared: Compared[] = [];
if (flags.join.length > 0)
  for (const file of flags.join) compared.push(...(JSON.parse(readFileSync(file, "utf8")) as Compared[]));
else for (const planned of chosen) compared.push(await compare(planned));
if (flags.json) process.stdout.write(JSON.stringify(compared));
else {
  writeFileSync("docs/studies/power.md", page(compared));
  process.stdout.write(page(compared));
}
