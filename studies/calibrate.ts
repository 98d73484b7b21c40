/**
 * Calibration as a promise: how many values lie inside forecast bands and how much of a place inside its regions, on data of the model
 * and of other families, and how often every test finds something where there is nothing and where there is something.
 * Each row is a cell with its seed and count; rows are kept in studies/calibration.jsonl, a row that is there is not run again, and the
 * page is made of all of them, so that this can be run in pieces, stopped and taken up again. Writes docs/calibration.md.
 * Usage: npm run calibrate [-- --parts bands,events,outcomes,verdicts --only TEXT --seeds 1,2 --individuals 150 --studies 10]
 *   --only    cells whose name holds the text, such as "dtm, auto" or "leaves"
 *   --seeds   one row for each, of `individuals` in bands (to fit, and as many to forecast) and of `studies` in the other parts
 *   --parts   none ("") writes the page alone
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { guardedForecaster, modelForecaster } from "../packages/core/src/evaluate/forecast.ts";
import { sharingVerdict } from "../packages/core/src/evaluate/sharing.ts";
import { compareModels, simulatePlaces } from "../packages/core/src/index.ts";
import { markerModel } from "../packages/core/src/models/fit.ts";
import { fitDtm } from "../packages/core/src/models/fit-models.ts";
import { forecastGuard } from "../packages/core/src/models/forecast-guard.ts";
import { isMapModel } from "../packages/core/src/models/model.ts";
import { NOISE_CHOICES } from "../packages/core/src/noise/noise.ts";
import { MARKER_RELATIONS } from "../packages/core/src/simulate/places.ts";
import { type BandRow, calibrationPage, type Row, type TestRow } from "./shared/calibration-page.ts";
import { drawFamily, FAMILIES, type Fit, fitModel, lawOf, MODELS } from "./shared/families.ts";
import { countForecasts, countRegions } from "./shared/inside.ts";
import { openLaw } from "./shared/seen.ts";
import { EVENT_DESIGNS, type Findings, studyEvent, studyOutcome } from "./shared/shown-tests.ts";
import { DESIGNS } from "./shared/two-groups.ts";

const FILE = "studies/calibration.jsonl";
const { values: flags } = parseArgs({
  options: {
    parts: { type: "string", default: "bands,events,outcomes,verdicts" },
    only: { type: "string", default: "" },
    seeds: { type: "string", default: "1" },
    individuals: { type: "string", default: "150" },
    studies: { type: "string", default: "10" },
  },
});
const rows: Row[] = existsSync(FILE)
  ? readFileSync(FILE, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
  : [];

/** Runs what is not there yet, prints its row and keeps it. */
async function run(part: string, cell: string, count: number, compute: (seed: number) => Promise<object> | object) {
  if (!flags.parts.split(",").includes(part) || !cell.includes(flags.only)) return;
  for (const seed of flags.seeds.split(",").map(Number)) {
    if (rows.some((row) => row.part === part && row.cell === cell && row.seed === seed && row.count === count))
      continue;
    const began = performance.now();
    const row = { part, cell, seed, count, ...(await compute(seed)) } as Row;
    rows.push(row);
    appendFileSync(FILE, `${JSON.stringify(row)}\n`);
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    process.stdout.write(`${part}: ${cell}, seed ${seed}, count ${count} (${seconds} s)\n`);
    writeFileSync("docs/calibration.md", calibrationPage(rows));
  }
}

/** "known": the law itself forecasts and places what was drawn from it; "own": the model fitted anew to a cohort of that law. */
const DATA = ["known", "own", ...Object.keys(FAMILIES)];
const MANY_VISITS = [20, 20] as const;

function bands(data: string, fit: Fit, m: number, seed: number): Omit<BandRow, keyof Row> {
  const isKnown = data === "known";
  const family = isKnown || data === "own" ? lawOf(fit) : data;
  const at = 1000 * seed + 10 * DATA.indexOf(data);
  const train = drawFamily(family, m, [1, 14], at).cohort;
  const model = isKnown ? lawOf(fit) : fitModel(train, fit, seed);
  const guarded = isMapModel(model) && !isKnown;
  const forecaster = guarded ? guardedForecaster(model, forecastGuard(model, train)) : modelForecaster(model);
  const dense = drawFamily(family, Math.round(m / 3), MANY_VISITS, at + 2);
  return {
    noise: markerModel(model).noise.kind,
    forecasts: countForecasts(drawFamily(family, m, [2, 14], at + 1), forecaster),
    regions: countRegions(model, dense, isKnown && isMapModel(model), at + 3),
  };
}

const individuals = Number(flags.individuals);
for (const noise of ["auto", ...NOISE_CHOICES.filter((kind) => kind !== "auto")] as const) {
  for (const model of MODELS) {
    if (model === "dtm-paper" && noise !== "white") continue;
    for (const data of DATA) {
      if (data === "known" && noise === "auto") continue;
      await run("bands", `${data}, ${model}, ${noise}`, individuals, (seed) =>
        bands(data, { model, noise }, individuals, seed),
      );
    }
  }
}

/** How often each test finds something in some studies. */
async function count(
  study: (seed: number) => Promise<Findings> | Findings,
  seed: number,
): Promise<Omit<TestRow, keyof Row>> {
  const found: Record<string, [number, number]> = {};
  for (let k = 0; k < studies; k++) {
    for (const [test, isFound] of Object.entries(await study(100_000 * seed + k))) {
      found[test] ??= [0, 0];
      found[test][0] += Number(isFound);
      found[test][1]++;
    }
  }
  return { found };
}

const studies = Number(flags.studies);
let law: ReturnType<typeof openLaw> | undefined;
const opened = () => (law ??= openLaw(61));
for (const design of EVENT_DESIGNS) {
  await run("events", design.name, studies, (seed) => count((own) => studyEvent(opened(), design, 300, own), seed));
}
for (const design of DESIGNS) {
  await run("outcomes", design.name, studies, (seed) => count((own) => studyOutcome(opened(), design, 200, own), seed));
}

/** Verdicts in words: whether a map is said to predict better than the mixed model, dropout to be informative, markers to share a map. */
for (const family of ["lines", "noise levels", "two classes"]) {
  await run("verdicts", `map and mixed model, ${family}`, studies, (seed) =>
    count((own) => {
      const { differences, warnings } = compareModels(drawFamily(family, 150, [1, 14], own).cohort, {
        models: ["lmm", "dtm"],
        folds: 5,
      });
      const { lower, upper, nextCrps } = differences.find(({ model }) => model === "dtm")!;
      return {
        "log-likelihood of the map higher": lower > 0,
        "log-likelihood of the map lower": upper < 0,
        "next visits better by the map": nextCrps!.upper < 0,
        "next visits worse by the map": nextCrps!.lower > 0,
        "informative dropout": warnings.some(({ code }) => code === "informative-dropout"),
      };
    }, seed),
  );
}
for (const relation of MARKER_RELATIONS) {
  await run("verdicts", `two markers, ${relation}`, studies, (seed) =>
    count((own) => {
      const { cohort } = simulatePlaces({ relation, seed: own, numIndividuals: 150 });
      return {
        "one map is supported": sharingVerdict(cohort, fitDtm(cohort, { seed: own, restarts: 0 })).state !== "separate",
      };
    }, seed),
  );
}
writeFileSync("docs/calibration.md", calibrationPage(rows));
