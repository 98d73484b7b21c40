/** dtm report RUN: one self-contained page from a run; what the run holds is used, what is missing is computed. */

import { basename, dirname, join } from "node:path";
import process from "node:process";
import { LIBRARY_VERSION } from "@trajectory-maps/core";
import { viewMarker, viewPlacements } from "@trajectory-maps/core/models";
import { lastShownTime } from "@trajectory-maps/core/study";
import { figureToSvg, renderReport, type Study, studyCovariates, studyFigures } from "@trajectory-maps/report";
import { UsageError } from "../exit-codes.ts";
import { parseDocument } from "../io/document.ts";
import { loadRasterizer } from "../io/raster.ts";
import { picturesIn } from "../io/read.ts";
import { REPORT_FORMATS, type ReportFormat, reportAs } from "../io/report-forms.ts";
import { readResult } from "../io/results.ts";
import { openRun, REPORT_FILES } from "../io/run-folder.ts";
import { checkOutputs, type OutputFile } from "../io/write.ts";
import { counted } from "../print/words.ts";
import { withPool } from "../threads/pool.ts";
import { OUTCOME_OPTIONS } from "./associate.ts";
import { type Command, FORCE_OPTION, JOBS_OPTION, textOption } from "./command.ts";
import { GROUP_OPTIONS, otherVisits, RUN_ARGUMENT, runWritten, VISITS_OPTION } from "./groups.ts";
import { jobsOf, seedOf, wholeNumber } from "./numbers.ts";
import { gather, readAsked } from "./report-gather.ts";
import { severalStudy, studySummary } from "./report-parts.ts";
import { isWithin, writeReport } from "./report-write.ts";
import { type RunRecord, recordedCommands } from "./run-record.ts";
import { placeRun } from "./study-parts.ts";
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
    checkReportFile(out, format, options.force === true);
    // Which pictures will be drawn is known only after all the work.
    if (figureFolder !== undefined) checkOutputs(figureFolder, picturesIn(figureFolder), options.force === true);
    const asked = await readAsked(folder, opened, options, context);
    const run = placeRun(opened, context);
    const record = readResult<RunRecord>(folder, "run.json");
    const parts = await withPool(jobsOf(options), (pool) => gather(run, asked, options, pool, context));
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
    const reused = parts.reused.length === 0 ? "" : `\nReused    ${parts.reused.join(", ")} of ${folder}`;
    const said = figures.length === 0 ? "" : `\n          ${counted(figures.length, "figure")} in ${figureFolder}`;
    return {
      text: `Report    ${page}${said}${reused}`,
      json: { report: page, figures, computed: parts.computed, reused: parts.reused },
    };
  },
};

const ENDINGS: Readonly<Record<ReportFormat, RegExp>> = {
  html: /\.html?$/i,
  "pdf-ready": /\.html?$/i,
  "docx-tables": /\.docx$/i,
};

/** Refuses a name that is not of a report: another file of a run would be lost. */
function checkReportFile(out: string, format: ReportFormat, force: boolean): void {
  if (!ENDINGS[format].test(out)) {
    throw new UsageError(
      `--out: expected a file that ends in ${format === "docx-tables" ? ".docx" : ".html"}, received ${out}.`,
    );
  }
  checkOutputs(dirname(out), [basename(out)], force);
}

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
