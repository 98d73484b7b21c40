/**
 * npm run test:slow: SIGINT, SIGTERM and SIGHUP sent to every command of the built program at moments that nobody chose. What a command writes
 * is there as before or as after, byte for byte; the exit code is that of the signal, or 0 where the work was done. SIGNALS says how many for each
 * writing command (default 30).
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { contents } from "../packages/cli/test/faults.ts";
import { createRandom } from "../packages/core/src/numeric/random.ts";
import { COLUMNS, done, dtm, type Ended, endOften, makePlace, type Place, told, WRITERS } from "./interrupted.ts";

const SIGNALS = Number(process.env.SIGNALS ?? "30");
const PATIENCE = SIGNALS * 240_000;
const KINDS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const CODES: Readonly<Record<string, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
const random = createRandom(2);
let place: Place;
beforeAll(async () => {
  place = await makePlace();
});
afterAll(() => place.clear());

/** As shells count: a program that a signal ended has 128 and its number. */
function expectCode({ code, signal: by, talk }: Ended, signal: NodeJS.Signals): void {
  const found = by === null ? code : CODES[by];
  expect([0, CODES[signal]], talk).toContain(found);
}

it.each(Object.entries(WRITERS))(
  `%s: ${SIGNALS} signals, the bytes of before or of after`,
  async (name, writer) => {
    const tally = await endOften(place, writer, KINDS, SIGNALS, () => random.uniform(), expectCode);
    process.stdout.write(told(name, tally));
  },
  PATIENCE,
);

const visits = ["TABLES/visits.csv", ...COLUMNS];
const READERS: Record<string, readonly string[]> = {
  inspect: ["inspect", ...visits],
  summary: ["summary", "BASE"],
  coef: ["coef", "BASE"],
  covariates: ["covariates", "BASE", "--subjects", "TABLES/subjects.csv", "--covariates", "months", "--draws", "99"],
  predict: ["predict", "BASE", ...visits, "--at", "1"],
  plan: ["plan", "--individuals", "1000"],
  "config show": ["config", "show", "fit"],
};

it.each(Object.entries(READERS))(
  "%s changes nothing, whenever it is ended",
  async (_, argv) => {
    const before = [contents(place.at("base")), contents(place.at("tables"))];
    const { took } = await done(...place.typed(argv));
    for (const signal of KINDS) {
      expectCode(await dtm(place.typed(argv), { after: random.uniform() * took }, signal), signal);
    }
    expect([contents(place.at("base")), contents(place.at("tables"))]).toEqual(before);
  },
  PATIENCE,
);

it(
  `fit of a map: ${SIGNALS} signals; it keeps its state, says how to go on, and ends with the same model`,
  async () => {
    const run = place.at("fitted");
    const quick = ["--restarts", "1", "-j", "1", "-q"];
    const argv = ["fit", place.at("tables", "visits.csv"), ...COLUMNS, "-o", run, ...quick];
    const { took } = await done(...argv);
    const digest = () =>
      createHash("sha256")
        .update(readFileSync(join(run, "model.json")))
        .digest("hex");
    const expected = digest();
    let [ended, kept, finished] = [0, 0, 0];
    while (ended + finished < SIGNALS) {
      const state = join(run, "unfinished", "checkpoint.json");
      const isKept = existsSync(state);
      const next = isKept ? ["fit", "--resume", run, "-q", "-j", "1"] : [...argv, "--force"];
      const signal = KINDS[(ended + finished) % 3] ?? "SIGINT";
      const result = await dtm(next, { after: random.uniform() * took }, signal);
      expectCode(result, signal);
      if (result.code === 0) finished++;
      else ended++;
      // Heard, not cut down: there is a state, and the words say how to go on from it.
      if (result.code !== null && result.code !== 0) {
        kept++;
        expect([existsSync(state), result.talk]).toEqual([true, expect.stringContaining("--resume")]);
      }
      expect(digest()).toBe(expected);
    }
    if (existsSync(join(run, "unfinished"))) await done("fit", "--resume", run, "-q");
    expect(digest()).toBe(expected);
    process.stdout.write(
      `fit: ${ended} times ended, ${kept} of them with its state kept; finished ${finished} times\n`,
    );
  },
  PATIENCE,
);

it("a fit that is stopped for a while and continued, as by a machine that sleeps, ends with the same model", async () => {
  const run = place.at("slept");
  const argv = ["fit", place.at("tables", "visits.csv"), ...COLUMNS, "-o", run, "--restarts", "1", "-j", "1", "-q"];
  const { took } = await done(...argv);
  const expected = contents(run);
  const { code } = await dtm([...argv, "--force"], { after: random.uniform() * took }, "SIGSTOP", 1000);
  expect([code, contents(run)["model.json"]]).toEqual([0, expected["model.json"]]);
});
