/** dtm shards plan|run|reduce FOLDER: one fit in many jobs, for Slurm arrays, Kubernetes indexed jobs and the like (docs/batch.md). */
import { join, resolve } from "node:path";
import { UsageError } from "../exit-codes.ts";
import { readAgreement, writeAgreement } from "../io/agreement.ts";
import {
  readStatistics,
  readStatisticsPlan,
  type StatisticsRows,
  statisticsFiles,
  statisticsRows,
} from "../io/statistics-file.ts";
import { counted, line } from "../print/words.ts";
import { addPlaces } from "../rounds/add.ts";
import { runPlace } from "../rounds/place.ts";
import { type ActionOption, checkAction, optionsOf } from "./actions.ts";
import { type Command, type CommandResult, JOBS_OPTION, type Options, textOption } from "./command.ts";
import { SPREAD_OPTIONS, spreadChoice, waitOf } from "./federate.ts";
import { wholeNumber } from "./numbers.ts";

const ACTIONS = ["plan", "run", "reduce"] as const;

const OPTIONS: readonly ActionOption[] = [
  [
    ["plan"],
    { flags: "--statistics <files>", description: "files of dtm statistics, with commas, or a folder of them" },
  ],
  [["plan"], { flags: "--shards <number>", description: "number of jobs (default: one for each file)" }],
  ...SPREAD_OPTIONS.map((option): ActionOption => [["plan"], option]),
  [["run"], { flags: "--shard <number>", description: "which job this is, from 0" }],
  [
    ["run", "reduce"],
    {
      flags: "--wait <seconds>",
      description: "how long to wait for others; 0: do what can be done and stop",
      default: "3600",
    },
  ],
  // A cluster counts in jobs: each has one thread unless it is given more.
  [["run"], { ...JOBS_OPTION, description: "number of threads; does not change results", default: "1" }],
];

export const shardsCommand: Command = {
  name: "shards",
  description:
    "Fit one map in many jobs that share a folder, as of a Slurm array or a Kubernetes indexed job: plan divides statistics among the jobs, run is one of them, reduce adds the sums that they hand out, and runs beside them. All must run at the same time. Any of them may be stopped, started again or run twice at any moment: the model has the same bytes.",
  arguments: [
    { name: "action", description: "what to do", choices: ACTIONS },
    { name: "folder", description: "folder of plan, sums, totals and results" },
  ],
  options: optionsOf(OPTIONS),
  examples: [
    "dtm shards plan fit/ --statistics parts/ --shards 64",
    "dtm shards reduce fit/ &",
    "dtm shards run fit/ --shard $SLURM_ARRAY_TASK_ID",
  ],
  run: async ([action = "", folder = ""], options, context) => {
    checkAction("shards", action, OPTIONS, context);
    if (action === "plan") return plan(folder, options);
    if (action === "reduce") return addPlaces(folder, waitOf(options));
    const { shards } = readAgreement(folder).agreement;
    if (shards === undefined) {
      throw new UsageError(
        `${folder}: expected a plan of jobs, received an agreement of sites. Begin with dtm shards plan.`,
      );
    }
    const shard = textOption(options, "shard");
    if (shard === undefined) {
      throw new UsageError(
        `dtm shards run: expected --shard, received none. Name the job, from 0 to ${shards.length - 1}.`,
      );
    }
    const k = wholeNumber("--shard", shard, 0);
    const rows = shards[k];
    if (rows === undefined) {
      throw new UsageError(`--shard: expected 0 to ${shards.length - 1}, as planned, received ${k}.`);
    }
    return runPlace({
      ...{ folder, name: nameOf(k), context },
      options: { ...options, force: true },
      read: await readStatistics(rows),
      source: rows.map(({ file, from, to }) => `${file} rows ${from} to ${to - 1}`).join(", "),
      out: join(folder, "runs", nameOf(k)),
      waitSeconds: waitOf(options),
      leastIndividuals: 1,
      allowExposed: true,
      preview: false,
    });
  },
};

function nameOf(shard: number): string {
  return `shard${String(shard).padStart(4, "0")}`;
}

async function plan(folder: string, options: Options): Promise<CommandResult> {
  const list = textOption(options, "statistics");
  if (list === undefined) throw new UsageError("dtm shards plan: expected --statistics. Name files of dtm statistics.");
  const files = statisticsFiles(list).map((file) => resolve(file));
  const rows = await statisticsRows(files);
  const asked = textOption(options, "shards");
  const number = asked === undefined ? files.length : wholeNumber("--shards", asked, 1);
  if (number > rows.length) {
    throw new UsageError(
      `--shards: expected at most ${rows.length}, the rows of the statistics, received ${number}. Each row is some 256 to 4,096 individuals.`,
    );
  }
  const shards = Array.from({ length: number }, (_, k) =>
    joined(rows.slice(Math.floor((k * rows.length) / number), Math.floor(((k + 1) * rows.length) / number))),
  );
  const choice = spreadChoice(options);
  const statistics = await readStatisticsPlan(rows[0]?.file ?? files[0]!);
  const places = shards.map((_, k) => nameOf(k));
  const path = writeAgreement(folder, { plan: statistics, choice, places, leastIndividuals: 1, shards });
  const text = [
    line(
      "Planned",
      `${counted(number, "job")} over ${counted(rows.length, "row")} of ${counted(files.length, "file")}`,
    ),
    line(
      "Next",
      `dtm shards run ${folder} --shard K for K from 0 to ${number - 1}, and dtm shards reduce ${folder} beside them`,
    ),
    line("Written", path),
  ].join("\n");
  return { text, json: { plan: path, shards: number, rows: rows.length } };
}

/** Neighbouring rows of one file as one range. */
function joined(rows: readonly StatisticsRows[]): StatisticsRows[] {
  const out: StatisticsRows[] = [];
  for (const row of rows) {
    const last = out.at(-1);
    if (last?.file === row.file && last.to === row.from) {
      out[out.length - 1] = { ...last, to: row.to, digests: [...last.digests, ...row.digests] };
    } else out.push(row);
  }
  return out;
}
