/** What two threads gain over one in a fit of 100,000 individuals, through the built program. */
import { alone, type BenchCase, type Row } from "../case.ts";
import { registry, writeVisits } from "../cohorts.ts";
import { compileC, runDtm, scratchFile, startChild } from "../peers.ts";

/** Runs with one and with two threads in turn; the least time of each counts. */
const ROUNDS = 4;
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
    const folder = scratchFile("threads-run");
    const args = (jobs: number) => [
      ...["fit", path, "--schedule", "svi", "--no-visits", "--json", "--force"],
      ...["-o", folder, "-j", String(jobs)],
    ];
    const child = startChild(compileC("threads", ["-lpthread"]));
    let [control, ingest] = [0, Number.POSITIVE_INFINITY];
    let one = NEVER;
    let two = NEVER;
    const fitted = async (jobs: number, best: Seconds): Promise<Seconds> => {
      const { wall, out } = await runDtm(args(jobs));
      const { milliseconds } = JSON.parse(out) as { milliseconds: { map: number } };
      return { wall: Math.min(best.wall, wall), map: Math.min(best.map, milliseconds.map / 1000) };
    };
    for (let round = 0; round < (quick ? 1 : ROUNDS); round++) {
      if (child !== undefined) control = Math.max(control, (await child.ask("run 2 200"))[2]);
      ingest = Math.min(ingest, (await runDtm(["fit", path, "--dry-run", "--json"])).wall);
      say("one thread");
      one = await fitted(1, one);
      say("two threads");
      two = await fitted(2, two);
    }
    child?.close();
    const calm = child === undefined ? undefined : control;
    return [
      speedUp(`speed-up on two cores, m = ${m}, map alone`, one.map / two.map, calm),
      speedUp(`speed-up on two cores, m = ${m}, all after ingest`, (one.wall - ingest) / (two.wall - ingest), calm),
    ];
  },
};

/** Seconds of a whole fit and of its map stage. */
interface Seconds {
  readonly wall: number;
  readonly map: number;
}

const NEVER: Seconds = { wall: Number.POSITIVE_INFINITY, map: Number.POSITIVE_INFINITY };

function speedUp(what: string, figure: number, control: number | undefined): Row {
  const about =
    control === undefined ? "no C compiler here" : `two threads of a bare C loop gain ${control.toFixed(2)}x`;
  const busy = control !== undefined && control < LEAST_OF_C;
  return alone(what, "x", figure, {
    goal: 1.7,
    atLeast: true,
    note: about,
    ...(busy ? { void: `the machine was busy: ${about}` } : {}),
  });
}
