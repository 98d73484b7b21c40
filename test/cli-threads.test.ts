/** The built program, as a person starts it: threads change nothing. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const BIN = fileURLToPath(new URL("../packages/cli/bin/dtm.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "dtm-threads-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the program to its end. */
function start(argv: readonly string[]): Promise<{ code: number | null; out: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BIN, ...argv], { stdio: ["ignore", "pipe", "ignore"] });
    let out = "";
    child.stdout.on("data", (bytes) => {
      out += String(bytes);
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out }));
  });
}

describe("the built program", () => {
  it("gives the same bytes with one thread and with two", async () => {
    const data = join(folder, "data");
    expect((await start(["simulate", "tss", "--individuals", "60", "-o", data])).code).toBe(0);
    const visits = join(data, "visits.csv");
    expect((await start(["fit", visits, "--model", "fpca", "-o", join(folder, "run")])).code).toBe(0);
    const commands = [
      ["compare", visits, "--models", "lmm,fpca", "--folds", "2", "--json"],
      ["groups", join(folder, "run"), "--groups", "2", "--stability", "2", "--json", "--force"],
      [
        "associate",
        join(folder, "run"),
        join(data, "subjects.csv"),
        "--outcomes",
        "myositis",
        "--draws",
        "99",
        "--json",
        "--force",
      ],
    ];
    for (const command of commands) {
      const one = await start([...command, "-j", "1"]);
      const two = await start([...command, "-j", "2"]);
      expect([one.code, two.code]).toEqual([0, 0]);
      expect(two.out).toBe(one.out);
    }
  });

  it("fits and places a cohort with the same bytes on one, two and four threads", async () => {
    const data = join(folder, "many");
    expect((await start(["simulate", "tss", "--individuals", "5000", "-o", data])).code).toBe(0);
    const runs = await Promise.all(
      ["1", "2", "4"].map(async (jobs) => {
        const out = join(folder, `jobs-${jobs}`);
        const { code } = await start([
          "fit",
          join(data, "visits.csv"),
          "--dim",
          "1",
          "--schedule",
          "svi",
          "--restarts",
          "0",
          "--tolerance",
          "0.1",
          "-j",
          jobs,
          "-o",
          out,
        ]);
        expect(code).toBe(0);
        return ["model.json", "placements.csv", "visits.csv"].map((name) => readFileSync(join(out, name), "utf8"));
      }),
    );
    expect(runs[1]).toEqual(runs[0]);
    expect(runs[2]).toEqual(runs[0]);
  });
});
