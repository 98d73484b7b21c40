/** The catalogue of bad inputs has 112 numbers: each is in bad-tables.ts, or in a test that is named here and is there. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BAD_TABLES } from "./bad-tables.ts";
import { ROOT } from "./root.ts";

const COHORTS = "test/bad-cohorts.test.ts";
const REQUESTS = "test/bad-requests.test.ts";
const ONE_RUN = "packages/cli/src/one-run.test.ts";

/** Where a number is tested that is no table, and words of the test. */
const ELSEWHERE: Readonly<Record<number, readonly [file: string, words: string]>> = {
  14: ["packages/cli/src/main.test.ts", "cannot be used, each with its own sentence"],
  ...Object.fromEntries([62, 63, 73, 74, 75].map((number) => [number, [COHORTS, String(number)]])),
  ...Object.fromEntries([71, 72, 76, 77, 78].map((number) => [number, [COHORTS, `${number}: `]])),
  79: ["packages/cli/src/fit.test.ts", "is warned of, by the axes that are not used"],
  80: ["packages/core/src/models/check-inducing.test.ts", "are refused with both numbers"],
  81: ["packages/core/src/associate/association.test.ts", "where the visits alone have made it"],
  84: ["packages/cli/src/main.test.ts", "refuses a gzip file that grows as no table does"],
  85: ["packages/core/src/fhir/read-fhir.test.ts", "that are lacking, unknown or of another kind are refused"],
  86: ["packages/cli/src/databases/omop.test.ts", "become limits by their operator"],
  ...Object.fromEntries([88, 89, 91].map((number) => [number, [COHORTS, String(number)]])),
  90: ["test/model-files.test.ts", "null for a number"],
  92: ["packages/cli/src/fit.test.ts", "another marker or another unit, with both names"],
  93: ["test/models.test.ts", "other-data"],
  94: ["packages/cli/src/io/write.test.ts", "fall back on the one before where a bit was flipped"],
  ...Object.fromEntries([95, 98, 99, 100, 101, 102, 103, 104].map((number) => [number, [REQUESTS, `${number}: `]])),
  96: [REQUESTS, "96, 97: "],
  97: [REQUESTS, "96, 97: "],
  105: ["packages/cli/src/study.test.ts", "keeps its state, says how to go on"],
  106: ["packages/cli/src/study.test.ts", "gives 143 when it was asked to end"],
  107: ["test/kills.slow.test.ts", "no run lost, the same model byte for byte"],
  108: [ONE_RUN, "leaves the other one as it is on a full disk, and says so"],
  109: [ONE_RUN, "keeps its state now and then, and warns where it cannot"],
  110: ["packages/cli/src/fit.test.ts", "a folder that another process writes to"],
  111: ["test/signals.slow.test.ts", "stopped for a while and continued"],
  112: ["test/explorer/keeping.test.ts", "goes on with a fit that was under way"],
};

describe("the catalogue of bad inputs", () => {
  it("has a test for each of its 112 numbers", () => {
    const covered = new Set([...BAD_TABLES.map(({ number }) => number), ...Object.keys(ELSEWHERE).map(Number)]);
    const all = Array.from({ length: 112 }, (_, k) => k + 1);
    expect(all.filter((number) => !covered.has(number))).toEqual([]);
  });

  it.each(Object.entries(ELSEWHERE))("%s is where it is said to be", (_, [file, words]) => {
    expect(readFileSync(join(ROOT, file), "utf8")).toContain(words);
  });
});
