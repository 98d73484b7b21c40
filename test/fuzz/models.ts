/**
 * Model files with something changed, by a seed: bytes of the text, or a field with the checksum made anew, as somebody does who knows the format.
 * Each is refused by a code of model files, or loads and then predicts finite numbers, those of its probe, alike by both kernels.
 */
import { placementAt } from "../../packages/core/src/doors/models.ts";
import {
  DtmError,
  embed,
  fitDtm,
  fitFpca,
  fitLmm,
  loadModel,
  predict,
  saveModel,
  simulateCohort,
  type TrajectoryModel,
} from "../../packages/core/src/index.ts";
import { canonicalJson, checksum } from "../../packages/core/src/models/saving/canonical-json.ts";
import { createRandom, type Random } from "../../packages/core/src/numeric/random.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 40, seed: 5 });
/** A few new individuals, near and far from those fitted. */
const NEW = simulateCohort("pfvc", { numIndividuals: 3, seed: 6 }).cohort;

let made: readonly string[] | undefined;
/** Files of every kind of model, small. */
function bases(): readonly string[] {
  made ??= [
    fitLmm(cohort),
    fitFpca(cohort),
    fitDtm(cohort, { mapDimension: 1, nodes: { step: 0.7 }, restarts: 0, maxIterations: 4 }),
    fitDtm(cohort, {
      kind: "dtm-paper",
      mapDimension: 1,
      maxIterations: 2,
      inducing: { placement: "grid", perDimension: 4 },
    }),
  ].map(saveModel);
  return made;
}

/** How often each is taken: the published map takes long to check. */
const SHARES = [4, 4, 2, 1];

/** Codes that a model file may be refused by. */
const CODES = ["bad-json", "not-a-model", "newer-format", "checksum", "bad-model", "probe", "too-large"];

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

function otherNumber(x: number, random: Random): Json {
  const others: readonly Json[] = [
    ...[0, -x, x + 1, x - 1, x * 1e6, x * 1e-6, x * (1 + 1e-3), 1e308, -1e308, 5e-324, 1e-200, 1e155, Math.round(x)],
    ...[null, "", String(x), true, [], {}, [x], 2 ** 53],
  ];
  return others[random.integer(others.length)] ?? null;
}

/** Changes something somewhere below: down by random steps, until there is a leaf, or now and then before. */
function changeBelow(node: Json, random: Random): Json {
  if (typeof node === "number") return otherNumber(node, random);
  if (typeof node === "string")
    return ["", "x", 7, null, `${node}x`, "__proto__", "dtm", "lmm"][random.integer(8)] ?? null;
  if (node === null || typeof node === "boolean") return [0, 1, "yes", {}, !node][random.integer(5)] ?? null;
  const keys = Object.keys(node);
  const key = keys[random.integer(keys.length)];
  const own = random.uniform();
  if (Array.isArray(node)) {
    if (node.length === 0 || own < 0.05) return [...node, random.normal()];
    if (own < 0.1) return node.slice(1);
    if (own < 0.13) return [...node].reverse();
    if (own < 0.15) return node.map(() => node[0] ?? null);
    const at = Number(key);
    return node.map((value, k) => (k === at ? changeBelow(value, random) : value));
  }
  if (key === undefined || own < 0.03) return { ...node, extra: 1 };
  if (own < 0.06) return Object.fromEntries(Object.entries(node).filter(([name]) => name !== key));
  return { ...node, [key]: changeBelow(node[key] ?? null, random) };
}

/** The text of a changed file, and the one it was made of. */
export function fuzzModel(seed: number): {
  readonly text: string;
  readonly original: string;
  readonly sealed: boolean;
} {
  const random = createRandom(seed);
  const original = bases()[random.categorical(SHARES)] ?? "";
  if (random.uniform() < 0.3) {
    const at = random.integer(original.length);
    const byte = String.fromCharCode(32 + random.integer(96));
    const text = [
      original.slice(0, at),
      original.slice(0, at) + byte + original.slice(at + 1),
      original.slice(0, at) + byte + original.slice(at),
      original.slice(0, at) + original.slice(at + 1),
      original.slice(0, at) + original.slice(random.integer(original.length)),
    ][random.integer(5)];
    return { text: text ?? "", original, sealed: false };
  }
  const { model, probe } = JSON.parse(original) as { model: Json; probe: Json };
  // Most changes are of the model; a probe changed with it is what a forger would try.
  const changed = {
    model: changeBelow(model, random),
    probe: random.uniform() < 0.1 ? changeBelow(probe, random) : probe,
  };
  const content = canonicalJson(changed);
  const head = original.slice(0, original.indexOf('"checksum"'));
  return { text: `${head}"checksum":"${checksum(content)}",${content.slice(1)}\n`, original, sealed: true };
}

export function checkModelFile(seed: number): "refused" | "loads" | "same" {
  const { text, original, sealed } = fuzzModel(seed);
  let model: TrajectoryModel;
  try {
    model = loadModel(text);
  } catch (error) {
    if (!(error instanceof DtmError) || !CODES.includes(error.code)) throw error;
    return "refused";
  }
  if (!sealed) {
    // Only what means nothing may differ: space, the order of digits of nothing.
    const [found, expected] = [saveModel(model), original];
    if (found !== expected) throw new Error("a damaged file loads as another model");
    return "same";
  }
  checkProbe(model, text);
  checkPlaces(model);
  return "loads";
}

/** The model predicts what its file says that it does. */
function checkProbe(model: TrajectoryModel, text: string): void {
  const { probe } = JSON.parse(text) as { probe: { location: number[]; times: number[]; median: number[] } };
  const { median, lower, upper } = predict(model, placementAt(model, probe.location), probe.times);
  const scale = Math.max(...probe.median.map(Math.abs), Number.MIN_VALUE);
  probe.median.forEach((expected, k) => {
    const [m, l, u] = [median[k] ?? Number.NaN, lower[k] ?? Number.NaN, upper[k] ?? Number.NaN];
    if (!(Math.abs(m - expected) <= 1e-8 * scale))
      throw new Error(`the probe promises ${expected}, and ${m} is predicted`);
    if (!(l <= m && m <= u && Number.isFinite(u - l))) throw new Error(`a band from ${l} over ${m} to ${u}`);
  });
}

/** New individuals have a finite place, alike by both kernels, or a reason why not. */
function checkPlaces(model: TrajectoryModel): void {
  // A marker that is called otherwise is told by its name; here its numbers count.
  const named = { ...NEW, markers: NEW.markers.map((series) => ({ ...series, marker: model.markers[0].marker })) };
  const [fast, plain] = (["wasm", "typescript"] as const).map((kernels) => embed(model, named, { kernels }));
  if (fast === undefined || plain === undefined) return;
  const q = model.mapDimension;
  for (let i = 0; i < NEW.ids.length; i++) {
    const isFault = [fast, plain].map(({ faults = [] }) => faults.some(({ individual }) => individual === i));
    if (isFault[0] !== isFault[1]) throw new Error("a place that one kernel computes and the other does not");
    if (isFault[0]) continue;
    for (let a = 0; a < q; a++) {
      const [x, y] = [fast.location[i * q + a] ?? Number.NaN, plain.location[i * q + a] ?? Number.NaN];
      // 1e-6 of a prior sd: what a hostile model has left of its digits; usual ones agree to 1e-9.
      if (!(Math.abs(x - y) <= 1e-6 * Math.max(1, Math.abs(y)))) throw new Error(`places ${x} and ${y} by two kernels`);
    }
  }
}
