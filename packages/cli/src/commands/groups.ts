/** dtm groups RUN: groups of individuals on the map, with names, evidence and stability. */
import { type GroupMethod, writeMixture } from "@trajectory-maps/core/study";
import { toCsv } from "@trajectory-maps/report";
import { UsageError } from "../exit-codes.ts";
import { toJson } from "../io/json.ts";
import { isFolder } from "../io/read.ts";
import { readResult } from "../io/results.ts";
import { openRun } from "../io/run-folder.ts";
import { checkOutputs } from "../io/write.ts";
import { groupsPage } from "../print/results.ts";
import { verdictLines } from "../print/summary.ts";
import { withPool } from "../threads/pool.ts";
import type { Context } from "./command.ts";
import { type Command, FORCE_OPTION, JOBS_OPTION, type OptionSpec, type Options, textOption } from "./command.ts";
import { SUBJECTS_OPTION } from "./covariates.ts";
import { componentsLine, componentsOf, METHOD_OPTION, methodOf } from "./groups-method.ts";
import { jobsOf, seedOf, wholeNumber } from "./numbers.ts";
import { ASSOCIATE_FILE, GROUPS_FILE, runVerdict, SENSITIVITY_FILE, writeResults } from "./run-record.ts";
import { type GroupChoice, groupsOf, placeRun, type StudiedGroups } from "./study-parts.ts";
import { COLUMN_OPTIONS, readVisitsFor } from "./visits.ts";

const GROUPS_TABLE = "groups.csv";

export const RUN_ARGUMENT = { name: "run", description: "folder written by dtm fit" } as const;

/** The run that a command writes its results into, if it is there. */
export function runWritten([folder = ""]: readonly string[]): string | undefined {
  return isFolder(folder) ? folder : undefined;
}

/** Where the visits are read from if the run keeps no copy. */
export const VISITS_OPTION: OptionSpec = {
  flags: "--visits <file>",
  description: "the visits, where the run keeps no copy",
};

export const GROUP_OPTIONS: readonly OptionSpec[] = [
  { flags: "--groups <number>", description: 'how many, or "auto"', default: "auto" },
  {
    flags: "--stability <number>",
    description: "refits to 80% of the individuals (at most 2,000); 0 for none",
    default: "20",
  },
  { flags: "--better <side>", description: "which side of the marker is better, if known", choices: ["high", "low"] },
];

export const groups: Command = {
  name: "groups",
  description: "Group individuals on the map; writes groups.json and groups.csv into the run.",
  arguments: [RUN_ARGUMENT],
  options: [
    METHOD_OPTION,
    ...GROUP_OPTIONS,
    ...COLUMN_OPTIONS,
    VISITS_OPTION,
    SUBJECTS_OPTION,
    JOBS_OPTION,
    FORCE_OPTION,
  ],
  examples: [
    "dtm groups run/",
    "dtm groups run/ --groups 4 --stability 50 --better high",
    "dtm groups run/ --method mixture --force",
  ],
  writes: runWritten,
  run: async ([folder = ""], options, context) => {
    const choice = groupChoice(options);
    const opened = await openRun(folder, otherVisits(options, context));
    checkOutputs(folder, [GROUPS_FILE, GROUPS_TABLE], options.force === true);
    const run = placeRun(opened, context);
    const studied = await withPool(jobsOf(options), (pool) =>
      groupsOf(run, { ...choice, method: methodOf(options) }, pool, context),
    );
    const found = studied.groups.groups.length;
    if (choice.numGroups !== "auto" && found < choice.numGroups) {
      context.talk.warn(
        `--groups ${choice.numGroups}: ${found} found. The others would have been nobody's largest share.`,
      );
    }
    const components = componentsOf(run);
    const json = { ...groupsJson(studied, choice), components };
    const files = [
      // Exact sizes, down to one: a shared report hides small ones.
      { name: GROUPS_FILE, text: toJson(json), private: true },
      { name: GROUPS_TABLE, text: groupsCsv(studied, run.placements.ids), private: true },
    ];
    const verdict = runVerdict(folder, run.model, {
      ...(studied.stability && { refits: studied.stability.mapAgreement }),
    });
    const stale = staleBeside(folder, json);
    if (stale.length > 0)
      context.talk.warn(
        `${stale.join(" and ")} told of other groups and ${stale.length === 1 ? "is" : "are"} removed.`,
      );
    const paths = writeResults(folder, "groups", files, context, { map: verdict }, stale);
    const { marker } = run.model.markers[0]!;
    const page = groupsPage(studied, marker) + componentsLine(components, marker.timeUnit);
    return {
      // What should not be used says so first.
      text: `${verdict.colour === "grey" ? [verdictLines(verdict), page].join("\n\n") : [page, verdictLines(verdict)].join("\n\n")}\n\nWritten   ${paths.join("\n          ")}   (private)`,
      json,
    };
  },
};

/** Results of the run that tell of groups, where these are not the ones that they tell of. */
function staleBeside(folder: string, { regions, groups: found }: ReturnType<typeof groupsJson>): string[] {
  type Survival = { readonly groups: readonly Name[]; readonly emptyGroups: readonly Name[] };
  type Name = { readonly letter: string; readonly name: string };
  const before = readResult<{ readonly regions: unknown }>(folder, GROUPS_FILE);
  if (before !== undefined && toJson(before.regions) === toJson(JSON.parse(toJson(regions)))) return [];
  const survival = readResult<{ readonly survival?: Survival }>(folder, ASSOCIATE_FILE)?.survival;
  const sensitivity = readResult<{ readonly run: { readonly numGroups: number } }>(folder, SENSITIVITY_FILE);
  // Without groups of its own the run was told about by the groups of the rule, which may be these.
  const namesOf = (names: readonly Name[]) => String(names.map(({ letter, name }) => `${letter} ${name}`).sort());
  const isOther = before !== undefined;
  return [
    ...(survival && (isOther || namesOf([...survival.groups, ...survival.emptyGroups]) !== namesOf(found))
      ? [ASSOCIATE_FILE]
      : []),
    ...(sensitivity && (isOther || sensitivity.run.numGroups !== found.length) ? [SENSITIVITY_FILE] : []),
  ];
}

/** Reads the visits of a run from --visits, if it is given. */
export function otherVisits(options: Options, context: Context) {
  const visits = textOption(options, "visits");
  if (visits === undefined) return undefined;
  return (model: Parameters<typeof readVisitsFor>[0]) => readVisitsFor(model, visits, options, context);
}

export function groupChoice(options: Options): GroupChoice {
  const text = textOption(options, "groups") ?? "auto";
  const better = textOption(options, "better");
  if (text !== "auto" && !/^\d+$/.test(text)) {
    throw new UsageError(`--groups: expected a whole number or "auto", received "${text}".`);
  }
  return {
    numGroups: text === "auto" ? "auto" : wholeNumber("--groups", text, 1),
    resamples: wholeNumber("--stability", textOption(options, "stability") ?? "20", 0),
    seed: seedOf(options),
    ...(better === "high" || better === "low" ? { better } : {}),
  };
}

/** What groups.json says of how groups were made. */
export interface StoredChoice {
  readonly method: GroupMethod;
  readonly numGroups: number;
  readonly seed: number;
  readonly better?: "high" | "low" | null;
}

/** The choice that gives the same groups again: as many as were found. */
export function choiceOf({ method, numGroups, seed, better }: StoredChoice) {
  return { method, numGroups, seed, ...(better && { better }) };
}

/** groups.json: everything about the groups but who is in them. */
function groupsJson({ groups: found, stability }: StudiedGroups, { seed, better }: GroupChoice) {
  return {
    method: found.method,
    numGroups: found.groups.length,
    groups: found.groups.map(
      ({ letter, name, summary, rate, numMembers, numSeen, course, from, until, parts, markers }, k) => ({
        ...{ letter, name, summary, rate },
        size: numMembers,
        numSeen,
        pairsKept: stability?.groups.find(({ group }) => group === k)?.pairsKept ?? null,
        times: course.times,
        median: course.median,
        lower: course.lower,
        upper: course.upper,
        from,
        until,
        parts,
        ...(markers && {
          markers: markers.map(({ marker, name, summary, rate, course: own }) => {
            const { times, median, lower, upper } = own;
            return { marker, name, summary, rate, times, median, lower, upper };
          }),
        }),
      }),
    ),
    choice: found.choice,
    stability:
      stability === null
        ? null
        : {
            verdict: stability.verdict,
            meanAdjustedRand: stability.meanAdjustedRand,
            adjustedRand: stability.adjustedRand,
            mapAgreement: stability.mapAgreement,
          },
    clustered: found.clustered.length,
    regions: writeMixture(found.regions),
    certainty: found.certainty,
    tree: found.treeTop,
    seed,
    better: better ?? null,
  };
}

function groupsCsv({ groups: found }: StudiedGroups, ids: readonly string[]): string {
  const K = found.groups.length;
  const header = ["id", "group", ...found.groups.map(({ letter }) => `probability_${letter}`)];
  const rows = ids.map((id, i) => [
    id,
    found.groups[found.labels[i] ?? 0]?.letter ?? "",
    ...found.membership.subarray(i * K, (i + 1) * K),
  ]);
  return toCsv(header, rows);
}
