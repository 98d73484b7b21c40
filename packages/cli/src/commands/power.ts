/** dtm power VISITS|DESIGN: what a study with these visits would find, by simulated studies from a fitted map. */
import { fitDtm, markerModel, simulateCohort, type TrajectoryModel } from "@trajectory-maps/core";
import type { PowerReplicate } from "@trajectory-maps/core/hosts";
import { basisDomain } from "@trajectory-maps/core/models";
import { type StudyPower, studyPower } from "@trajectory-maps/core/study";
import {
  type DataTable,
  figureToSvg,
  forecastTable,
  linksTable,
  type PowerSource,
  placesTable,
  powerFigure,
  powerParagraph,
  renderPower,
  timeWord,
} from "@trajectory-maps/report";
import { UsageError } from "../exit-codes.ts";
import { parseDocument } from "../io/document.ts";
import { readModel } from "../io/run-folder.ts";
import { writeSingle } from "../io/write.ts";
import { table } from "../print/table.ts";
import { counted, line, percent, significant, whole, wrap } from "../print/words.ts";
import { withPool } from "../threads/pool.ts";
import { type Command, type Context, FORCE_OPTION, JOBS_OPTION, type Options, textOption } from "./command.ts";
import { jobsOf, realNumber, seedOf, timesOf, wholeNumber } from "./numbers.ts";
import { DESIGN_OPTIONS, readDesign } from "./power-design.ts";
import { COLUMN_OPTIONS } from "./visits.ts";

/** Individuals of the simulated registry whose map stands in where no model is given. */
const REGISTRY = 400;

export const power: Command = {
  name: "power",
  description:
    "Would a study with these visits work? Simulates studies from a fitted map with the visit pattern of a table or a design, and tells how certain places would be, which outcomes would be found, and how wide forecasts would be.",
  arguments: [
    {
      name: "visits",
      optional: true,
      description: "table of visits, of which only the times are read, or a design file (.yaml, .json)",
    },
  ],
  options: [
    {
      flags: "--model <what>",
      description: `run folder or model file to simulate from, or pfvc or tss: a map of ${REGISTRY} simulated individuals`,
      default: "pfvc",
    },
    ...DESIGN_OPTIONS,
    { flags: "--risk <share>", description: "overall risk of the outcome", default: "0.3" },
    { flags: "--level <share>", description: "level of the test", default: "0.05" },
    {
      flags: "--map <kind>",
      description:
        "fitted: each study fits its own map; known: people are placed on the model, as dtm embed does (faster)",
      default: "fitted",
      choices: ["fitted", "known"],
    },
    { flags: "--replicates <number>", description: "simulated studies (default: 50, or 200 on a known map)" },
    {
      flags: "--horizons <times>",
      description: "times of the forecasts, with commas (default: the second half of follow-up)",
    },
    { flags: "-o, --out <file>", description: "write the figure (.svg), or a page with figure and tables (.html)" },
    ...COLUMN_OPTIONS,
    JOBS_OPTION,
    FORCE_OPTION,
  ],
  examples: [
    "dtm power visits.csv --model run/ -o power.html",
    "dtm power --individuals 300 --visits 0,0.5,1,2,3 --missing 0.2 --jitter 0.1",
    "dtm power design.yaml --model run/model.json --risk 0.15 --json",
  ],
  run: async ([path], options, context) => {
    const out = textOption(options, "out");
    const draw = out === undefined ? undefined : formatOf(out);
    const what = textOption(options, "model") ?? "pfvc";
    const { model, source } = modelOf(what, context);
    const { marker, basis } = markerModel(model);
    const [firstTime, lastTime] = basisDomain(basis);
    const design = await readDesign(path, options, marker.timeUnit, context);
    const study = await withPool(jobsOf(options), (pool) =>
      context.talk.during("Simulated studies", (onProgress) =>
        studyPower(model, design, {
          ...choiceOf(options),
          jobs: pool.jobs,
          run: async (plan, seed) =>
            (await pool.run({ kind: "power", shared: plan, part: { seed } })) as PowerReplicate,
          onProgress: (done, of) =>
            onProgress({ stage: "studies", iteration: done, maxIterations: of, value: Number.NaN }),
        }),
      ),
    );
    tellOutside(study, [firstTime, lastTime], context);
    const paragraph = powerParagraph(study, source);
    const files = draw === undefined ? [] : [writeSingle(out ?? "", draw(study, source), options.force === true)];
    const about = `${modelWords(source)}; times ${significant(firstTime)} to ${significant(lastTime)}${marker.timeUnit && ` ${marker.timeUnit}`}`;
    return {
      text: [
        powerPage(study, source, about),
        `In words\n${wrap(paragraph, 80, "")}`,
        ...files.map((file) => `Written   ${file}`),
      ].join("\n\n"),
      json: {
        ...study,
        model: { what, ...source, firstTime, lastTime, mapDimension: model.mapDimension },
        paragraph,
        files,
      },
    };
  },
};

/** The model to simulate from, and whose map it is. */
function modelOf(what: string, { talk }: Context): { readonly model: TrajectoryModel; readonly source: PowerSource } {
  const standsIn = what === "pfvc" || what === "tss";
  const model = standsIn
    ? talk.during("Map of the simulated registry", (onProgress) =>
        fitDtm(simulateCohort(what, { seed: 1, numIndividuals: REGISTRY }).cohort, {
          seed: 1,
          restarts: 0,
          onProgress,
        }),
      )
    : readModel(what);
  const { name, unit, timeUnit } = markerModel(model).marker;
  return { model, source: { marker: name, unit, timeUnit, numIndividuals: model.record.numIndividuals, standsIn } };
}

function choiceOf(options: Options) {
  const map = textOption(options, "map") === "known" ? ("known" as const) : ("fitted" as const);
  const replicates = textOption(options, "replicates") ?? (map === "known" ? "200" : "50");
  const horizons = textOption(options, "horizons");
  return {
    map,
    risk: realNumber("--risk", textOption(options, "risk") ?? "0.3"),
    level: realNumber("--level", textOption(options, "level") ?? "0.05"),
    replicates: wholeNumber("--replicates", replicates, 10),
    seed: seedOf(options),
    ...(horizons === undefined ? {} : { horizons: [...timesOf("--horizons", horizons)] }),
  };
}

function formatOf(out: string): (study: StudyPower, source: PowerSource) => string {
  if (/\.svg$/i.test(out))
    return (study, source) => figureToSvg(powerFigure(study, source), { document: parseDocument() });
  if (/\.html?$/i.test(out)) return (study, source) => renderPower(study, source, parseDocument());
  throw new UsageError(`--out: expected a file that ends in .svg or .html, received "${out}".`);
}

function tellOutside({ outside }: StudyPower, [first, last]: readonly [number, number], { talk }: Context): void {
  if (outside.visits === 0) return;
  const people =
    outside.individuals === 0 ? "" : `, and ${counted(outside.individuals, "individual")} without any other`;
  talk.warn(
    `${counted(outside.visits, "visit")} of ${whole(outside.of)} outside the times of the model, ${significant(first)} to ${significant(last)}, are left out${people}.`,
  );
}

function modelWords({ marker, numIndividuals, standsIn }: PowerSource): string {
  return standsIn
    ? `map of ${marker}, fitted to ${counted(numIndividuals, "simulated individual")}: it stands in for a map of the disease (--model RUN)`
    : `map of ${marker}, fitted to ${counted(numIndividuals, "individual")}`;
}

/** The three answers as tables. */
function powerPage(study: StudyPower, source: PowerSource, about: string): string {
  const { numIndividuals, visits, replicates, numOutcomes, map, risk, level, forecasts } = study;
  const page = ({ columns, rows }: DataTable) => table(columns, rows);
  const how =
    map === "fitted"
      ? "a map fitted to each"
      : "everybody placed on the model as it is: power is an upper bound for studies that fit their own map";
  return [
    line(
      "Design",
      `${counted(numIndividuals, "individual")}, median ${significant(visits.median)} visits (IQR ${significant(visits.lower)}-${significant(visits.upper)}, mean ${significant(visits.mean, 2)})`,
    ),
    line("Model", about),
    line(
      "Simulated",
      `${whole(replicates)} studies, ${how}; ${whole(numOutcomes)} outcomes of ${percent(risk)} risk for each effect in each, tested on whole posteriors at the ${percent(level, level < 0.01 ? 1 : 0)} level`,
    ),
    "\nHow well places would be known (prior standard deviations of the map)",
    page(placesTable(study)),
    `\n${wrap("Which outcomes would be found (odds ratio per prior standard deviation, or between the groups; risks one SD to either side, or in the groups)", 80, "")}`,
    page(linksTable(study)),
    `\nHow wide forecasts would be, from visits up to ${timeWord(source.timeUnit)} ${significant(forecasts.until)}`,
    page(forecastTable(study, source)),
  ].join("\n");
}
