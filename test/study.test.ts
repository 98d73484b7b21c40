/** dtm study, through the built program: killed and stopped on the way, it ends with the bytes of a study that nothing disturbed. */
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, it } from "vitest";
import { CONTRACTS } from "../packages/cli/src/contracts.ts";
import { smallCohort } from "../packages/cli/test/harness.ts";
import { ROOT } from "./root.ts";

const folder = mkdtempSync(join(tmpdir(), "dtm-study-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { visits, subjects } = smallCohort(60);
writeFileSync(join(folder, "visits.csv"), visits);
writeFileSync(join(folder, "subjects.csv"), subjects);
// A map of one dimension: what is done again does not depend on it.
const SETTINGS = `id: patient
time: years
value: fvc
time-unit: years
dim: 1
stability: 2
folds: 2
models: [lmm, dtm]
groups: 2
outcomes: [severe, ward=2]
draws: 199
sensitivity: seed
sensitivity-folds: 0
`;
writeFileSync(join(folder, "study.yaml"), SETTINGS);

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly talk: string;
}

/** Runs a study into `out`; `stop` names a piece of work at whose beginning the signal is sent. */
function study(out: string, stop?: { readonly at: string; readonly signal: NodeJS.Signals }, ...more: string[]) {
  const args = ["study", "visits.csv", "subjects.csv", "--config", "study.yaml", "-o", out, "--progress", "json"];
  const child = spawn(process.execPath, [join(ROOT, "packages/cli/bin/dtm.mjs"), ...args, ...more], { cwd: folder });
  let [text, talk] = ["", ""];
  child.stdout.on("data", (bytes) => {
    text += String(bytes);
  });
  createInterface({ input: child.stderr }).on("line", (line) => {
    talk += `${line}\n`;
    if (stop === undefined || !line.startsWith("{")) return;
    const { event, title } = JSON.parse(line) as { event: string; title?: string };
    if (event === "start" && title === stop.at) child.kill(stop.signal);
  });
  return new Promise<Ended>((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal, out: text, talk }));
  });
}

/** Every file under a folder with its bytes, by its path. */
function bytesOf(root: string): Record<string, string> {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).map((name) => join(root, name));
  return Object.fromEntries(
    files
      .filter((path) => statSync(path).isFile())
      .sort()
      .map((path) => [relative(root, path), readFileSync(path, "latin1")]),
  );
}

describe("dtm study", () => {
  it("goes on where it stopped, and ends with the same bytes", async () => {
    const plain = await study("plain/run");
    expect(plain.code, plain.talk).toBe(0);
    const stopped = await study("other/run", { at: "Trajectory map", signal: "SIGTERM" });
    expect(stopped.code).toBe(143);
    expect(stopped.talk).toContain("Give the same study again to go on");
    const killed = await study("other/run", { at: "Stability under refits", signal: "SIGKILL" });
    expect(killed.signal).toBe("SIGKILL");
    // Stopped in a step after the fit: the same words, and nobody has to take over a lock.
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const later = await study("other/run", { at: "Stability under refits", signal });
      expect(later.signal).toBe(signal);
      expect(later.talk).toContain("what is done is kept. Give the same study again to go on");
      expect(readdirSync(join(folder, "other/run"))).not.toContain(".dtm-lock");
    }
    const again = await study("other/run", { at: "2-fold cross-validation", signal: "SIGKILL" });
    expect(again.signal).toBe("SIGKILL");
    const ended = await study("other/run");
    expect(ended.code, ended.talk).toBe(0);
    // What was done before is not done again.
    expect(ended.talk).not.toContain("Trajectory map");
    expect(ended.out).toContain("groups: done before");
    const [first, second] = [bytesOf(join(folder, "plain")), bytesOf(join(folder, "other"))];
    expect(Object.keys(second)).toEqual(Object.keys(first));
    for (const [name, bytes] of Object.entries(first)) expect(second[name] === bytes, name).toBe(true);
    // The protocol says what was decided, and with which commands it is done by hand.
    const { inputs, settings, steps } = JSON.parse(first["run/protocol.json"]) as {
      inputs: { name: string; sha256: string }[];
      settings: Record<string, string>;
      steps: { name: string; command: string }[];
    };
    expect(inputs.map(({ name }) => name)).toEqual(["visits.csv", "subjects.csv"]);
    expect(settings).toMatchObject({ id: "patient", folds: "2", "time-unit": "years" });
    expect(steps[2].command).toBe("dtm groups run --groups 2 --stability 2 --seed 1");
    const results = JSON.parse(first["run/results.json"]) as Record<string, unknown>;
    expect(CONTRACTS.study.safeParse({ folder: "", ...results }).error?.issues ?? []).toEqual([]);
    expect(Object.keys(results)).toEqual(
      expect.arrayContaining(["inspect", "run", "groups", "compare", "associate", "sensitivity"]),
    );
  });

  it("refuses to go on with another protocol, and says what differs", async () => {
    const { code, talk } = await study("plain/run", undefined, "--folds", "3");
    expect(code).toBe(2);
    expect(talk).toContain('folds was \\"2\\", is \\"3\\"');
  });

  it("refuses a folder with files of its names, a model alone or the table itself", async () => {
    for (const name of ["model.json", "visits.csv"]) {
      const out = mkdtempSync(join(folder, "taken-"));
      writeFileSync(join(out, name), "mine");
      const { code, talk } = await study(out);
      expect([code, talk]).toEqual([
        2,
        expect.stringContaining(`already holds ${name}. Name another folder, or use --force`),
      ]);
      expect(bytesOf(out)).toEqual({ [name]: "mine" });
    }
  });

  it("tells what it will take without doing it", async () => {
    const { code, out } = await study("nowhere", undefined, "--plan", "--without", "compare");
    expect(code).toBe(0);
    expect(out).toMatch(/fit +3 maps/);
    expect(out).not.toContain("dtm compare");
    expect(readdirSync(folder)).not.toContain("nowhere");
  });
});
