/** dtm plan: how long a large fit takes, what memory it needs, and in which way to make it. */
import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import { UsageError } from "../exit-codes.ts";
import { table } from "../print/table.ts";
import { counted, line, significant, whole } from "../print/words.ts";
import { type Command, JOBS_OPTION, type Options, textOption } from "./command.ts";
import { jobsOf, positiveNumber, wholeNumber } from "./numbers.ts";
import {
  type Estimate,
  estimate,
  ITERATIONS,
  type PlannedCohort,
  SAMPLE_PASSES,
  THREAD_GAIN,
  type Way,
} from "./plan-estimate.ts";
import { measureRates, type Rates } from "./plan-rates.ts";

export const planCommand: Command = {
  name: "plan",
  description:
    "Plan the fit of a large cohort: time, memory and shards, from what this machine takes for a small one (a few seconds), and the way to fit it.",
  arguments: [],
  options: [
    { flags: "--individuals <number>", description: "how many, such as 1e8" },
    { flags: "--visits <number>", description: "visits of an individual, on average", default: "6" },
    { flags: "--markers <number>", description: "markers on the map, each measured at every visit", default: "1" },
    { flags: "--noise <kind>", description: "measurement noise", default: "white", choices: ["white", "level"] },
    JOBS_OPTION,
  ],
  examples: ["dtm plan --individuals 1e8 --visits 6", "dtm plan --individuals 2e6 --markers 3 --noise level -j 16"],
  run: (_, options, { talk }) => {
    const cohort = plannedCohort(options);
    const machine = {
      jobs: jobsOf(options),
      memoryBytes: totalmem(),
      heapBytes: getHeapStatistics().heap_size_limit,
    };
    const rates = talk.during("Trial of the kernels", () => measureRates(cohort));
    const made = estimate(cohort, rates, machine);
    const { individuals, visits, markers, noise } = cohort;
    const observations = Math.round(individuals * visits * markers);
    const text = [
      line(
        "Cohort",
        `${counted(individuals, "individual")}, ${counted(observations, "observation")} of ${counted(markers, "marker")}, ${noise} noise`,
      ),
      line("Machine", `${counted(machine.jobs, "thread")}, ${sizeText(machine.memoryBytes)} of memory`),
      `\n${waysTable(made)}\n`,
      line("Way", WAYS[made.recommended ?? "none"](made)),
      line("Disk", `${sizeText(made.statisticsBytes)} of statistics`),
      `\n${line("Measured", measuredText(rates))}`,
      line("Assumed", assumedText(made)),
    ].join("\n");
    return { text, json: { ...cohort, observations, machine, secondsEach: rates, ...made } };
  },
};

function plannedCohort(options: Options): PlannedCohort {
  const asked = textOption(options, "individuals");
  if (asked === undefined) throw new UsageError("--individuals: expected how many there are, such as 1e8. Name it.");
  const individuals = positiveNumber("--individuals", asked);
  if (!Number.isInteger(individuals) || individuals < 10 || individuals > 1e12) {
    throw new UsageError(`--individuals: expected a whole number from 10 to 1e12, received "${asked}".`);
  }
  const visits = positiveNumber("--visits", textOption(options, "visits") ?? "6");
  if (visits < 1 || visits > 10_000) {
    throw new UsageError(`--visits: expected 1 to 10,000 of an individual, received ${visits}.`);
  }
  const markers = wholeNumber("--markers", textOption(options, "markers") ?? "1", 1, 8);
  return { individuals, visits, markers, noise: textOption(options, "noise") === "level" ? "level" : "white" };
}

const TITLES: Readonly<Record<Way, (parts: number) => string>> = {
  visits: () => "visits in one go",
  statistics: (parts) => `statistics, ${counted(parts, "file")}`,
  shards: (parts) => `${counted(parts, "job")} side by side`,
};

function waysTable({ ways }: Estimate): string {
  const stages = ways[0]!.stages.map(({ stage }) => stage);
  const rows = ways.map(({ way, parts, stages: own, seconds, memoryBytes, fits }) => [
    TITLES[way](parts),
    ...own.map((stage) => timeText(stage.seconds)),
    timeText(seconds),
    `${sizeText(memoryBytes)}${fits ? "" : ", too much"}`,
  ]);
  return table(["", ...stages, "together", "most memory"], rows);
}

const WAYS: Readonly<Record<Way | "none", (made: Estimate) => string>> = {
  visits: () => "dtm fit visits.csv -o run/",
  statistics: ({ ways }) =>
    `${partsText(partsOf(ways, "statistics"))} Then one fit: dtm fit --statistics parts/ -o run/. Statistics of several parts can be taken side by side.`,
  shards: ({ ways }) => {
    const jobs = partsOf(ways, "shards");
    return `${partsText(partsOf(ways, "statistics"))} Then ${counted(jobs, "job")} with a machine like this one each: dtm shards plan fit/ --statistics parts/ --shards ${jobs}, dtm shards run fit/ --shard K, and dtm shards reduce fit/ beside them. Or fit the map to some of the parts alone (dtm fit --statistics) and place the others with it (dtm embed).`;
  },
  none: () =>
    "none of them fits into this machine. Noise levels of several markers are fitted in one place: take --noise white, fit some of the individuals and place the others (dtm embed), or take a machine with more memory.",
};

function partsOf(ways: Estimate["ways"], way: Way): number {
  return ways.find((own) => own.way === way)?.parts ?? 1;
}

function partsText(parts: number): string {
  return `Statistics in ${counted(parts, "part")}: dtm statistics part-1.csv -o parts/1.parquet, then the others with --like parts/1.parquet.`;
}

function measuredText({ read, reduce, linear, pass, place, write }: Rates): string {
  const us = (seconds: number) => `${significant(1e6 * seconds, 2)} µs`;
  return `just now, CPU time on one thread: a visit read ${us(read)}, reduced ${us(reduce)}; an individual in the linear models ${us(linear)}, in a pass of the map ${us(pass)}, placed ${us(place)}, written ${us(write)}. All times above are extrapolated from these.`;
}

function assumedText({ schedule, passes }: Estimate): string {
  const many =
    schedule === "batch"
      ? `${passes} iterations over everybody`
      : `${SAMPLE_PASSES} passes over a sample and three over everybody`;
  return `${many} (jobs: ${whole(ITERATIONS)} iterations), as simulated registries took; each thread beyond the first adds ${THREAD_GAIN}, as measured with two; disks and networks keep up. Memory is counted from what a fit keeps. See docs/scaling.md.`;
}

/** A duration in the unit that suits it. */
function timeText(seconds: number): string {
  const [size, unit] =
    seconds < 90 ? [1, "s"] : seconds < 5_400 ? [60, "min"] : seconds < 172_800 ? [3_600, "h"] : [86_400, "days"];
  return `${significant(seconds / Number(size), 2)} ${unit}`;
}

function sizeText(bytes: number): string {
  return bytes < 2 ** 30 ? `${significant(bytes / 2 ** 20, 2)} MB` : `${significant(bytes / 2 ** 30, 2)} GB`;
}
