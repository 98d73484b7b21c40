/** dtm summary RUN: what the fit printed, again, and in a few lines what later commands found. */
import type { TrajectoryModel } from "@trajectory-maps/core";
import { modelStatistics } from "@trajectory-maps/core/hosts";
import { embedPlaces, linearLogLikelihood } from "@trajectory-maps/core/models";
import {
  type GroupMethod,
  type Sensitivity,
  type Stability,
  stabilityText,
  stabilityWord,
} from "@trajectory-maps/core/study";
import { effectCautions, effectTables } from "@trajectory-maps/report";
import { readResult } from "../io/results.ts";
import { type OpenRun, openRun } from "../io/run-folder.ts";
import type { RunGroup } from "../io/run-groups.ts";
import { fitPage } from "../print/fit-page.ts";
import { showP } from "../print/results.ts";
import { counted, line } from "../print/words.ts";
import type { Command, Context } from "./command.ts";
import { SUBJECTS_OPTION } from "./covariates.ts";
import { otherVisits, RUN_ARGUMENT, VISITS_OPTION } from "./groups.ts";
import {
  ASSOCIATE_FILE,
  COMPARE_FILE,
  GROUPS_FILE,
  type RunRecord,
  runVerdict,
  SENSITIVITY_FILE,
} from "./run-record.ts";
import { COLUMN_OPTIONS } from "./visits.ts";

export const summaryCommand: Command = {
  name: "summary",
  description: "Print the summary of a run again, with what groups, compare, associate and sensitivity found since.",
  arguments: [RUN_ARGUMENT],
  options: [...COLUMN_OPTIONS, VISITS_OPTION, SUBJECTS_OPTION],
  examples: ["dtm summary run/", "dtm summary run/ --json"],
  run: async ([folder = ""], options, context) => {
    const opened = await openRun(folder, otherVisits(options, context));
    const record = readResult<RunRecord>(folder, "run.json");
    const { model, read } = opened;
    const { fitted, baselines } = scored(opened, context);
    const cautions = effectCautions(model, read.cohort, fitted.placements);
    const verdict = runVerdict(folder, model, {});
    const page = fitPage({ cohort: read.cohort, fitted, baselines, cautions, sharing: record?.sharing, verdict });
    const later = laterResults(folder);
    const covariates = effectTables(model);
    return {
      text: [page, ...later.lines].join("\n\n"),
      json: {
        run: record ?? null,
        folder,
        ...(covariates && { covariates: { ...covariates, cautions } }),
        ...later.json,
      },
    };
  },
};

/** The models of a run with the log-likelihood of everybody, as the fit had them. */
function scored({ model, baselines, read: { cohort } }: OpenRun, { talk }: Context) {
  const statistics = modelStatistics(model, cohort);
  const placements = talk.during("Places of everyone", () => embedPlaces(model, cohort, { statistics }));
  const total = placements.logLikelihood.reduce((sum, v) => sum + v, 0);
  return {
    fitted: { model, placements, logLikelihood: total },
    baselines: baselines.map((baseline) => {
      const own = modelStatistics(baseline, cohort);
      const logLikelihood = isLinear(baseline) ? linearLogLikelihood(baseline, own, {}) : Number.NaN;
      return { model: baseline, logLikelihood };
    }),
  };
}

function isLinear(model: TrajectoryModel) {
  return model.kind === "lmm" || model.kind === "fpca";
}

interface StoredGroups {
  readonly method: GroupMethod;
  readonly groups: readonly RunGroup[];
  readonly stability: Pick<Stability, "meanAdjustedRand" | "adjustedRand"> | null;
}
interface StoredAssociation {
  readonly outcomes: readonly { readonly outcome: string; readonly p: number | null }[];
}

/** What later commands wrote into the run, in a paragraph each. */
function laterResults(folder: string) {
  const groups = readResult<StoredGroups>(folder, GROUPS_FILE);
  const comparison = readResult<{ readonly verdict: string }>(folder, COMPARE_FILE);
  const association = readResult<StoredAssociation>(folder, ASSOCIATE_FILE);
  const sensitivity = readResult<Sensitivity>(folder, SENSITIVITY_FILE);
  const tested = association?.outcomes.map(({ outcome, p }) => ({ outcome, p }));
  const lines: string[] = [];
  if (groups !== undefined) {
    const named = groups.groups.map(({ letter, name, size }) => line("", `${letter} ${name} (${size})`));
    const stable = groups.stability && `; ${stabilityText(groups.stability)}`;
    lines.push([line("Groups", `${counted(groups.groups.length, "group")}${stable ?? ""}`), ...named].join("\n"));
  }
  if (comparison !== undefined) lines.push(line("Compared", comparison.verdict));
  if (tested !== undefined && tested.length > 0) {
    const each = tested.map(({ outcome, p }) => `${outcome} p ${showP(p ?? Number.NaN)}`);
    lines.push(line("Outcomes", each.join("; ")));
  }
  if (sensitivity !== undefined) lines.push(line("Changed", sensitivity.verdict));
  return {
    lines,
    json: {
      ...(groups && {
        groups: {
          method: groups.method,
          groups: groups.groups.map(({ letter, name, size }) => ({ letter, name, size })),
          // The word by the thresholds of now: files of earlier versions called groups stable from 0.6 on.
          stability: groups.stability && {
            ...groups.stability,
            verdict: stabilityWord(groups.stability.meanAdjustedRand),
          },
        },
      }),
      ...(comparison && { comparison: { verdict: comparison.verdict } }),
      ...(tested && { association: { outcomes: tested } }),
      ...(sensitivity && { sensitivity: { verdict: sensitivity.verdict } }),
    },
  };
}
