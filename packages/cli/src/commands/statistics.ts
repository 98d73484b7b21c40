/** dtm statistics VISITS: all that a fit reads of a cohort, as one file, or one for each shard of a large one. */
import { basename } from "node:path";
import { numVisits, plannedStatistics, prepareMarkers, statisticsPlan } from "@trajectory-maps/core/hosts";
import { NOISE_CHOICES, type NoiseChoice, usualNoise } from "@trajectory-maps/core/models";
import { UsageError } from "../exit-codes.ts";
import { readStatisticsPlan, type TakenStatistics, writeStatistics } from "../io/statistics-file.ts";
import { checkOutputFile } from "../io/write.ts";
import { counted, line } from "../print/words.ts";
import { BASIS_OPTIONS, basisOf } from "./basis.ts";
import { type Command, type Context, FORCE_OPTION, type Options, textOption } from "./command.ts";
import { SUBJECTS_OPTION } from "./covariates.ts";
import { FHIR_OPTIONS } from "./fhir.ts";
import { seedOf } from "./numbers.ts";
import { OMOP_OPTIONS } from "./omop.ts";
import { tellApart } from "./tables-apart.ts";
import { COLUMN_OPTIONS, MARKER_OPTIONS, readMarkersFor, readVisits, VISITS_ARGUMENT } from "./visits.ts";
import { QUERY_OPTIONS, visitsPath } from "./visits-source.ts";

export const statisticsCommand: Command = {
  name: "statistics",
  description:
    "Reduce a table of visits to what a fit reads of it, 148 bytes an individual: a Parquet file for dtm fit --statistics. Large cohorts are taken shard by shard, each with the basis and noise of the first (--like).",
  arguments: [{ ...VISITS_ARGUMENT, optional: true }],
  options: [
    ...COLUMN_OPTIONS,
    ...QUERY_OPTIONS,
    ...OMOP_OPTIONS,
    ...MARKER_OPTIONS,
    ...FHIR_OPTIONS,
    SUBJECTS_OPTION,
    ...BASIS_OPTIONS,
    {
      flags: "--noise <kind>",
      description: "measurement noise, as in dtm fit (default: auto for one marker, else white)",
      choices: NOISE_CHOICES,
    },
    { flags: "--like <file>", description: "statistics whose columns, basis, centre and noise to take" },
    { flags: "-o, --out <file>", description: "file to write", default: "statistics.parquet" },
    FORCE_OPTION,
  ],
  examples: [
    "dtm statistics visits.csv --value fvc -o statistics.parquet",
    "dtm statistics part-2.csv --like part-1.parquet -o part-2.parquet",
    "dtm fit --statistics statistics.parquet -o run/",
  ],
  run: async ([table], given, context) => {
    const { visits: path, options } = await tellApart(visitsPath(table, given), undefined, given, context);
    const out = textOption(options, "out") ?? "statistics.parquet";
    checkOutputFile(out, options.force === true);
    const like = textOption(options, "like");
    const { plan, ids, statistics } = await (like === undefined
      ? taken(path, options, context)
      : takenAlike(path, like, options, context));
    const shards = await writeStatistics(out, plan, ids, statistics);
    const visits = statistics.reduce((sum, own) => sum + numVisits(own), 0);
    // Why the noise is as it is was found in the cohort that chose it.
    const markers = plan.markers.map(({ marker, noise: { kind, reason } }) => ({
      marker,
      noise: kind,
      reason: like === undefined ? reason : `Taken from ${basename(like)}.`,
    }));
    const text = [
      line(
        "Cohort",
        `${counted(ids.length, "individual")}, ${counted(visits, "observation")}, ${counted(shards, "shard")}`,
      ),
      ...markers.map(({ marker, noise, reason }) => line("", `${marker.name}: ${noise} noise. ${reason ?? ""}`.trim())),
      line("Written", `${out}   (private)`),
    ].join("\n");
    return {
      text,
      json: {
        file: out,
        individuals: ids.length,
        observations: visits,
        shards,
        markers,
      },
    };
  },
};

/** Statistics in a basis and noise that the cohort chooses. */
async function taken(path: string, options: Options, context: Context): Promise<TakenStatistics> {
  const { cohort, markerColumns } = await readVisits(path, options, context);
  const noise = (textOption(options, "noise") as NoiseChoice | undefined) ?? usualNoise("dtm", cohort);
  const { statistics, warnings } = context.talk.during("Statistics", () =>
    prepareMarkers(cohort, { ...basisOf(options), noise, seed: seedOf(options) }),
  );
  const markers = cohort.markers.map(({ marker }) => marker);
  return { plan: statisticsPlan(statistics, markers, markerColumns, warnings), ids: cohort.ids, statistics };
}

/** Refuses options that would not be read. */
export function refuseOptions(options: Options, names: readonly string[], why: string): void {
  const given = names.filter((name) => options[name] !== undefined && options[name] !== false);
  const transform = textOption(options, "transform") ?? "identity";
  const [first] = transform === "identity" ? given : [...given, "transform"];
  const flag = first?.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (flag !== undefined) throw new UsageError(`--${flag}: ${why}.`);
}

/** Statistics as those of another file. */
async function takenAlike(path: string, like: string, options: Options, context: Context): Promise<TakenStatistics> {
  const own = ["noise", "basis", "degree", "knots", "marker", "markers", "timeUnit", "limits"];
  refuseOptions(options, own, "expected without --like, which brings its own. Leave one of them out");
  const plan = await readStatisticsPlan(like);
  const { cohort } = await readMarkersFor(plan, path, options, context);
  const statistics = context.talk.during("Statistics", () => plannedStatistics(plan, cohort));
  return { plan: { ...plan, warnings: [] }, ids: cohort.ids, statistics };
}
