/** What a fit found, as a biostatistician would like to read it. */
import {
  type Cohort,
  type MapVerdict,
  type Marker,
  type MarkerModel,
  mapVerdict,
  markerModel,
  numIndividuals,
  predict,
  type TrajectoryModel,
} from "@trajectory-maps/core";
import { type MarkerSeries, numObservations } from "@trajectory-maps/core/ingest";
import {
  basisDomain,
  codingOf,
  describeNoise,
  isApproximate,
  isMapModel,
  type MapModel,
  type Places,
  placementAt,
  SUPPORTED,
  similarFollowed,
} from "@trajectory-maps/core/models";
import { NOT_KNOWN_YET } from "@trajectory-maps/core/study";
import { table } from "./table.ts";
import { LEGEND, textMap } from "./text-map.ts";
import { counted, INDENT, line, percent, significant, whole } from "./words.ts";

/** A fitted model with the log-likelihood of everyone in the cohort. */
export interface ScoredFit {
  readonly model: TrajectoryModel;
  readonly logLikelihood: number;
}

/** A fitted model with everyone in the cohort placed by it. */
export interface FittedModel extends ScoredFit {
  readonly placements: Places;
}

export function cohortSummary(cohort: Cohort): string {
  const m = numIndividuals(cohort);
  const { markers } = cohort;
  if (markers.length === 1) {
    const [only] = markers as [MarkerSeries];
    return [
      line("Cohort", `${counted(m, "individual")}, ${counted(only.times.length, "observation")} of ${described(only)}`),
      line("", followUp(only)),
    ].join("\n");
  }
  const all = `${counted(m, "individual")}, ${whole(numObservations(cohort))} values of ${counted(markers.length, "marker")}`;
  return [
    line("Cohort", all),
    ...markers.map((own) => line("", `${described(own)}: ${whole(own.times.length)} in all, ${followUp(own)}`)),
  ].join("\n");
}

function described({ marker: { name, unit, transform } }: MarkerSeries): string {
  const scale = transform === "identity" ? "" : `, modelled on the ${transform} scale`;
  return `${name}${unit && ` (${unit})`}${scale}`;
}

/** How often and from when to when a marker was observed, over those who have it. */
function followUp({ marker: { timeUnit }, offsets, times }: MarkerSeries): string {
  const n = offsets
    .subarray(1)
    .map((end, i) => end - (offsets[i] ?? 0))
    .filter((count) => count > 0)
    .sort();
  const m = n.length;
  const without = offsets.length - 1 - m;
  const singles = n.filter((k) => k === 1).length;
  const first = times.reduce((low, t) => Math.min(low, t), Number.POSITIVE_INFINITY);
  const last = times.reduce((high, t) => Math.max(high, t), Number.NEGATIVE_INFINITY);
  const none = without === 0 ? "" : `, ${whole(without)} with none`;
  return (
    `${counted(n[Math.floor(m / 2)] ?? 0, "observation")} in the median individual (${n[0]} to ${n[m - 1]}; ${whole(singles)} with one${none}), ` +
    `from ${significant(first)} to ${significant(last)}${timeUnit && ` ${timeUnit}`}`
  );
}

/** What a mixed model with a constant mean leaves out, where it stands beside a map. */
const CONSTANT_MEAN =
  "A constant mean leaves the curve that everybody shares to the differences between individuals, which costs likelihood; a map bends with time all the same. How far the values above are apart does not tell what the map adds: dtm compare has the mixed model with a mean curve, held out.";

/** One row per model: what was maximised and its value (all in-sample), noise, how the fit ended; and what not to read from it. */
export function modelTable(fits: readonly ScoredFit[], m: number): string {
  const described = fits.some(({ model }) => codingOf(model) !== undefined);
  const rows = fits.map(({ model, logLikelihood }) => {
    const { converged, iterations, trace } = model.record;
    const isMap = isMapModel(model);
    const value = isMap ? (trace.at(-1) ?? Number.NaN) : logLikelihood;
    return [
      `${modelTitle(model)}${described && codingOf(model) === undefined ? ", without covariates" : ""}`,
      `${isMap ? "bound" : "log-likelihood"}${model.markers.some(({ noise }) => isApproximate(noise)) ? ", approximate" : ""}`,
      value.toFixed(2),
      (value / m).toFixed(3),
      model.markers.map(({ noise }) => significant(rootMeanSquare(noise))).join(", "),
      `${converged ? "yes" : "NO"}, ${counted(iterations, "iteration")}`,
    ];
  });
  const columns = ["Model", "in-sample", "value", "per individual", "noise sd", "settled"];
  const isFlattered =
    fits.some(({ model }) => isMapModel(model)) &&
    fits.some(({ model }) => model.kind === "lmm" && model.markers.some(({ mean }) => mean.kind === "scalar"));
  return `${table(columns, rows, [1, 5])}${isFlattered ? `\n\n${line("", CONSTANT_MEAN)}` : ""}`;
}

/** The root mean square of the noise, over the levels of individuals: E σ²λ = σ² exp(½ω²). */
function rootMeanSquare({ variance, spread = 0 }: MarkerModel["noise"]): number {
  return Math.sqrt(variance * Math.exp(0.5 * spread * spread));
}

/** What the noise of a model is, and why: of white noise where it was chosen, or was not looked at because of markers or covariates. */
export function noiseSummary(model: TrajectoryModel): string {
  const several = model.markers.length > 1;
  const unasked = several || codingOf(model) !== undefined;
  if (model.kind === "dtm" && unasked && model.markers.every(({ noise }) => noise.kind === "white")) {
    const why = several ? "several markers" : "covariates";
    return line("Noise", `one variance for everybody (white): with ${why} levels must be asked for, --noise level.`);
  }
  const told = model.markers.flatMap(({ noise, marker }) => {
    if (noise.kind === "white" && noise.reason === undefined) return [];
    const reason = noise.reason === undefined ? "" : ` ${noise.reason}`;
    return `${ofMarker(model, marker)}${describeNoise(noise, significant, marker.timeUnit)}.${reason}`;
  });
  return told.map((text, k) => line(k === 0 ? "Noise" : "", text)).join("\n");
}

/** "bili: " where there are several markers. */
function ofMarker({ markers }: TrajectoryModel, { name }: Marker): string {
  return markers.length === 1 ? "" : `${name}: `;
}

function modelTitle(model: TrajectoryModel): string {
  switch (model.kind) {
    case "lmm":
      return `linear mixed model, ${model.markers[0]!.mean.kind} mean`;
    case "fpca":
      return `principal components, rank ${model.mapDimension}`;
    case "dtm":
      return `trajectory map, ${counted(model.mapDimension, "dimension")}`;
    case "dtm-paper":
      return `trajectory map as published, ${counted(model.mapDimension, "dimension")}`;
    default:
      return (model satisfies never as TrajectoryModel).kind;
  }
}

/** What kind of map it is: share of variance, length-scale, residual, verdict (of a run: with all that was found since), warnings. */
export function mapSummary(model: TrajectoryModel, verdict: MapVerdict = mapVerdict(model)): string {
  const lines: string[] = [];
  if (model.kind === "dtm") {
    for (const [k, { marker, map, residual, varianceShare }] of model.markers.entries()) {
      const carried = `carries ${percent(varianceShare)} of the variation between individuals, in-sample; ${scales(map)}`;
      lines.push(line(k === 0 ? "Map" : "", ofMarker(model, marker) + carried));
      if (residual.kind === "none") lines.push(line("", "no residual effect beside the map"));
      else {
        const tau =
          residual.tau === null ? "" : ` (tau ${significant(residual.tau)}${residual.atCap ? ", at its cap" : ""})`;
        lines.push(line("", `the other ${percent(1 - varianceShare)} is a residual individual effect${tau}`));
      }
    }
  } else if (model.kind === "dtm-paper") {
    lines.push(line("Map", scales(markerModel(model).map)));
  }
  lines.push(verdictLines(verdict, "Trust"));
  for (const warning of model.record.warnings) lines.push(line("Warning", warning));
  return lines.join("\n");
}

/** The light of trust, the parts it comes from, and what would tell the rest. */
export function verdictLines({ words, lights }: MapVerdict, label = "The map"): string {
  const [only, ...others] = lights;
  if (others.length === 0) return line(label, only?.sentence ?? words);
  const told = lights.map(({ title, answer, sentence, evidence }) => {
    const check = answer === NOT_KNOWN_YET ? ` (${evidence.command} tells)` : "";
    return line("", `${title}: ${answer}. ${sentence}${check}`);
  });
  return [line(label, `${words}.`), ...told].join("\n");
}

function scales({ kernel }: MapModel["markers"][number]["map"]): string {
  if (kernel.kind === "linear") return "a linear map";
  const distinct = [...new Set(kernel.lengthscales)].map((x) => significant(x));
  return `length-scale${distinct.length > 1 ? "s" : ""} ${distinct.join(", ")}`;
}

/** Where individuals stand, drawn in characters. */
export function mapPicture({ placements }: FittedModel): string {
  const title = `${line("Places", "axis 1 to the right, axis 2 upwards; number of individuals:")}\n${INDENT}${LEGEND}`;
  return `${title}\n${textMap(placements.location, placements.mapDimension)}`;
}

/**
 * Median courses of every marker at the middle of the map and half-way out along its axes; a dash where n(t) similar individuals
 * (models/follow-up.ts), those measured then or later, are fewer than SUPPORTED.
 */
export function courseTables({ model, placements }: FittedModel, cohort: Cohort): string {
  const tables = model.markers.map((own, k) =>
    courseTable(model, own, similarFollowed({ ...placements, lastTime: lastTimes(cohort.markers[k]!) })),
  );
  const dashed = tables.some(({ isDashed }) => isDashed);
  const note = `–: fewer than ${SUPPORTED} similar individuals were followed that long; what the model expects there was not seen.`;
  return [...tables.map(({ text }) => text), ...(dashed ? [line("", note)] : [])].join("\n\n");
}

/** The time of everybody's last observation of a marker; −∞ without any. */
function lastTimes({ offsets, times }: MarkerSeries): Float64Array {
  return Float64Array.from({ length: offsets.length - 1 }, (_, i) =>
    offsets[i + 1]! > offsets[i]! ? times[offsets[i + 1]! - 1]! : Number.NEGATIVE_INFINITY,
  );
}

function courseTable(
  model: TrajectoryModel,
  own: MarkerModel,
  followedAt: ReturnType<typeof similarFollowed>,
): { readonly text: string; readonly isDashed: boolean } {
  const times = roundTimes(...basisDomain(own.basis));
  const q = model.mapDimension;
  const places = [new Float64Array(q)];
  for (let axis = 0; axis < Math.min(q, 2); axis++) {
    for (const step of [-1.5, 1.5]) {
      const place = new Float64Array(q);
      place[axis] = step;
      places.push(place);
    }
  }
  const cells = places.map((place) => {
    const { median } = predict(model, placementAt(model, place), times, { interval: "curve", marker: own.marker.name });
    const followed = followedAt(place);
    return times.map((t, k) => (followed(t) < SUPPORTED ? "–" : significant(median[k]!)));
  });
  const rows = places.map((place, k) => [
    `(${Array.from(place, (x) => significant(x)).join(", ")})`,
    ...(cells[k] ?? []),
  ]);
  const { name, unit, timeUnit } = own.marker;
  const title = line("Courses", `median ${name}${unit && ` (${unit})`} by place and time`);
  const header = ["at place", ...times.map((t) => `${significant(t)}${timeUnit && ` ${timeUnit}`}`)];
  return { text: `${title}\n${indent(table(header, rows))}`, isDashed: cells.flat().includes("–") };
}

/** Round times inside the domain, five or six of them. */
function roundTimes(first: number, last: number): number[] {
  const rough = (last - first) / 5;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = size * ([1, 2, 2.5, 5, 10].find((digit) => digit * size >= rough * 0.8) ?? 10);
  const start = Math.ceil(first / step);
  return Array.from({ length: Math.floor(last / step) - start + 1 }, (_, k) => (start + k) * step);
}

function indent(text: string): string {
  return text
    .split("\n")
    .map((row) => (INDENT + row).trimEnd())
    .join("\n");
}
