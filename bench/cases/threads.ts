/** What two threads gain over one in a fit of 100,000 individuals, through the built program. */
import { alone, type BenchCase, type Row } from "../case.ts";
import { registry, writeVisits } from "../cohorts.ts";
import { compileC, runDtm, scratchFile, startChild } from "../peers.ts";

const ROUNDS = 2;
/** Below this, two threads that share nothing gain too little for the machine to be judged on. */
const LEAST_OF_C = 1.8;

export const threads: BenchCase = {
  name: "threads",
  about: "speed-up on two cores, m = 100,000, recommended map by minibatches and all placed",
  run: async ({ quick, say }) => {
    const { out: help } = await runDtm(["fit", "--help"]);
    if (!help.includes("--jobs")) {
      return [alone("speed-up on two cores", "x", Number.NaN, { void: "dtm fit has no --jobs here" })];
    }
    const m = quick ? 5000 : 100_000;
    const path = writeVisits(registry(m), "threads.csv");
    const args = (jobs: number) => [
      ...["fit", path, "--schedule", "svi", "--no-visits", "--json", "--force"],
      ...["-o", scratchFile("threads-run"), "-j", String(jobs)],
    ];
    const child = startChild(compileC("threads", ["-lpthread"]));
    let [control, ingest, one, two] = [0, ...new Array<number>(3).fill(Number.POSITIVE_INFINITY)];
    for (let round = 0; round < (quick ? 1 : ROUNDS); round++) {
      if (child !== undefined) control = Math.max(control, (await child.ask("run 2 200"))[2]);
      ingest = Math.min(ingest, (await runDtm(["fit", path, "--dry-run", "--json"])).wall);
      say("one thread");
      one = Math.min(one, (await runDtm(args(1))).wall);
      say("two threads");
      two = Math.min(two, (await runDtm(args(2))).wall);
    }
    child?.close();
    return [speedUp(m, (one - ingest) / (two - ingest), child === undefined ? undefined : control)];
  },
};

function speedUp(m: number, figure: number, control: number | undefined): Row {
  const about =
    control === undefined ? "no C compiler here" : `two threads of a bare C loop gain ${control.toFixed(2)}x`;
  const busy = control !== undefined && control < LEAST_OF_C;
  return alone(`speed-up on two cores, m = ${m}, fit and places after ingest`, "x", figure, {
    goal: 1.7,
    atLeast: true,
    note: about,
    ...(busy ? { void: `the machine was busy: ${about}` } : {}),
  });
}
