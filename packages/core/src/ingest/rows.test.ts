import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { readCohort } from "./read-cohort.ts";

describe("the cohort of a table", () => {
  it("holds its ids and not the text they were cut out of", () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const heap = () => {
      collect();
      collect();
      return process.memoryUsage().heapUsed;
    };
    const M = 20_000;
    const note = "x".repeat(500);
    const idOf = (i: number) => `individual ${String((i * 7919) % M).padStart(6, "0")}`;
    function* table(): Generator<string> {
      yield "id,time,value,note\n";
      for (let i = 0; i < M; i++) yield `${idOf(i)},0,${i % 7},${note}\n`;
    }
    readCohort(table());
    const before = heap();
    const { cohort } = readCohort(table());
    const held = heap() - before;
    expect(cohort.ids[4711]).toBe("individual 004711");
    // An id is some 50 bytes; its line has more than 500.
    expect(held).toBeLessThan(150 * M);
  });
});
