/** Messy tables of examples/messy: every command of their README reads its table, and the tables are those that their script makes. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, it } from "vitest";
import { ROOT } from "./root.ts";

const README = readFileSync(join(ROOT, "examples", "messy", "README.md"), "utf8");
const COMMANDS = [...README.matchAll(/`dtm ([^`]+)`/g)].map(([, command]) => command);

/** The words of a command, those in quotes as one. */
const words = (command: string) =>
  [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain);

describe("messy tables on the command line", () => {
  it("are ten", () => {
    expect(new Set(COMMANDS.map((command) => /\/(\d\d)-/.exec(command)?.[1])).size).toBe(10);
  });

  it.each(COMMANDS)("dtm %s", (command) => {
    const args = [join(ROOT, "packages", "cli", "bin", "dtm.mjs"), ...words(command), "--quiet"];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
    expect(stderr).not.toMatch(/error/);
    expect(status).toBe(0);
    expect(stdout).toMatch(/Cohort\s+40 individuals/);
  });

  it("are told what to say where something is to be said, once", () => {
    for (const [table, flag] of [
      ["02-us-dates.csv", "--date-order"],
      ["03-wide-months.csv", "--wide"],
      ["05-thousands.csv", "--thousands"],
    ]) {
      const args = [join(ROOT, "packages", "cli", "bin", "dtm.mjs"), "inspect", `examples/messy/${table}`];
      const { status, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
      expect(status).not.toBe(0);
      expect(stderr.match(/error:/g)).toHaveLength(1);
      expect(stderr).toContain(flag);
    }
  });
});
