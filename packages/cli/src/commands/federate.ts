/** dtm federate init|round|merge FOLDER: one map of several sites, none of which shows its individuals (docs/federation.md). */
import { latticeNodes, type StatisticsPlan } from "@trajectory-maps/core/hosts";
import { UsageError } from "../exit-codes.ts";
import { type Agreement, writeAgreement } from "../io/agreement.ts";
import { readStatistics, readStatisticsPlan, statisticsFiles } from "../io/statistics-file.ts";
import { longName } from "../option-names.ts";
import { line } from "../print/words.ts";
import { addPlaces } from "../rounds/add.ts";
import { safeRestarts } from "../rounds/exposed.ts";
import { runPlace } from "../rounds/place.ts";
import { type ActionOption, checkAction, optionsOf } from "./actions.ts";
import {
  type Command,
  type CommandResult,
  FORCE_OPTION,
  JOBS_OPTION,
  listOption,
  type OptionSpec,
  type Options,
  SEED_OPTION,
  textOption,
} from "./command.ts";
import { choiceOf, MAP_OPTIONS } from "./fit.ts";
import { PRIORS } from "./fit-model.ts";
import { wholeNumber } from "./numbers.ts";

const ACTIONS = ["init", "round", "merge"] as const;
const NAME = /^[A-Za-z0-9_]+$/;
const LEAST = "20";
/** The fewest individuals that can be agreed on: sums over one are its statistics. */
const FEWEST = 2;
/** A number in the files of a place: two of eight bytes (docs/rounds.md). */
const BYTES = 16;

/** Options of the map that say something else of a fit in several places. */
const OF_SPREAD: readonly OptionSpec[] = [
  { flags: "--dim <number>", description: "dimensions of the map: 1 or 2", default: "2" },
  { flags: "--priors <kind>", description: "priors on noise and covariance (default: weak)", choices: PRIORS },
];

/** What a map that is fitted in several places is asked for. */
export const SPREAD_OPTIONS = withOthers([...MAP_OPTIONS, SEED_OPTION], OF_SPREAD);

const RESTARTS: OptionSpec = {
  flags: "--restarts <number>",
  description: "further starts of the map, 0 or 1; the best is kept (default: 1)",
};

/** The options, with others in place of those of the same name. */
function withOthers(options: readonly OptionSpec[], others: readonly OptionSpec[]): OptionSpec[] {
  return options.map((option) => ({ ...option, ...others.find((other) => longName(other) === longName(option)) }));
}

const OPTIONS: readonly ActionOption[] = [
  [["init"], { flags: "--like <file>", description: "statistics whose basis, centre and noise all sites take over" }],
  [["init"], { flags: "--sites <names>", description: "names of the sites, with commas" }],
  [
    ["init"],
    { flags: "--least <number>", description: "the fewest individuals a site may take part with", default: LEAST },
  ],
  ...withOthers(SPREAD_OPTIONS, [RESTARTS]).map((option): ActionOption => [["init"], option]),
  [["round"], { flags: "--site <name>", description: "which site this is" }],
  [
    ["round"],
    {
      flags: "--statistics <files>",
      description: "statistics of its individuals (dtm statistics --like FOLDER/agreement.json)",
    },
  ],
  [["round"], { flags: "--preview", description: "say what would leave next, and write nothing" }],
  [
    ["init", "round"],
    {
      flags: "--allow-exposed",
      description: "also hand out sums from which single individuals could be read off",
    },
  ],
  [
    ["round", "merge"],
    {
      flags: "--wait <seconds>",
      description: "how long to wait for others; 0: do what can be done, and end",
      default: "0",
    },
  ],
  [["round"], { flags: "-o, --out <folder>", description: "folder for the results of this site", default: "run" }],
  [["round"], JOBS_OPTION],
  [["round"], FORCE_OPTION],
];

export const federateCommand: Command = {
  name: "federate",
  description:
    "Fit one map at several sites without sharing rows. One site begins (init) with its statistics; every site takes part (round) with its own and hands out sums over its individuals; someone whom all trust with these sums adds them (merge). Sums and totals are files in a folder that is shared, or sent by hand; init says how many to expect. Every site ends with the same model, and with the places of its own individuals. What sums reveal: docs/privacy.md.",
  arguments: [
    { name: "action", description: "what to do", choices: ACTIONS },
    { name: "folder", description: "folder of agreement, sums and totals" },
  ],
  options: optionsOf(OPTIONS),
  examples: [
    "dtm statistics visits-a.csv --value fvc -o a.parquet",
    "dtm federate init shared --like a.parquet --sites a,b,c",
    "dtm statistics visits-b.csv --like shared/agreement.json -o b.parquet",
    "dtm federate round shared --site b --statistics b.parquet --preview",
    "dtm federate round shared --site b --statistics b.parquet --wait 3600 -o run-b",
    "dtm federate merge shared --wait 3600",
  ],
  run: async ([action = "", folder = ""], options, context) => {
    checkAction("federate", action, OPTIONS, context);
    if (action === "init") return begin(folder, options);
    if (action === "merge") return addPlaces(folder, waitOf(options));
    const list = textOption(options, "statistics");
    const name = textOption(options, "site");
    if (list === undefined || name === undefined) {
      throw new UsageError("dtm federate round: expected --site and --statistics. Name the site and its statistics.");
    }
    const files = statisticsFiles(list);
    return runPlace({
      ...{ folder, name, options, context },
      read: await readStatistics(files),
      source: files.join(", "),
      out: textOption(options, "out") ?? "run",
      waitSeconds: waitOf(options),
      leastIndividuals: FEWEST,
      allowExposed: options.allowExposed === true,
      preview: options.preview === true,
    });
  },
};

/** Seconds to wait. */
export function waitOf(options: Options): number {
  return wholeNumber("--wait", textOption(options, "wait") ?? "0", 0);
}

/** The map asked for; noise and basis are those of the statistics. */
export function spreadChoice(options: Options): Agreement["choice"] {
  const { noise: _noise, basis: _basis, ...choice } = choiceOf(options);
  if (choice.mapDimension <= 2) return choice;
  throw new UsageError(`--dim: expected 1 or 2 for a fit in several places, received ${choice.mapDimension}.`);
}

async function begin(folder: string, options: Options): Promise<CommandResult> {
  const like = textOption(options, "like");
  const places = listOption(options, "sites") ?? [];
  if (like === undefined || places.length < 2) {
    throw new UsageError("dtm federate init: expected --like and the names of two sites or more in --sites.");
  }
  // Names are parts of file names, which some systems write alike in small and capital letters.
  const plain = places.map((name) => name.toLowerCase());
  const bad = places.find((name, k) => !NAME.test(name) || plain.indexOf(plain[k]!) < k);
  if (bad !== undefined) {
    throw new UsageError(`--sites: expected different names of letters, digits and _, received ${bad}.`);
  }
  const leastIndividuals = wholeNumber("--least", textOption(options, "least") ?? LEAST, FEWEST);
  const choice = spreadChoice(options);
  const restarts = options.allowExposed === true ? (choice.restarts ?? 1) : safeRestarts(choice.restarts);
  const plan = await readStatisticsPlan(like);
  const budget = budgetText(plan, choice.mapDimension);
  const agreed = { choice: { ...choice, restarts }, places, leastIndividuals };
  const path = writeAgreement(folder, { plan: { ...plan, warnings: [] }, ...agreed });
  const text = [
    line("Sites", `${places.join(", ")}; each with ${leastIndividuals} individuals or more`),
    ...plan.markers.map(({ marker, noise, basis }) =>
      line(
        "Marker",
        `${marker.name}: ${noise.kind} noise, ${basis.numBasis} basis functions on ${basis.knots[0]} to ${basis.knots.at(-1)}`,
      ),
    ),
    line("Budget", budget),
    line("Written", path),
    line("", "It has no rows: basis, centre, noise, the model asked for, and the names of the sites."),
  ].join("\n");
  return { text, json: { agreement: path, sites: places, leastIndividuals } };
}

/** What to expect to be exchanged. */
function budgetText({ markers }: StatisticsPlan, mapDimension: number): string {
  const sizes = markers.map(({ basis: { numBasis: d } }) => d + (d * (d + 1)) / 2);
  const nodeSums = latticeNodes(mapDimension).numNodes * sizes.reduce((sum, size) => sum + size, 0);
  return `some 200 to 800 rounds: more than half of them of the map, up to ${Math.ceil((BYTES * nodeSums) / 1000)} kB from each site, the others of a few kB. Each round waits for all sites.`;
}
