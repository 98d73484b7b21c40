/** A million individuals and five million visits end to end through the built program; only with --large. */

import { onlyMarker } from "../../packages/core/src/cohort/cohort.ts";
import { alone, type BenchCase } from "../case.ts";
import { registry, writeVisits } from "../cohorts.ts";
import { runDtm, scratchFile } from "../peers.ts";

const EPOCHS = 5;

export const million: BenchCase = {
  name: "million",
  about: "m = 1,000,000 end to end, two threads (--large)",
  run: async ({ large, quick, say }) => {
    if (!large) return [alone("a million individuals end to end", "s", Number.NaN, { void: "only with --large" })];
    const m = quick ? 20_000 : 1_000_000;
    const cohort = registry(m);
    const rows = onlyMarker(cohort).times.length;
    say("visits");
    const path = writeVisits(cohort, "million.csv");
    say("ingest");
    const idle = await runDtm(["--version"]);
    const ingest = await runDtm(["fit", path, "--dry-run", "--json"]);
    const jobs = (await runDtm(["fit", "--help"])).out.includes("--jobs") ? ["-j", "2"] : [];
    const fitModel = async (model: string, noise = "white") => {
      say(`${model}, ${noise} noise`);
      const folder = scratchFile(`million-${model}-${noise}`);
      const command = ["fit", path, "--model", model, "--schedule", "svi", "--no-visits", "--json", "-o", folder];
      if (model === "dtm") command.push("--noise", noise);
      const run = await runDtm([...command, ...jobs]);
      const { run: record, milliseconds } = JSON.parse(run.out) as {
        readonly run: { readonly verdict: string; readonly iterations: number };
        readonly milliseconds: Readonly<Record<string, number>>;
      };
      const stages = Object.entries(milliseconds).map(([stage, ms]) => `${stage} ${(ms / 1000).toFixed(1)} s`);
      return { ...run, ...record, milliseconds, about: `${record.verdict} ${stages.join(", ")}` };
    };
    const map = await fitModel("dtm");
    const level = await fitModel("dtm", "level");
    const paper = await fitModel("dtm-paper");
    return [
      alone(`ingest of ${rows} CSV rows`, "s", ingest.wall, { goal: 15 }),
      alone("ingest, most memory per row beyond the idle program", "B", (ingest.peakBytes - idle.peakBytes) / rows, {
        goal: 60,
      }),
      alone("recommended map by minibatches and all placed, after ingest", "s", map.wall - ingest.wall, {
        goal: 60,
        note: map.about,
      }),
      alone("the same with noise levels", "s", level.wall - ingest.wall, { goal: 90, note: level.about }),
      alone("recommended map, most memory of the whole run", "MB", map.peakBytes / 2 ** 20),
      alone(`published map, ${EPOCHS} epochs`, "s", epochSeconds(paper), { goal: 35, note: paper.about }),
    ];
  },
};

/** Seconds of five epochs, by the record: the program runs more. */
function epochSeconds({
  iterations,
  milliseconds,
}: {
  iterations: number;
  milliseconds: Record<string, number>;
}): number {
  return ((milliseconds.map ?? Number.NaN) / 1000 / iterations) * EPOCHS;
}
