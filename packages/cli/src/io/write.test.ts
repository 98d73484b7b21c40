import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { contents, type FaultKind, leftovers, withFault } from "../../test/faults.ts";
import { workplace } from "../../test/harness.ts";
import { FileError } from "../exit-codes.ts";
import { type Checkpoint, openCheckpoints, readCheckpoint, UNFINISHED, visitsOfUnfinished } from "./checkpoint.ts";
import { lockFolder, settled } from "./lock.ts";
import { writeOutputs } from "./write.ts";

const here = workplace();
afterAll(here.clear);

const OLD = { "a.json": "old a", "b/c.csv": "old c", "stale.json": "old" };
const NEW = { "a.json": "new a", "b/c.csv": "new c, in pieces", "d.json": "d" };

function oldFolder(): string {
  const folder = here.at("run");
  rmSync(folder, { recursive: true, force: true });
  for (const [name, text] of Object.entries(OLD)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** Each way of writing, and what the folder holds once it was done. */
const WRITERS = {
  "several files and a removal": {
    write: (folder: string) =>
      writeOutputs(
        folder,
        [
          { name: "a.json", text: "new a" },
          { name: "b/c.csv", text: ["new c", ", in pieces"], private: true },
          { name: "d.json", text: "d" },
        ],
        ["stale.json"],
      ),
    after: NEW,
  },
  "one file": {
    write: (folder: string) => writeOutputs(folder, [{ name: "a.json", text: "new a" }]),
    after: { ...OLD, "a.json": "new a" },
  },
};

describe("a name as long as a disk takes", () => {
  it.each(["y".repeat(251), "é".repeat(125)])("is written: %s", (long) => {
    const name = `${long}.csv`;
    expect(writeOutputs(here.at("long"), [{ name, text: "whole" }])).toEqual([here.at("long", name)]);
    expect(readFileSync(here.at("long", name), "utf8")).toBe("whole");
  });
});

describe.each(Object.entries(WRITERS))("writing %s", (_, { write, after }) => {
  it.each<FaultKind>(["full disk", "kill"])(
    "leaves all old or all new files, whichever call meets a %s",
    async (kind) => {
      const whole = await withFault(undefined, () => locked(oldFolder()));
      expect(contents(here.at("run"))).toEqual(after);
      let [numOld, numNew] = [0, 0];
      for (let at = 0; at < whole.calls.length; at++) {
        const folder = oldFolder();
        await withFault({ kind, at }, () => locked(folder));
        // What a reader finds.
        await withFault(undefined, () => settled(folder));
        const found = contents(folder);
        const isNew = found["a.json"] === "new a";
        expect([at, whole.calls[at], found]).toEqual([at, whole.calls[at], isNew ? after : OLD]);
        if (isNew) numNew++;
        else numOld++;
        // What the next writer finds and leaves.
        await withFault(undefined, () => locked(folder));
        expect(contents(folder)).toEqual(after);
        expect(leftovers(folder)).toEqual([]);
      }
      expect(numOld).toBeGreaterThan(5);
      expect(numNew).toBeGreaterThan(2);

      function locked(folder: string) {
        const unlock = lockFolder(folder);
        try {
          write(folder);
        } finally {
          unlock();
        }
      }
    },
  );
});

it("says that nothing was changed where nothing was, and that results are whole where they are", async () => {
  const told = new Set<string>();
  const folder = oldFolder();
  const { calls } = await withFault(undefined, () => WRITERS["several files and a removal"].write(folder));
  for (let at = 0; at < calls.length; at++) {
    oldFolder();
    await withFault({ kind: "full disk", at }, () => {
      try {
        WRITERS["several files and a removal"].write(folder);
      } catch (error) {
        expect(error).toBeInstanceOf(FileError);
        const { message } = error as Error;
        const isOld =
          readFileSync(join(folder, "a.json"), "utf8") === "old a" && !existsSync(join(folder, ".dtm-commit"));
        expect(message).toContain(isOld ? "Existing files were not changed" : "results are written and whole");
        told.add(message.replace(/\(.*\)/, ""));
      }
    });
  }
  expect(told.size).toBe(2);
});

describe("the states of a fit", () => {
  const state = (seed: number): Omit<Checkpoint, "visits"> =>
    ({ kind: "dtm", seed, snapshot: { x: Float64Array.of(seed, -0, Number.NaN) } }) as unknown as Checkpoint;

  it("are the last whole one after a full disk or a kill in any call", async () => {
    for (const kind of ["full disk", "kill"] as const) {
      for (let at = 0; ; at++) {
        const folder = here.at("states");
        rmSync(folder, { recursive: true, force: true });
        let kept = 0;
        const { calls } = await withFault({ kind, at }, () => {
          const checkpoints = openCheckpoints(folder, { visits: () => ["id,time,value\n"] });
          for (let seed = 1; seed <= 4; seed++) {
            checkpoints.keep(state(seed));
            kept = seed;
          }
        });
        if (kept > 0) {
          const { result: found } = await withFault(undefined, () => readCheckpoint(folder, () => {}));
          if (found === undefined) throw new Error("no state");
          expect([kept, kept + 1]).toContain(found.seed);
          expect(found.visits).toHaveLength(64);
        }
        if (calls.length <= at) break;
      }
    }
  });

  it("fall back on the one before where a bit was flipped, wherever it was, and are refused where both were", async () => {
    const folder = here.at("flipped");
    const checkpoints = openCheckpoints(folder, { visits: () => ["id,time,value\n"] });
    await withFault(undefined, () => {
      for (const seed of [1, 2, 3]) checkpoints.keep(state(seed));
    });
    const last = join(folder, UNFINISHED, "checkpoint.json");
    const bytes = readFileSync(last);
    for (let at = 0; at < bytes.length; at += 3) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      writeFileSync(last, flipped);
      const told: string[] = [];
      expect(readCheckpoint(folder, (words) => told.push(words)).seed).toBe(2);
      expect(told.join()).toContain("The state before it is whole");
    }
    writeFileSync(join(folder, UNFINISHED, "checkpoint-previous.json"), "half");
    expect(() => readCheckpoint(folder, () => {})).toThrow(/Start the fit again/);
    writeFileSync(last, bytes);
    expect(readCheckpoint(folder, () => {}).seed).toBe(3);
    writeFileSync(visitsOfUnfinished(folder), "id,time,value\na,0,1\n");
    expect(() => readCheckpoint(folder, () => {})).toThrow(/visits of the interrupted fit, received others/);
  });
});
