/**
 * npm run test:slow: the built program ended by kill -9 at moments that nobody chose. A fit goes on from its last state and ends with the
 * same model, byte for byte, and so does a study; the run that was there stays whole until the new one is; every other writing command
 * leaves the bytes of before or of after. KILLS says how many of each (default 100).
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { contents } from "../packages/cli/test/faults.ts";
import { createRandom } from "../packages/core/src/numeric/random.ts";
import { COLUMNS, done, dtm, endOften, makePlace, type Place, told, WRITERS } from "./interrupted.ts";

const KILLS = Number(process.env.KILLS ?? "100");
const random = createRandom(1);
/** Enough for a machine with much else to do. */
const PATIENCE = KILLS * 120_000;
const quick = ["--restarts", "1", "-j", "1", "-q"];
let place: Place;
beforeAll(async () => {
  place = await makePlace();
});
afterAll(() => place.clear());

const digest = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

it.each(Object.entries(WRITERS))(
  `%s: ${KILLS} kills, the bytes of before or of after`,
  async (name, writer) => {
    const tally = await endOften(place, writer, ["SIGKILL"], KILLS, () => random.uniform());
    process.stdout.write(told(name, tally));
  },
  PATIENCE,
);

it(
  `fit of a map: ${KILLS} kills, no run lost, the same model byte for byte`,
  async () => {
    const run = place.at("fitted");
    const model = join(run, "model.json");
    const argv = ["fit", place.at("tables", "visits.csv"), ...COLUMNS, "-o", run, ...quick, "--checkpoint", "0.1"];
    const { took } = await done(...argv);
    const expected = digest(model);
    const old = contents(run);
    let [kills, resumed, finished, longest] = [0, 0, 0, 0];
    while (kills < KILLS) {
      const isResumed = existsSync(join(run, "unfinished", "checkpoint.json"));
      const [next, began] = [
        isResumed ? ["fit", "--resume", run, "-q", "-j", "1", "--checkpoint", "0.1"] : [...argv, "--force"],
        Date.now(),
      ];
      const { code, talk } = await dtm(next, { after: random.uniform() * 1.1 * took });
      if (code === null) {
        kills++;
        if (isResumed) resumed++;
        const kept = ["checkpoint.json", "checkpoint-previous.json"]
          .map((name) => join(run, "unfinished", name))
          .find(existsSync);
        const last = kept === undefined ? began : Math.max(began, statSync(kept).mtimeMs);
        longest = Math.max(longest, Date.now() - last);
      } else {
        expect([code, talk]).toEqual([0, expect.anything()]);
        finished++;
      }
      // What is there is whole, whoever wrote it: read without the help of the program, unless it was ended while files were put in place.
      if (!existsSync(join(run, ".dtm-commit"))) {
        const rest = Object.entries(contents(run)).filter(([name]) => !name.startsWith("unfinished"));
        expect(rest.map(([name]) => name)).toEqual(Object.keys(old));
        expect(digest(model)).toBe(expected);
      }
    }
    if (existsSync(join(run, "unfinished"))) await done("fit", "--resume", run, "-q");
    await done("summary", run, "-q");
    expect(digest(model)).toBe(expected);
    process.stdout.write(
      `fit: ${kills} kills, ${resumed} of them of a resumed fit; ${finished} fits ended meanwhile; at most ${longest} ms of work since the last state or the start; every model the same\n`,
    );
  },
  PATIENCE,
);

it(
  `study: ${KILLS} kills; given again it goes on, and ends with the same bytes`,
  async () => {
    const run = place.at("studied");
    const files = [place.at("tables", "visits.csv"), place.at("tables", "subjects.csv")];
    const without = ["--model", "lmm", "--without", "sensitivity,compare,report", "--stability", "0"];
    const argv = ["study", ...files, ...COLUMNS, ...without, "--outcomes", "severe", "--draws", "99", "-o", run];
    const typed = [...argv, "-j", "1", "-q"];
    const { took } = await done(...typed);
    const after = contents(run);
    const put = () => {
      rmSync(run, { recursive: true });
      cpSync(place.at("base"), run, { recursive: true });
    };
    put();
    let [kills, ended, isBegun] = [0, 0, false];
    while (kills < KILLS) {
      const { code, talk } = await dtm([...typed, ...(isBegun ? [] : ["--force"])], {
        after: random.uniform() * 1.1 * took,
      });
      if (code === null) kills++;
      else expect([code, talk]).toEqual([0, expect.anything()]);
      await done("summary", run, "-q");
      isBegun = [run, join(run, "unfinished")].some((folder) => existsSync(join(folder, "protocol.json")));
      if (code !== 0) continue;
      ended++;
      expect(contents(run)).toEqual(after);
      put();
      isBegun = false;
    }
    await done(...typed, ...(isBegun ? [] : ["--force"]));
    expect(contents(run)).toEqual(after);
    process.stdout.write(`study: ${kills} kills; ${ended} studies ended meanwhile, every one with the same bytes\n`);
  },
  PATIENCE,
);
