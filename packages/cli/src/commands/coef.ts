/** dtm coef RUN|MODEL: coefficients of a model as a tidy table, in the names of the R package. */
import type { MarkerModel, TrajectoryModel } from "@trajectory-maps/core";
import { effectTables } from "@trajectory-maps/report";
import { readModel } from "../io/run-folder.ts";
import type { Command } from "./command.ts";
import { MODEL_ARGUMENT } from "./embed.ts";
import { checkTableOut, TABLE_OUT_OPTIONS, tableResult } from "./table-out.ts";

/** A row of the table; lower and upper are the ends of a 95 % interval, null where there is none. */
interface Coefficient {
  readonly marker: string;
  readonly term: string;
  readonly estimate: number;
  readonly lower: number | null;
  readonly upper: number | null;
  readonly unit: string;
}

const COLUMNS = ["marker", "term", "estimate", "lower", "upper", "unit"] as const;

export const coefCommand: Command = {
  name: "coef",
  description:
    "Print the coefficients of a model as CSV: marker, term, estimate, lower, upper, unit. Effects and shifts of covariates have 95 % intervals.",
  arguments: [MODEL_ARGUMENT],
  options: TABLE_OUT_OPTIONS,
  examples: ["dtm coef run/ > coefficients.csv", "dtm coef run/model.json --json"],
  run: ([path = ""], options) => {
    checkTableOut(options);
    const model = readModel(path);
    const coefficients = coefficientsOf(model);
    const rows = coefficients.map((row) => COLUMNS.map((name) => row[name]));
    return tableResult({ columns: COLUMNS, rows }, { model: model.kind, coefficients }, options, "a model");
  },
};

/** Every number that a model holds of its markers, then what covariates do. */
export function coefficientsOf(model: TrajectoryModel): Coefficient[] {
  return [...model.markers.flatMap((part) => ofMarker(part)), ...effectsOf(model), ...shiftsOf(model)];
}

type AnyPart = MarkerModel & Partial<TrajectoryModel["markers"][number] & DtmPart>;
type DtmPart = Extract<TrajectoryModel, { kind: "dtm" }>["markers"][number];

function ofMarker(part: AnyPart): Coefficient[] {
  const { marker, mean, noise, basis, residual, map, varianceShare } = part;
  const scale = marker.transform === "identity" ? marker.unit : `${marker.transform} ${marker.unit}`.trim();
  const squared = scale === "" ? "" : `(${scale})²`;
  const { correlation } = noise;
  const kernel = map?.kernel;
  const lengthscales = kernel?.kind === "linear" || kernel === undefined ? [] : [...kernel.lengthscales];
  const isOne = new Set(lengthscales).size <= 1;
  const terms: readonly (readonly [string, number | null | undefined, string])[] = [
    ["noise.variance", noise.variance, squared],
    ["noise.spread", noise.spread, "sd of log variance"],
    ["noise.range", correlation?.range, marker.timeUnit],
    ["noise.white_share", correlation?.whiteShare, "share"],
    ["residual.tau", residual?.tau, "share of the mixed model's covariance"],
    ["map.share", varianceShare, "share of variance"],
    ["kernel.variance", kernel?.signalVariance, squared],
    ...(isOne ? lengthscales.slice(0, 1) : lengthscales).map(
      (value, k) => [`kernel.lengthscale${isOne ? "" : `.${k + 1}`}`, value, "sd of places"] as const,
    ),
    ...Array.from(mean.coefficients, (value, k) => [`mean.${k + 1}`, value, scale] as const),
    ...Array.from(basis.knots, (value, k) => [`knot.${k + 1}`, value, marker.timeUnit] as const),
  ];
  return terms.flatMap(([term, estimate, unit]) =>
    estimate === undefined || estimate === null
      ? []
      : [{ marker: marker.name, term, estimate, lower: null, upper: null, unit }],
  );
}

/** Effects in the mean: level or rate, then covariate, then its level. */
function effectsOf(model: TrajectoryModel): Coefficient[] {
  return (effectTables(model)?.effects ?? []).map((row) => {
    const { marker, quantity, covariate, level, estimate, lower, upper, unit } = row;
    const term = [quantity, covariate, ...(level === null ? [] : [level])].join(".");
    return { marker, term, estimate, lower, upper, unit };
  });
}

/** Half-width of a 95 % interval in standard errors. */
const Z_95 = 1.959963984540054;

/** Shifts of places, axis by axis: they belong to no marker. */
function shiftsOf(model: TrajectoryModel): Coefficient[] {
  return (effectTables(model)?.shifts ?? []).flatMap(({ covariate, level, shift, covariance, unit }) => {
    const q = shift.length;
    return Array.from(shift, (estimate, a) => {
      const reach = Z_95 * Math.sqrt(covariance[a * q + a] ?? Number.NaN);
      const term = ["shift", covariate, ...(level === null ? [] : [level]), `axis${a + 1}`].join(".");
      return { marker: "", term, estimate, lower: estimate - reach, upper: estimate + reach, unit };
    });
  });
}
