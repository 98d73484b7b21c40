/** dtm report RUN: one self-contained page from a run; what the run holds is used, what is missing is computed. */

import { basename, join } from "node:path";
import process from "node:process";
import { LIBRARY_VERSION } from "@trajectory-maps/core";
import { type Outcome, plainOutcomes, type SubjectsTable } from "@trajectory-maps/core/ingest";
import { viewMarker, viewPlacements } from "@trajectory-maps/core/models";
import {
  characteristicColumns,
  defaultModels,
  lastShownTime,
  type SeveralComparison,
} from "@trajectory-maps/core/study";
import {
  figureToSvg,
  renderReport,
  type Study,
  studyCharacteristics,
  studyCovariates,
  studyFigures,
  studyGroups,
} from "@trajectory-maps/report";
import { UsageError } from "../exit-codes.ts";
import { parseDocument } from "../io/document.ts";
import { loadRasterizer } from "../io/raster.ts";
import { REPORT_FORMATS, type ReportFormat, reportAs } from "../io/report-forms.ts";
import { readResult } from "../io/results.ts";
import { openRun, REPORT_FILES } from "../io/run-folder.ts";
import { checkOutputs, type OutputFile } from "../io/write.ts";
import { counted } from "../print/words.ts";
import { type Pool, withPool } from "../threads/pool.ts";
import { ASSOCIATE_FILE, associationChoice, associationJson, eventChoice, OUTCOME_OPTIONS } from "./associate.ts";
import {
  type Command,
  type Context,
  FORCE_OPTION,
  JOBS_OPTION,
  listOption,
  type Options,
  textOption,
} from "./command.ts";
import { compareChoice, severalOptions } from "./compare.ts";
import { compareMarkersOn } from "./compare-markers.ts";
import { readAdjustment } from "./covariates.ts";
import {
  choiceOf,
  GROUP_OPTIONS,
  groupChoice,
  otherVisits,
  RUN_ARGUMENT,
  runWritten,
  type StoredChoice,
  VISITS_OPTION,
} from "./groups.ts";
import { jobsOf, seedOf, wholeNumber } from "./numbers.ts";
import { unquote } from "./quoted.ts";
import { severalStudy, studySummary } from "./report-parts.ts";
import { isWithin, writeReport } from "./report-write.ts";
import { COMPARE_FILE, GROUPS_FILE, type RunRecord, recordedCommands, SENSITIVITY_FILE } from "./run-record.ts";
import { associationOf, compareOn, groupsOf, outcomesOf, type PlacedRun, placeRun } from "./study-parts.ts";
import { readSubjectsTable } from "./subjects.ts";
import { survivalOf } from "./survival-part.ts";
import { COLUMN_OPTIONS } from "./visits.ts";

/** Pixels of a PNG for each pixel of a figure: 300 dots per inch, where a screen has 96. */
const PRINT_SCALE = 300 / 96;

export const report: Command = {
  name: "report",
  description: "Write the study as one self-contained page: maps, groups, comparison, outcomes, methods, checklist.",
  arguments: [RUN_ARGUMENT],
  options: [
    { flags: "--subjects <file>", description: "CSV with one row per individual, for outcomes" },
    ...OUTCOME_OPTIONS,
    { flags: "-o, --out <file>", description: "the file (default: report.html in the run)" },
    {
      flags: "--format <form>",
      description:
        "a page to read and print; the page laid out for programs that make PDF (report-print.html); its tables for Word (tables.docx)",
      choices: REPORT_FORMATS,
      default: "html",
    },
    { flags: "--figures <folder>", description: "also write every figure as SVG and as PNG at 300 dpi" },
    { flags: "--title <text>", description: "headline (default: the marker's name)" },
    { flags: "--no-compare", description: "skip the comparison of models if the run has none" },
    { flags: "--folds <number>", description: "folds of the comparison", default: "10" },
    {
      flags: "--characteristics <list>",
      description: "columns of --subjects in the table of characteristics (default: all that describe individuals)",
    },
    { flags: "--own", description: "your own report: every count and one dot per individual; not for sharing" },
    { flags: "--small-cell <number>", description: "smallest count shown (default: 11; with --own 1)" },
    { flags: "--individuals", description: "draw one dot per individual (not for sharing)" },
    ...GROUP_OPTIONS,
    ...COLUMN_OPTIONS.filter(({ flags }) => /--(id|delimiter|decimal|encoding) /.test(flags)),
    VISITS_OPTION,
    JOBS_OPTION,
    FORCE_OPTION,
  ],
  examples: [
    "dtm report run/ -o report.html",
    "dtm report run/ --subjects subjects.csv --outcomes death,ild --event death:followup_years -o report.html",
    "dtm report run/ --format docx-tables",
  ],
  writes: (args, options) => {
    const out = textOption(options, "out");
    return out === undefined || isWithin(args[0] ?? "", out) ? runWritten(args) : undefined;
  },
  run: async ([folder = ""], options, context) => {
    const format = (textOption(options, "format") ?? "html") as ReportFormat;
    const out = textOption(options, "out") ?? join(folder, REPORT_FILES[format]);
    const figureFolder = textOption(options, "figures");
    const opened = await openRun(folder, otherVisits(options, context));
    checkOutputs(join(out, ".."), [basename(out)], options.force === true);
    if (figureFolder !== undefined) checkOutputs(figureFolder, [], options.force === true);
    const run = placeRun(opened, context);
    const record = readResult<RunRecord>(folder, "run.json");
    const parts = await withPool(jobsOf(options), (pool) => gather(folder, run, options, pool, context));
    const own = options.own === true;
    const smallCell = wholeNumber("--small-cell", textOption(options, "smallCell") ?? (own ? "1" : "11"), 1);
    const title = textOption(options, "title");
    const several = severalStudy(run, record, parts.several);
    const covariates = studyCovariates(run.model, run.cohort, run.placements, lastShownTime(run.placements));
    const study: Study = {
      ...(title === undefined ? {} : { title }),
      cohort: studySummary(opened.read, record),
      // Of several markers what is drawn for one is drawn for the first.
      model: viewMarker(run.model, 0),
      placements: viewPlacements(run.placements, run.model.markers, 0),
      ...(several === undefined ? {} : { several }),
      ...(covariates === undefined ? {} : { covariates }),
      baselines: run.baselines.map(({ model, placements }) => ({ name: model.kind, placements })),
      ...parts.study,
      run: {
        command: record?.command ?? context.commandLine,
        commands: [...(record === undefined ? [] : recordedCommands(record)), context.commandLine],
        seed: record?.seed ?? seedOf(options),
        versions: [
          { name: "trajectory-maps", version: LIBRARY_VERSION },
          { name: "Node", version: process.versions.node },
        ],
        ...(record === undefined ? {} : { date: record.date, source: record.source }),
      },
      options: { smallCell, individualLevel: own || options.individuals === true ? "places" : "none" },
    };
    const { html, files } = await context.talk.during("Page and figures", () =>
      draw(study, figureFolder !== undefined),
    );
    const isOwn = smallCell === 1 || study.options?.individualLevel === "places";
    const [page = out, ...figures] = writeReport(
      folder,
      out,
      { name: basename(out), text: await reportAs(format, html), private: isOwn },
      figureFolder,
      files.map((file) => ({ ...file, private: isOwn })),
      context,
    );
    if (isOwn) {
      context.talk.say("This report shows small counts or places of single individuals: do not share it.");
    }
    const said = figures.length === 0 ? "" : `\n          ${counted(figures.length, "figure")} in ${figureFolder}`;
    return {
      text: `Report    ${page}${said}`,
      json: { report: page, figures, computed: parts.computed, reused: parts.reused },
    };
  },
};

/** The page, and each figure as a file if wanted. */
async function draw(study: Study, withFigures: boolean): Promise<{ html: string; files: OutputFile[] }> {
  const document = parseDocument();
  const figures = studyFigures(study);
  const html = renderReport(study, { document, figures });
  if (!withFigures) return { html, files: [] };
  const rasterize = await loadRasterizer();
  const files = figures.flatMap((figure) => {
    const svg = figureToSvg(figure, { document });
    const drawn: OutputFile[] = [{ name: `${figure.key}.svg`, text: svg }];
    if (rasterize !== undefined) {
      drawn.push({ name: `${figure.key}.png`, text: rasterize(svg, Math.round(figure.width * PRINT_SCALE)) });
    }
    return drawn;
  });
  return { html, files };
}

interface Gathered {
  readonly study: Partial<Study>;
  readonly several?: SeveralComparison;
  readonly computed: readonly string[];
  readonly reused: readonly string[];
}

/** The parts of the study: from the run's files where they are there, computed otherwise. */
async function gather(
  folder: string,
  run: PlacedRun,
  options: Options,
  pool: Pool,
  context: Context,
): Promise<Gathered> {
  const computed: string[] = [];
  const reused: string[] = [];
  const note = (part: string, stored: boolean) => (stored ? reused : computed).push(part);

  type StoredGroups = StoredChoice & {
    stability: StudyStability | null;
    groups: { pairsKept: number | null }[];
  };
  const stored = readResult<StoredGroups>(folder, GROUPS_FILE);
  note("groups", stored !== undefined);
  const wanted = groupChoice(options);
  // Membership is not stored in the shareable file; grouping again into as many groups gives the same ones.
  const choice = stored === undefined ? wanted : { ...wanted, ...choiceOf(stored), resamples: 0 };
  const studied = await groupsOf(run, choice, pool, context);
  const kept = stored?.groups.map(({ pairsKept }, group) => ({ group, pairsKept: pairsKept ?? Number.NaN }));
  const stability = stored?.stability ? { ...stored.stability, groups: kept ?? [] } : studied.stability;
  const number =
    readResult<{ choice: typeof studied.groups.choice }>(folder, GROUPS_FILE)?.choice ?? studied.groups.choice;

  const earlier = readResult<NonNullable<Study["comparison"]> | SeveralComparison>(folder, COMPARE_FILE);
  let comparison = earlier;
  if (comparison === undefined && options.compare !== false) {
    const kind = run.model.kind === "dtm-paper" ? "dtm-paper" : "dtm";
    const models = defaultModels(run.cohort).map((model) => (model === "dtm" ? kind : model));
    const settings = compareChoice(
      { ...options, models: models.join(","), dim: String(run.model.mapDimension) },
      run.cohort,
    );
    const { mean, noise } = run.model.markers[0]!;
    const like = { ...settings, mean: mean.kind, noise: noise.kind };
    comparison =
      run.model.markers.length > 1
        ? await compareMarkersOn(run.cohort, severalOptions(like), pool, context)
        : await compareOn(run.cohort, like, pool, context);
  }
  if (comparison !== undefined) note("comparison", earlier !== undefined);

  const storedAssociation = readResult<StoredAssociation>(folder, ASSOCIATE_FILE);
  const outcomes = await outcomesFor(run, storedAssociation, options, context);
  let association: StoredAssociation | undefined = storedAssociation;
  const asked = outcomes.found.map(({ name }) => name);
  const adjustment = readAdjustment(outcomes.table, run.cohort, options, context);
  // Stored results serve if they are adjusted for what is asked for, or nothing is said of it.
  const isSame = adjustment === undefined || String(storedAssociation?.adjustedFor ?? []) === String(adjustment.names);
  const covered = isSame && asked.every((name) => storedAssociation?.outcomes.some(({ outcome }) => outcome === name));
  if (outcomes.found.length > 0 && !covered) {
    const result = await associationOf(
      run,
      outcomes.found,
      { ...associationChoice(options), adjustment },
      pool,
      context,
    );
    association = associationJson(
      result,
      outcomes.found,
      null,
      run.model.markers[0]!.marker.timeUnit,
    ) as StoredAssociation;
  }
  if (association !== undefined) note("association", covered);
  const event = textOption(options, "event");
  const survival =
    event !== undefined && outcomes.table !== undefined
      ? await survivalOf(
          run,
          studied.groups,
          outcomes.table,
          { event, adjustment, ...eventChoice(options), ...associationChoice(options) },
          pool,
          context,
        )
      : storedAssociation?.survival;
  if (survival !== undefined) note("survival", event === undefined);

  const sensitivity = readResult<NonNullable<Study["sensitivity"]>>(folder, SENSITIVITY_FILE);
  if (sensitivity !== undefined) note("sensitivity", true);

  const { table } = outcomes;
  const followUp = event?.slice(event.lastIndexOf(":") + 1);
  const columns =
    table &&
    characteristicsFor(table, run, options, [
      ...outcomes.columns,
      followUp ?? "",
      survival?.event ?? "",
      ...(survival?.competing?.names ?? []),
    ]);
  return {
    study: {
      ...(sensitivity && { sensitivity }),
      groups: studyGroups(studied.groups, { number, stability }),
      characteristics: studyCharacteristics(
        run.cohort,
        { labels: studied.groups.labels, numGroups: studied.groups.groups.length },
        table && columns && { table, columns },
      ),
      ...(comparison === undefined || "markers" in comparison ? {} : { comparison }),
      ...(association === undefined || association.outcomes.length === 0 ? {} : { association }),
      ...(outcomes.found.length === 0 ? {} : { outcomes: outcomes.found }),
      ...(survival === undefined ? {} : { survival: { ...survival, logRank: survival.logRank ?? undefined } }),
    },
    ...(comparison !== undefined && "markers" in comparison ? { several: comparison } : {}),
    computed,
    reused,
  };
}

type StudyStability = NonNullable<NonNullable<Study["groups"]>["stability"]>;
type StoredAssociation = NonNullable<Study["association"]> & { readonly survival?: NonNullable<Study["survival"]> };

/** Outcomes to show: those named, else those of the stored association, else every plain yes-or-no column. */
async function outcomesFor(run: PlacedRun, stored: StoredAssociation | undefined, options: Options, context: Context) {
  const path = textOption(options, "subjects");
  const named = listOption(options, "outcomes")?.map(unquote);
  if (path === undefined) {
    if (named !== undefined || options.event !== undefined) {
      throw new UsageError("Outcomes are read from a table of individuals: add --subjects subjects.csv.");
    }
    if (options.characteristics !== undefined) {
      throw new UsageError("--characteristics: expected a table of individuals: add --subjects subjects.csv.");
    }
    return { found: [] as readonly Outcome[], columns: [] as readonly string[] };
  }
  const table = await readSubjectsTable(path, options, context);
  const names = named ?? stored?.outcomes.map(({ outcome }) => outcome) ?? plainOutcomes(table);
  if (named === undefined && stored === undefined) {
    context.talk.say(`Outcomes: ${names.join(", ") || "none"} (every column with two values; choose with --outcomes).`);
  }
  // "stage>=3" is of the column stage.
  const columns = names.map((name) => name.replace(/(=|[<>]=?).*$/, ""));
  return { found: outcomesOf(names, table, run.cohort, context), table, columns };
}

/** Columns of the table of characteristics: those named, else all that describe individuals but outcomes and follow-up. */
function characteristicsFor(
  table: SubjectsTable,
  { cohort }: PlacedRun,
  options: Options,
  outcomes: readonly string[],
): readonly string[] {
  const named = listOption(options, "characteristics")?.map(unquote);
  return named ?? characteristicColumns(table, cohort.ids).filter((name) => !outcomes.includes(name));
}
