/** dtm demo: a whole study by one file of settings, on the bundled cohort or on simulated registries. */
import { join } from "node:path";
import { readConfig } from "../config.ts";
import { UsageError } from "../exit-codes.ts";
import { whileLocked } from "../io/lock.ts";
import { digestInput, hasProtocol, holdsOnly } from "../io/protocol.ts";
import { bundledFile, fileExists } from "../io/read.ts";
import { type Command, type CommandResult, type Context, JOBS_OPTION, type Options, textOption } from "./command.ts";
import { simulate } from "./simulate.ts";
import { decided, study } from "./study.ts";

interface DemoStudy {
  readonly title: string;
  readonly folder: string;
  readonly visits: string;
  readonly subjects: string;
  readonly settings: Options;
  /** The registry to simulate first, and where. */
  readonly simulated?: { readonly what: string; readonly folder: string };
}

export const demo: Command = {
  name: "demo",
  description:
    "A whole study of the bundled cohort: fit, groups, comparison, outcomes and the report, into out/pbc. What an earlier demo left there is written over, and nothing else.",
  arguments: [],
  options: [
    { flags: "--scleroderma", description: "two simulated registries instead, into out/pfvc and out/tss" },
    { flags: "-o, --out <folder>", description: "folder for the folders of results", default: "out" },
    JOBS_OPTION,
  ],
  examples: ["dtm demo", "dtm demo --scleroderma --seed 7 -o elsewhere"],
  run: async (_, options, context) => {
    const out = textOption(options, "out") ?? "out";
    const shared = { seed: textOption(options, "seed") ?? "1", jobs: options.jobs, force: true };
    const studies = options.scleroderma === true ? scleroderma(out) : [await pbc(out)];
    for (const asked of studies) await checkOwn(asked);
    const results: CommandResult[] = [];
    for (const asked of studies) {
      await simulateFor(asked, shared, context);
      const { title, folder, visits, subjects, settings } = asked;
      context.talk.say(`${title}\n`);
      const { originOf: __, ...own } = context;
      const result = await whileLocked(folder, () =>
        study.run([visits, subjects], { ...settings, ...shared, out: folder }, own),
      );
      results.push({ text: `${title}\n\n${result.text}`, json: { title, ...(result.json as object) } });
    }
    return { text: results.map(({ text }) => text).join("\n\n\n"), json: results.map(({ json }) => json) };
  },
};

/** Refuses to write over anything but what an earlier demo left. */
export async function checkOwn({ folder, visits, subjects, settings, simulated }: DemoStudy): Promise<void> {
  const inputs = await Promise.all([visits, subjects].map(digestInput));
  const isOwn = holdsOnly(folder, { inputs, settings: decided(settings) });
  const other = !isOwn ? folder : simulated !== undefined && isLeft(simulated.folder, folder) ? simulated.folder : "";
  if (other === "") return;
  throw new UsageError(
    `${other}: expected a new folder or one that dtm demo has written, received another. Name a folder for the demo with -o.`,
  );
}

/** Tables that no study beside them tells to be of a demo. */
function isLeft(data: string, folder: string): boolean {
  return fileExists(data) && !hasProtocol(folder);
}

async function simulateFor({ simulated }: DemoStudy, { seed, force }: Options, context: Context): Promise<void> {
  if (simulated === undefined) return;
  const { what, folder } = simulated;
  await whileLocked(folder, () => simulate.run([what], { seed, out: folder, force }, context));
}

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

function scleroderma(out: string): DemoStudy[] {
  return ["pfvc", "tss"].map((marker) => {
    const folder = join(out, marker);
    const data = join(out, `${marker}-data`);
    const lung = marker === "pfvc";
    return {
      title: lung
        ? "Simulated scleroderma registry: percent of predicted forced vital capacity"
        : "Simulated scleroderma registry: total skin score",
      folder,
      simulated: { what: marker, folder: data },
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
    };
  });
}
