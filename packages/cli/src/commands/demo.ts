/** dtm demo: a whole study by one file of settings, on the bundled cohort or on simulated registries. */
import { join } from "node:path";
import { readConfig } from "../config.ts";
import { bundledFile } from "../io/read.ts";
import { type Command, type CommandResult, type Context, JOBS_OPTION, type Options, textOption } from "./command.ts";
import { simulate } from "./simulate.ts";
import { study } from "./study.ts";

interface DemoStudy {
  readonly title: string;
  readonly folder: string;
  readonly visits: string;
  readonly subjects: string;
  readonly settings: Options;
}

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
    const shared = { seed: textOption(options, "seed") ?? "1", jobs: options.jobs, force: out === "out" };
    const studies = options.scleroderma === true ? await scleroderma(out, shared, context) : [await pbc(out)];
    const results: CommandResult[] = [];
    for (const { title, folder, visits, subjects, settings } of studies) {
      context.talk.say(`${title}\n`);
      const { originOf: __, ...own } = context;
      const result = await study.run([visits, subjects], { ...settings, ...shared, out: folder }, own);
      results.push({ text: `${title}\n\n${result.text}`, json: { title, ...(result.json as object) } });
    }
    return { text: results.map(({ text }) => text).join("\n\n\n"), json: results.map(({ json }) => json) };
  },
};

async function pbc(out: string): Promise<DemoStudy> {
  return {
    title: "Primary biliary cholangitis: serum bilirubin of 312 people in the Mayo Clinic trial",
    folder: join(out, "pbc"),
    visits: bundledFile("visits.csv"),
    subjects: bundledFile("subjects.csv"),
    settings: (await readConfig(bundledFile("study.yaml"), study, async () => [study])) as Options,
  };
}

const SCLERODERMA_OUTCOMES = [
  "congestive heart failure",
  "pulmonary hypertension",
  "pulmonary arterial hypertension",
  "gastrointestinal",
  "myositis",
  "interstitial lung disease",
  "ulcers and gangrene",
];

async function scleroderma(out: string, options: Options, context: Context): Promise<DemoStudy[]> {
  const studies: DemoStudy[] = [];
  for (const marker of ["pfvc", "tss"] as const) {
    const folder = join(out, marker);
    const data = join(out, `${marker}-data`);
    await simulate.run([marker], { seed: options.seed, out: data, force: options.force }, context);
    const lung = marker === "pfvc";
    studies.push({
      title: lung
        ? "Simulated scleroderma registry: percent of predicted forced vital capacity"
        : "Simulated scleroderma registry: total skin score",
      folder,
      visits: join(data, "visits.csv"),
      subjects: join(data, "subjects.csv"),
      settings: {
        ...{ id: "id", time: "time", value: "value", timeUnit: "years" },
        ...(lung ? { marker: "PFVC", unit: "% predicted" } : { marker: "TSS", unit: "points" }),
        better: lung ? "high" : "low",
        outcomes: SCLERODERMA_OUTCOMES.join(","),
        // Large cohorts: the demo is to be looked at, not waited for.
        ...{ folds: "3", stability: "3", without: "sensitivity" },
      },
    });
  }
  return studies;
}
