/** A body of FHIR R4 as a request: values of one patient by their codes, in units and times of the model; what was left out is told. */
import { readNumber, showReceived, timeUnitOf } from "@trajectory-maps/core/ingest";
import { converterOptions } from "../commands/units.ts";
import type { ServedModel } from "./models.ts";
import { answerTo, RequestError, refused } from "./problem.ts";
import type { PlacedResources, PlaceQuery, PlaceRequest } from "./schemas.ts";

/** Types of bodies that are resources. */
export const FHIR_TYPES = ["application/fhir+json", "application/fhir+ndjson"] as const;

/** The first byte of what gzip writes; no text begins so. */
const GZIP = 0x1f;
const LISTS = ["code", "covariate", "unitMeans"];
const NUMBERS = ["level", "seed", "threshold", "from"];

/** Parameters of a query as `placeQuery` has them: lists are given again and again, times also with commas. */
export function queryValues(given: Readonly<Record<string, readonly string[]>>): Record<string, unknown> {
  const number = (text: string) => readNumber(text.trim(), ".");
  const values = Object.entries(given).map(([name, texts]) => {
    const [first = ""] = texts;
    if (name === "at") return [name, texts.flatMap((text) => text.split(",")).map(number)];
    if (LISTS.includes(name) || texts.length > 1) return [name, texts];
    if (name === "rate") return [name, first === "true" || (first !== "false" && first)];
    return [name, NUMBERS.includes(name) ? number(first) : first];
  });
  return { code: [], ...Object.fromEntries(values) };
}

export interface FhirRequest {
  readonly request: PlaceRequest;
  readonly resources: NonNullable<PlacedResources["resources"]>;
}

/** The request that resources stand for. */
export async function readResources(
  { model }: ServedModel,
  bytes: Uint8Array,
  { code: codes, patient, origin, timeUnit, unitMeans, covariate, threshold, direction, from, ...asked }: PlaceQuery,
): Promise<FhirRequest> {
  // A packed file would be unpacked, to whatever size.
  if (bytes[0] === GZIP) {
    const [expected, remedy] = ["resources of FHIR as text", "Unpack it first."];
    throw refused(400, "not-json", { where: "body", expected, received: "packed bytes", remedy });
  }
  if (isBlank(bytes)) {
    const [expected, remedy] = ["a Bundle of FHIR, or a resource on each line", "Send the resources as the body."];
    throw refused(400, "not-json", { where: "body", expected, received: "an empty body", remedy });
  }
  const own = model.markers.map(({ marker }) => marker);
  const names = own.map(({ name }) => name);
  if (codes.length !== own.length) {
    const [expected, received] = [`${own.length}, for ${names.join(", ")}`, String(codes.length)];
    const remedy = "Give code once for each marker, in this order; several codes of one with commas.";
    throw refused(422, "option", { where: "query.code", expected, received, remedy });
  }
  const unitOfTime = unitOfTimes(own[0]?.timeUnit || timeUnit);
  const markers = await Promise.all(
    own.map(async (marker, k) => {
      const { analyte } = await converterOptions(marker, {});
      return {
        ...marker,
        timeUnit: unitOfTime,
        codes: (codes[k] ?? "").split(","),
        ...(analyte === undefined ? {} : { analyte }),
      };
    }),
  );
  const { meant } = await converterOptions({}, { unitMeans });
  const { readFhir, toldWords } = await import("@trajectory-maps/core/fhir");
  const { cohort, told, notes } = await readFhir([{ name: "body", bytes: [bytes] }], {
    markers,
    ...(patient !== undefined && { patient }),
    timeUnit: unitOfTime,
    origin: originOf(origin, model.markers[0]?.columns?.origin),
    mayLack: true,
    needUnits: own.every(({ unit }) => unit !== ""),
    meant,
  }).catch((error) => {
    throw inRequestWords(error);
  });
  if (cohort.ids.length > 1) {
    const [received, remedy] = [`those of ${cohort.ids.length}`, "Choose one by patient=ID in the query."];
    throw refused(422, "several-patients", { where: "body", expected: "values of one patient", received, remedy });
  }
  const visits = cohort.markers.flatMap(({ times, values, censored }, k) =>
    Array.from(times, (time, j) => ({ time, value: written(values[j], censored?.[j]), marker: names[k]! })),
  );
  const words = told.map(toldWords);
  const unsaid = cohort.markers.flatMap(({ marker: { name, unit } }, k) =>
    own[k]?.unit === "" && unit !== ""
      ? [`${name}: the model says no unit; values were taken as they came, in ${unit}.`]
      : [],
  );
  return {
    request: {
      ...asked,
      visits,
      ...(covariate && { covariates: Object.fromEntries(covariate.map(namedValue)) }),
      ...(threshold !== undefined && {
        threshold: { value: threshold, ...(direction && { direction }), ...(from !== undefined && { from }) },
      }),
    },
    resources: {
      visits: visits.length,
      told: told.map(({ code, count, what, done }) => ({ code, count, what, done })),
      notes: [...notes.filter((note) => !words.includes(note)), ...unsaid],
    },
  };
}

/** Whether a body holds nothing but blanks. */
function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));
}

/** What the library says of files and options of the command line, said of a body and the query beside it. */
function inRequestWords(error: unknown): RequestError {
  const { status, problem, headers } = answerTo(error);
  const words = (text: string) =>
    text.replace(/ \(--unit-means "([^"]*)"; meant\)/g, " (unitMeans=$1 in the query)").replace(/ \(--[^()]*\)/g, "");
  const { code, expected = "", received = "", message, remedy } = problem;
  if (code === "no-rows") {
    const remedy = "Check code and patient in the query, and the codes of the resources sent.";
    return refused(status, code, { where: "body", expected, received, remedy });
  }
  const said = { ...problem, message: words(message), ...(remedy !== undefined && { remedy: words(remedy) }) };
  return new RequestError(status, said, headers);
}

/** A value as a request holds it: a limit behind its sign. */
function written(value = Number.NaN, side = 0): number | string {
  if (side === 0) return value;
  return `${side < 0 ? "<" : ">"}${value}`;
}

/** The origin that is asked for, a date or "first", or that of the model where its first visit or one date is it. */
function originOf(asked: string | undefined, fitted: string | undefined): string {
  if (asked === "first") return asked;
  if (asked !== undefined) {
    const day = asked.replace(/^date:\s*/, "");
    if (/^\d{4}-\d{2}-\d{2}$/.test(day)) return `date:${day}`;
    const [expected, remedy] = ["first, or a day such as 2010-01-31", "Give it as origin=2010-01-31."];
    throw refused(422, "option", {
      where: "query.origin",
      expected,
      received: `"${showReceived(asked)}"`,
      remedy,
    });
  }
  if (fitted?.startsWith("column:") !== true) return fitted ?? "first";
  throw refused(422, "option", {
    where: "query.origin",
    expected: `the day of "${showReceived(fitted.slice("column:".length))}", from which the model counts`,
    received: "none",
    remedy: "Give it as origin=2010-01-31.",
  });
}

function unitOfTimes(text = ""): NonNullable<ReturnType<typeof timeUnitOf>> {
  const unit = timeUnitOf(text);
  if (unit !== undefined) return unit;
  throw refused(422, "option", {
    where: "query.timeUnit",
    expected: "the unit of the model's times, which are counted by the calendar",
    received: text === "" ? "none" : `"${showReceived(text)}"`,
    remedy: "Give it as timeUnit=years.",
  });
}

/** "age=54". */
function namedValue(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  const remedy = "Write it as covariate=age=54.";
  throw refused(422, "option", {
    where: "query.covariate",
    expected: "name=value",
    received: `"${showReceived(text)}"`,
    remedy,
  });
}
