/**
 * Fits the map of the demo cohort once per version of the core and packs it for the page (read by src/worker/demo.ts):
 * the example then opens at once. Takes some ten seconds, and nothing when the core has not changed.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const CORE = join(HERE, "..", "core", "dist");
const SEED = 21;

/** Writes `dist/demo/pfvc.json` if it is missing or of another core. */
export async function makeDemo() {
  const folder = join(HERE, "dist", "demo");
  const stamp = join(folder, ".built-from");
  const wanted = readFileSync(join(CORE, ".built-from"), "utf8");
  if (existsSync(join(folder, "pfvc.json")) && existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  const core = await import(join(CORE, "index.mjs"));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "pfvc.json"), packDemo(core, core.simulateCohort("pfvc", { seed: SEED }).cohort));
  writeFileSync(stamp, wanted);
}

/** The fit of a cohort as the text of a packed demo. */
export function packDemo(core, cohort) {
  const began = performance.now();
  const model = core.fitDtm(cohort, { mean: "scalar", restarts: 0, seed: 1 });
  const { ids: _, ...placements } = core.embed(model, cohort);
  const seconds = (performance.now() - began) / 1000;
  const groups = core.groupPlaces(model, { ...placements, ids: cohort.ids }, { numGroups: "auto", seed: 1 });
  return JSON.stringify({ model: core.saveModel(model), seconds, placements: pack(placements), groups: pack(groups) });
}

/** Plain data with typed arrays as base64; doubles in single precision, which is finer than any pixel. */
export function pack(value) {
  if (Array.isArray(value)) return value.map(pack);
  if (typeof value !== "object" || value === null) return value;
  if (ArrayBuffer.isView(value)) {
    const stored = value instanceof Float64Array ? Float32Array.from(value) : value;
    return {
      array: value.constructor.name,
      data: Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength).toString("base64"),
    };
  }
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, pack(part)]));
}
