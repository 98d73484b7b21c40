/** The built program, with streams that are full, closed or gone: a result is whole or the exit code says that it is not. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run, smallCohort } from "../packages/cli/test/harness.ts";

const BIN = fileURLToPath(new URL("../packages/cli/bin/dtm.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "dtm-streams-"));
const VISITS = join(folder, "visits.csv");
const RUN = join(folder, "run");
const FIT = ["fit", VISITS, "--id", "patient", "--time", "years", "--value", "fvc", "--model", "lmm"];
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeAll(async () => {
  writeFileSync(VISITS, smallCohort(40).visits);
  expect((await run(...FIT, "-o", RUN, "-q")).code).toBe(0);
});

async function ended(child: ChildProcess): Promise<{ code: number | null; talk: string }> {
  let talk = "";
  child.stderr?.on("data", (bytes) => {
    talk += String(bytes);
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, talk };
}

/** A line for the shell, in which $DTM is the program. */
function shell(line: string) {
  const env = { ...process.env, DTM: `"${process.execPath}" "${BIN}"` };
  return ended(spawn("sh", ["-c", line.replaceAll("$DTM", env.DTM)], { stdio: ["ignore", "ignore", "pipe"] }));
}

const PREDICT = `$DTM predict "${RUN}" "${VISITS}" --at 0:10:0.25 -q`;

describe.skipIf(process.platform === "win32")("standard output", () => {
  it("that takes a part of a result and no more is exit code 4, with words", async () => {
    const out = join(folder, "cut.csv");
    // A file may have 16 blocks: what fits is written, and the rest is not.
    const { code, talk } = await shell(`ulimit -f 16; ${PREDICT} > "${out}"`);
    expect(readFileSync(out, "utf8").length).toBeGreaterThan(0);
    expect([code, talk]).toEqual([4, expect.stringContaining("What was printed is not whole")]);
  });

  it.skipIf(!existsSync("/dev/full"))("that is a full disk is exit code 4, for results and for help", async () => {
    const all = await Promise.all([shell(`${PREDICT} > /dev/full`), shell("$DTM --help > /dev/full")]);
    for (const { code, talk } of all) {
      expect([code, talk]).toEqual([4, expect.stringContaining("the disk is full")]);
    }
  });

  it("whose reader has seen enough is no failure", async () => {
    const { code, talk } = await shell(`{ ${PREDICT}; echo "code $?" >&2; } | head -n 1`);
    expect([code, talk]).toEqual([0, "code 0\n"]);
  });

  it("is left alone by -o, which writes the file whole or not at all", async () => {
    const out = join(folder, "courses.csv");
    writeFileSync(out, "before");
    const { code, talk } = await shell(`ulimit -f 16; ${PREDICT} -o "${out}" --force`);
    expect([code, talk]).toEqual([4, expect.stringContaining("Existing files were not changed")]);
    expect(readFileSync(out, "utf8")).toBe("before");
  });
});

describe.skipIf(process.platform === "win32")("a fit", () => {
  it("ends whole without standard error, without standard output, and after a hang-up without a terminal", async () => {
    const at = (name: string) => join(folder, name);
    const piped = spawn(process.execPath, [BIN, ...FIT, "-o", at("piped")], { stdio: ["ignore", "pipe", "pipe"] });
    piped.stdout.destroy();
    piped.stderr.destroy();
    const hung = spawn(process.execPath, [BIN, ...FIT, "-o", at("hung"), "--progress", "json"], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    // It listens from its first event on.
    hung.stderr.on("data", (bytes) => {
      if (String(bytes).includes('"start"')) hung.kill("SIGHUP");
    });
    hung.stdout.resume();
    const found = await Promise.all([ended(piped), ended(hung)]);
    expect(found.map(({ code }) => code)).toEqual([0, 0]);
    for (const name of ["piped", "hung"]) {
      expect(readFileSync(join(at(name), "model.json"), "utf8")).toBe(readFileSync(join(RUN, "model.json"), "utf8"));
    }
  });
});
