/** dtm demo: a whole study, command by command, on the bundled cohort or on simulated registries. */
import { join } from "node:path";
import { DEFAULT_MODELS } from "@trajectory-maps/core/study";
import { commandOf } from "../command-line.ts";
import { bundledFile } from "../io/read.ts";
import { associate } from "./associate.ts";
import { type Command, type CommandResult, type Context, JOBS_OPTION, type Options, textOption } from "./command.ts";
import { compare } from "./compare.ts";
import { fit } from "./fit.ts";
import { groups } from "./groups.ts";
import { seedOf } from "./numbers.ts";
import { report } from "./report.ts";
import { simulate } from "./simulate.ts";

interface DemoStudy {
  readonly title: string;
  readonly folder: string;
  readonly visits: string;
  readonly subjects: string;
  readonly outcomes: string;
  readonly columns: Options;
  readonly event?: string;
  readonly better: "high" | "low";
  /** Smaller numbers where a cohort is large: the demo is to be looked at, not waited for. */
  readonly folds: string;
  readonly stability: string;
}

const PBC_OUTCOMES = "death,transplant,ascites_ever,hepatomegaly_ever,spiders_ever,edema_ever";

export const demo: Command = {
  name: "demo",
  description: "A whole study of the bundled cohort: fit, groups, comparison, outcomes and the report, into out/.",
  arguments: [],
  options: [
    { flags: "--scleroderma", description: "simulated lung function and skin scores instead" },
    { flags: "-o, --out <folder>", description: "folder for results", default: "out" },
    JOBS_OPTION,
  ],
  examples: ["dtm demo", "dtm demo --scleroderma --seed 7 -o elsewhere"],
  run: async (_, options, context) => {
    const out = textOption(options, "out") ?? "out";
    // The demo's own folder may be written over; any other may not.
    const shared = { ...options, force: out === "out" };
    const studies = options.scleroderma === true ? await scleroderma(out, shared, context) : [pbc(out)];
    const results: CommandResult[] = [];
    for (const study of studies) results.push(await runStudy(study, shared, context));
    return { text: results.map(({ text }) => text).join("\n\n\n"), json: results.map(({ json }) => json) };
  },
};

function pbc(out: string): DemoStudy {
  return {
    title: "Primary biliary cholangitis: serum bilirubin of 312 people in the Mayo Clinic trial",
    folder: join(out, "pbc"),
    visits: bundledFile("visits.csv"),
    subjects: bundledFile("subjects.csv"),
    outcomes: PBC_OUTCOMES,
    columns: {
      id: "id",
      time: "time",
      value: "bili",
      transform: "log",
      marker: "bilirubin",
      unit: "mg/dl",
      timeUnit: "years",
    },
    event: "death_or_transplant:followup_years",
    better: "low",
    folds: "10",
    stability: "6",
  };
}

async function scleroderma(out: string, options: Options, context: Context): Promise<DemoStudy[]> {
  const studies: DemoStudy[] = [];
  for (const marker of ["pfvc", "tss"] as const) {
    const folder = join(out, marker);
    await simulate.run(
      [marker],
      { seed: textOption(options, "seed"), out: join(folder, "data"), force: options.force },
      context,
    );
    const lung = marker === "pfvc";
    studies.push({
      title: lung
        ? "Simulated scleroderma registry: percent of predicted forced vital capacity"
        : "Simulated scleroderma registry: total skin score",
      folder,
      visits: join(folder, "data", "visits.csv"),
      subjects: join(folder, "data", "subjects.csv"),
      outcomes: [
        "congestive heart failure",
        "pulmonary hypertension",
        "pulmonary arterial hypertension",
        "gastrointestinal",
        "myositis",
        "interstitial lung disease",
        "ulcers and gangrene",
      ].join(","),
      columns: {
        id: "id",
        time: "time",
        value: "value",
        marker: lung ? "PFVC" : "TSS",
        unit: lung ? "% predicted" : "points",
        timeUnit: "years",
      },
      better: lung ? "high" : "low",
      folds: "3",
      stability: "3",
    });
  }
  return studies;
}

/** Runs the commands of a study one after the other; their pages, and the commands to paste. */
async function runStudy(study: DemoStudy, options: Options, context: Context): Promise<CommandResult> {
  const { folder, visits, subjects, outcomes, event, better, folds, stability, columns } = study;
  const seed = String(seedOf(options));
  const shared = { seed, force: options.force, jobs: options.jobs };
  context.talk.say(`${study.title}\n`);
  const withEvent = event === undefined ? {} : { event };
  const named = { fit, groups, compare, associate, report };
  // Each command is recorded as one would type it.
  const step = (name: keyof typeof named, args: readonly string[], own: Options) =>
    named[name].run(args, { ...shared, ...own }, { ...context, commandLine: commandOf(name, args, { ...own, seed }) });
  const steps = [
    await step("fit", [visits], { ...columns, out: folder }),
    await step("groups", [folder], { better, stability }),
    await step("compare", [folder], { models: DEFAULT_MODELS.join(","), folds }),
    await step("associate", [folder, subjects], { ...withEvent, outcomes }),
    await step("report", [folder], { ...withEvent, subjects, outcomes, better }),
  ];
  const pages = steps.map(({ text }) => text.replace(/\n+Written {3}[\s\S]*$/, ""));
  const names = ["fit", "groups", "compare", "associate", "report"];
  return {
    text: [
      study.title,
      ...pages.slice(0, -1),
      pages.at(-1) ?? "",
      `Run       ${folder} (model, places, groups and results as files)`,
    ].join("\n\n"),
    json: { title: study.title, folder, ...Object.fromEntries(steps.map(({ json }, k) => [names[k] ?? "", json])) },
  };
}
