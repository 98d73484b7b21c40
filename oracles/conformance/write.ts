/** npm run oracle -- --conformance: writes the conformance set of the kernels, one file for each layout, to fixtures/kernels. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LAYOUTS } from "../../packages/core/src/wasm/layouts.ts";
import type { ConformanceFile } from "./play.ts";
import { PROBLEMS } from "./problems.ts";
import { recordCases } from "./record.ts";

/** Version of the contract that the set is of (docs/kernels.md). */
const CONTRACT = 2;

/** The files by name, as texts. */
export function conformanceTexts(): Map<string, string> {
  return new Map(
    LAYOUTS.map(({ name: layout }) => {
      const own = PROBLEMS.filter((problem) => problem.layout === layout);
      const cases = own.flatMap(({ name, work }) => recordCases(layout, name, work));
      const file: ConformanceFile = { contract: CONTRACT, layout, cases };
      return [`${layout.toLowerCase()}.json`, `${JSON.stringify(file, null, 1)}\n`];
    }),
  );
}

/** Writes them and returns one line for each. */
export function writeConformance(folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  return Array.from(conformanceTexts(), ([name, text]) => {
    writeFileSync(join(folder, name), text);
    return `${name.padEnd(16)}${String(text.length).padStart(8)} bytes`;
  });
}
