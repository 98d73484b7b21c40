import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { idAt } from "../cohort/ids.ts";
import { readCohort } from "./read-cohort.ts";

const M = 100_000;
const PIECE = 5000;

/** A table of two visits each, in pieces, so that its text is not held. */
function* table(idOf: (i: number) => string): Generator<string> {
  yield "id,time,value\n";
  for (let from = 0; from < M; from += PIECE) {
    let piece = "";
    for (let i = from; i < from + PIECE; i++) piece += `${idOf(i)},0,${i % 7}\n${idOf(i)},1,${i % 5}\n`;
    yield piece;
  }
}

describe("the cohort of a table", () => {
  it("holds ids as bytes, without an object for each", () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const heap = () => {
      collect();
      collect();
      return process.memoryUsage().heapUsed;
    };
    // Ids that come out of order, so that they are sorted too.
    const idOf = (i: number) => `P${String((i * 7919) % M).padStart(6, "0")}`;
    readCohort(table(idOf));
    const before = heap();
    const { cohort } = readCohort(table(idOf));
    const held = heap() - before;
    const { bytes, starts } = cohort.ids;
    expect(bytes.byteLength + starts.byteLength).toBe(7 * M + 4 * (M + 1));
    expect(idAt(cohort.ids, 4711)).toBe("P004711");
    // A list of strings is at least 24 bytes an individual; what is left is the noise of the heap.
    expect(held).toBeLessThan(12 * M);
  });
});
