/**
 * Models as files: one JSON document, versioned, free of individual-level data, equal models in equal bytes.
 * Loading checks the text, the version, the checksum, every field and shape, and recomputes a probe prediction.
 */

import * as z from "zod/mini";
import { basisDomain } from "../basis/bspline.ts";
import { checkForm, checkGiven, DtmError } from "../errors.ts";
import { faultOfKeys } from "../json-keys.ts";
import { checkModel as checkFitted } from "./fit.ts";
import type { TrajectoryModel } from "./model.ts";
import { placementAt } from "./place.ts";
import { type Prediction, predict } from "./predict.ts";
import { refuseImpossible } from "./result-checks.ts";
import { canonicalJson, checksum } from "./saving/canonical-json.ts";
import { checkModel } from "./saving/check-model.ts";
import { MODEL_REMEDY } from "./saving/expect-field.ts";
import { FILE_FORMAT, FILE_VERSION, fileSchema, type ModelFile } from "./saving/file-schema.ts";

/**
 * The model as the text of a model file.
 * @throws DtmError "not-data" for a model that is not plain data.
 * @example
 * writeFileSync("model.json", saveModel(model));
 */
export function saveModel(model: TrajectoryModel): string {
  checkFitted("saveModel", model);
  const { milliseconds: _, ...record } = model.record;
  const { farCovariates: __, ...own } = model;
  const body = { model: { ...own, record }, probe: probe(model) };
  const content = canonicalJson(body);
  const isCounted = model.markers.some(({ columns }) => columns?.origin !== undefined);
  const version = isCounted ? FILE_VERSION : model.markers.length > 1 || "covariates" in model ? 3 : 2;
  const head = `{"format":"${FILE_FORMAT}","formatVersion":${version},"checksum":"${checksum(content)}"`;
  const text = `${head},${content.slice(1)}\n`;
  checkLoads(text);
  return text;
}

/** Refuses to hand out a file that could not be read again: better now than when the fit is gone. */
function checkLoads(text: string): void {
  try {
    loadModel(text);
  } catch (error) {
    if (!(error instanceof DtmError)) throw error;
    const reason = error.message.replace(/^loadModel: /, "");
    throw new DtmError(
      "not-data",
      `saveModel: expected a model that can be read again, received one that cannot: ${reason}`,
    );
  }
}

/**
 * The model in a model file's text; refuses damaged, foreign and newer files by name.
 * @throws DtmError "bad-json", "not-a-model", "newer-format", "checksum", "bad-model" or "probe".
 * @example
 * const model = loadModel(readFileSync("model.json", "utf8"));
 */
export function loadModel(text: string): TrajectoryModel {
  checkGiven("loadModel", { text });
  const remedy = 'Give what the file holds, as it is: readFileSync("model.json", "utf8").';
  checkForm(typeof text === "string", "loadModel", "the text of a model file", text, remedy);
  const raw = parseJson(text);
  checkHeader(raw);
  const found = checksum(contentOf(raw));
  if (found !== raw.checksum) {
    throw new DtmError(
      "checksum",
      `loadModel: expected checksum ${String(raw.checksum)}, received contents with ${found}. The file was changed or damaged: use the original.`,
    );
  }
  const parsed = z.safeParse(fileSchema, currentForm(raw));
  if (!parsed.success) throw fieldError(parsed.error.issues[0]);
  const { record, ...rest } = parsed.data.model;
  const model: TrajectoryModel = { ...rest, record: { ...record, milliseconds: {} } };
  checkModel(model);
  checkProbe(model, parsed.data.probe);
  checkSweep(model);
  return model;
}

/** Characters of the largest model file: a hundred times those of a map with several markers. */
const MOST_MODEL = 2 ** 26;

function parseJson(text: string): Record<string, unknown> {
  if (text.length > MOST_MODEL) {
    throw new DtmError(
      "too-large",
      `loadModel: expected a model file of at most ${MOST_MODEL / 2 ** 20} MB, received ${Math.ceil(text.length / 2 ** 20)} MB. This is not a model file.`,
    );
  }
  let raw: unknown;
  try {
    raw = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new DtmError("bad-json", `loadModel: expected a model file in JSON, received text that is not: ${reason}.`);
  }
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) {
    throw new DtmError("bad-json", "loadModel: expected a JSON object, received another value.");
  }
  const fault = faultOfKeys(text, raw);
  if (fault !== undefined) {
    throw new DtmError(
      "bad-json",
      `loadModel: expected ${fault.expected}, received ${fault.received}. The file was not written by this software: use the original.`,
    );
  }
  return raw as Record<string, unknown>;
}

/** The canonical text of a file's contents, as it was summed when saved. */
function contentOf(raw: Record<string, unknown>): string {
  try {
    return canonicalJson({ model: raw.model, probe: raw.probe });
  } catch (error) {
    const reason =
      error instanceof DtmError ? error.message.replace(/^saveModel: /, "") : "its parts are nested too deep";
    throw new DtmError(
      "bad-model",
      `loadModel: expected a model file, received one that cannot be read: ${reason} ${MODEL_REMEDY}`,
    );
  }
}

function checkHeader(raw: Record<string, unknown>): void {
  if (raw.format !== FILE_FORMAT) {
    throw new DtmError(
      "not-a-model",
      `loadModel: expected format "${FILE_FORMAT}", received ${JSON.stringify(raw.format)}. This is not a model file.`,
    );
  }
  const version = raw.formatVersion;
  if (typeof version === "number" && version > FILE_VERSION) {
    throw new DtmError(
      "newer-format",
      `loadModel: expected format version ${FILE_VERSION} or older, received ${version}. Update this software to read it.`,
    );
  }
}

/**
 * A file of an older version in the present form. Version 1 had one marker, whose fields were the model's own, and the
 * variance of white noise as one of them.
 */
function currentForm(raw: Record<string, unknown>): Record<string, unknown> {
  if (raw.formatVersion !== 1 || typeof raw.model !== "object" || raw.model === null) return raw;
  const { noiseVariance, ...model } = raw.model as Record<string, unknown>;
  const part: Record<string, unknown> = { noise: { kind: "white", variance: noiseVariance } };
  for (const name of VERSION_1_MARKER_FIELDS) {
    if (name in model) part[name] = model[name];
    delete model[name];
  }
  return { ...raw, model: { ...model, markers: [part] } };
}

const VERSION_1_MARKER_FIELDS = [
  ...["basis", "marker", "columns", "mean", "center"],
  ...["map", "residual", "varianceShare", "averageGram"],
];

function fieldError(issue: z.core.$ZodIssue): DtmError {
  const detail = issue as { keys?: unknown; expected?: unknown; minimum?: unknown; maximum?: unknown };
  const parts = [
    ["", detail.keys && JSON.stringify(detail.keys)],
    ["expected ", detail.expected],
    ["expected above ", detail.minimum],
    ["expected at most ", detail.maximum],
  ].flatMap(([words, value]) => (value === undefined ? [] : `${words}${value}`));
  return new DtmError(
    "bad-model",
    `loadModel: the field ${issue.path.join(".") || "(top)"} is not as it should be: ${[issue.code, ...parts].join(", ")}. ${MODEL_REMEDY}`,
  );
}

/** A prediction of every marker at one place and five times, stored with the model and recomputed on load. */
function probe(model: TrajectoryModel): ModelFile["probe"] {
  const location = Array.from({ length: model.mapDimension }, (_, c) => 0.7 - 0.4 * c);
  const placement = placementAt(model, location);
  const [own, ...others] = model.markers.map(({ marker, basis }) => {
    const [first, last] = basisDomain(basis);
    const times = [0, 0.2, 0.5, 0.8, 1].map((share) => first + share * (last - first));
    const { median, upper } = predict(model, placement, times, { marker: marker.name });
    return { times, median: Array.from(median), upper: Array.from(upper) };
  });
  return { location, ...own, ...(others.length === 0 ? {} : { others }) };
}

function checkProbe(model: TrajectoryModel, { location, others = [], ...own }: ModelFile["probe"]): void {
  if (location.length !== model.mapDimension) {
    throw new DtmError(
      "bad-model",
      `loadModel: expected a probe at a place of ${model.mapDimension} coordinates, received ${location.length}. Use the original file.`,
    );
  }
  const placement = placementAt(model, location);
  const stored = [own, ...others];
  if (stored.length !== model.markers.length) {
    throw new DtmError(
      "bad-model",
      `loadModel: expected a probe of each of ${model.markers.length} markers, received ${stored.length}. ${MODEL_REMEDY}`,
    );
  }
  model.markers.forEach(({ marker }, k) => {
    checkProbeCourse(predict(model, placement, stored[k].times, { marker: marker.name }), stored[k]);
  });
}

/** Refuses a model that predicts something impossible anywhere near its middle: two to either side on each axis, over all its times. */
function checkSweep(model: TrajectoryModel): void {
  const q = model.mapDimension;
  const places = Array.from({ length: 2 * Math.min(q, 3) + 1 }, (_, k) =>
    Array.from({ length: q }, (_, c) => (c === (k - 1) >> 1 && k > 0 ? (k % 2 === 0 ? 2 : -2) : 0)),
  );
  for (const location of places) {
    const placement = placementAt(model, location);
    for (const { marker, basis } of model.markers) {
      const [first, last] = basisDomain(basis);
      const found = predict(model, placement, [first, (first + last) / 2, last], { marker: marker.name });
      try {
        refuseImpossible("loadModel", placement, found);
      } catch {
        throw new DtmError(
          "bad-model",
          `loadModel: expected predictions of ${marker.name} that are finite and have a spread, received others at the place ${location.join(", ")}. ${MODEL_REMEDY}`,
        );
      }
    }
  }
}

function checkProbeCourse(
  { median, upper }: Pick<Prediction, "median" | "upper">,
  stored: Pick<ModelFile["probe"], "times" | "median" | "upper">,
): void {
  for (const [name, now, then] of [
    ["median", median, stored.median],
    ["upper", upper, stored.upper],
  ] as const) {
    const scale = Math.max(...then.map(Math.abs), Number.MIN_VALUE);
    for (let k = 0; k < then.length; k++) {
      if (!(Math.abs(now[k] - then[k]) <= 1e-8 * scale)) {
        throw new DtmError(
          "probe",
          `loadModel: expected ${then[k]} for the probe's ${name} at time ${stored.times[k]}, received ${now[k]}. This software computes another prediction than the one that saved the model.`,
        );
      }
    }
  }
}
