/**
 * Fits the map of the demo cohort once per version of the core and packs it for the page (read by src/worker/demo.ts):
 * the example then opens at once. Takes some ten seconds, and nothing when the core has not changed.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const CORE = join(HERE, "..", "core", "dist");
/**
 * Seed of the cohort: the first, counted from 1, whose map has a group for every planted kind of course: more than half of its clustered
 * members planted as such, eleven or more of them. Seed 1 has the late decline in a group of twelve, ten of them planted.
 */
export const DEMO_SEED = 2;
/** What the demonstration's light of trust rests on; longer work than a build should do, so it is kept in the tree. */
const EVIDENCE = join(HERE, "demo-evidence.json");

/** Writes `dist/demo/pfvc.json` if it is missing or of another core. */
export async function makeDemo() {
  const folder = join(HERE, "dist", "demo");
  const stamp = join(folder, ".built-from");
  const own = createHash("sha256")
    .update(readFileSync(fileURLToPath(import.meta.url)))
    .update(readFileSync(EVIDENCE))
    .digest("hex");
  const wanted = `${readFileSync(join(CORE, ".built-from"), "utf8")} ${own}`;
  if (existsSync(join(folder, "pfvc.json")) && existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  const core = await import(pathToFileURL(join(CORE, "index.mjs")).href);
  mkdirSync(folder, { recursive: true });
  const evidence = JSON.parse(readFileSync(EVIDENCE, "utf8"));
  writeFileSync(
    join(folder, "pfvc.json"),
    packDemo(core, core.simulateCohort("pfvc", { seed: DEMO_SEED }).cohort, evidence),
  );
  writeFileSync(stamp, wanted);
}

/** Models compared on held-out individuals, and what further starts came to. */
export function findEvidence(core, cohort = core.simulateCohort("pfvc", { seed: DEMO_SEED }).cohort) {
  const models = ["population", "lmm", "dtm"];
  const comparison = core.compareModels(cohort, { models, folds: 5, mean: "scalar", seed: 1 });
  const { record } = core.fitDtm(cohort, { mean: "scalar", restarts: 2, seed: 1 });
  return { comparison, starts: record.starts };
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv.includes("--evidence")) {
  const core = await import(pathToFileURL(join(CORE, "index.mjs")).href);
  const about = `What the light of trust of the demonstration rests on: five-fold cross-validation and two further starts, seeds ${DEMO_SEED} (cohort) and 1. Written by \`node packages/app/demo.mjs --evidence\`, checked by src/worker/demo-evidence.slow.test.ts.`;
  const short = (_, value) => (typeof value === "number" ? Number(value.toPrecision(6)) : value);
  writeFileSync(EVIDENCE, `${JSON.stringify({ about, ...findEvidence(core) }, short, 1)}\n`);
}

/** The fit of a cohort as the text of a packed demo, with what is known of how far to trust it. */
export function packDemo(core, cohort, evidence = {}) {
  const began = performance.now();
  const model = core.fitDtm(cohort, { mean: "scalar", restarts: 0, seed: 1 });
  const { ids, ...placements } = core.embed(model, cohort);
  const seconds = (performance.now() - began) / 1000;
  const groups = core.groupPlaces(model, { ...placements, ids }, { numGroups: "auto", seed: 1 });
  return JSON.stringify({
    model: packModel(core.loadModel(core.saveModel(model))),
    seconds,
    placements: pack(placements),
    // By the regions individuals belong to groups, here as everywhere.
    groups: { ...pack(groups), regions: pack(groups.regions, exact) },
    ...(evidence.comparison && { comparison: evidence.comparison, starts: evidence.starts }),
  });
}

/** A model as it is loaded from its file, to the last bit; of its large symmetric matrix the upper triangle only. */
function packModel(model) {
  const { inducingCovariance: C } = model.markers[0].map;
  const n = Math.round(Math.sqrt(C.length));
  const upper = [];
  for (let i = 0; i < n; i++) {
    for (let j = i; j < n; j++) {
      if (C[i * n + j] !== C[j * n + i]) throw new Error("packModel: expected a symmetric inducing covariance.");
      upper.push(C[i * n + j]);
    }
  }
  const packed = pack(model, exact);
  packed.markers[0].map.inducingCovariance = { ...exact(Float64Array.from(upper)), as: "symmetric" };
  return packed;
}

function exact(values) {
  return { array: "Float64Array", as: "exact", data: base64(values) };
}

function rounded(values) {
  return { array: "Float64Array", data: base64(threeBytes(values)) };
}

function base64(array) {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("base64");
}

/** Plain data with typed arrays as base64; doubles as three bytes (16 bits of precision), which is finer than any pixel. */
export function pack(value, doubles = rounded) {
  if (Array.isArray(value)) return value.map((part) => pack(part, doubles));
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Float64Array) return doubles(value);
  if (ArrayBuffer.isView(value)) return { array: value.constructor.name, data: base64(value) };
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, pack(part, doubles)]));
}

/** The upper three bytes of each number in single precision, rounded. */
function threeBytes(values) {
  const bits = new Uint32Array(Float32Array.from(values).buffer);
  const bytes = new Uint8Array(3 * bits.length);
  bits.forEach((b, k) => {
    const rounded = b + 0x80;
    bytes.set([(rounded >>> 8) & 0xff, (rounded >>> 16) & 0xff, (rounded >>> 24) & 0xff], 3 * k);
  });
  return bytes;
}
