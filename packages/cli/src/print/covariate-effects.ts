/** What covariates do under a fitted map, as a terminal shows it. */
import type { TrajectoryModel } from "@trajectory-maps/core";
import { type CovariateStep, covariateEffects } from "@trajectory-maps/core/models";
import { table } from "./table.ts";
import { line, significant } from "./words.ts";

/** Half-widths of 95 % intervals of a shift along one axis. */
const Z_95 = 1.959963984540054;

/** Shifts of places and effects in the mean, with 95 % intervals; empty for a model without covariates. */
export function effectsPage(model: TrajectoryModel): string {
  const coding = model.kind === "dtm" ? model.covariates : undefined;
  if (coding === undefined) return "";
  // Numbers are told by a step of about a standard deviation.
  const numbers = coding.columns.filter(({ level }) => level === null);
  const steps = Object.fromEntries(numbers.map(({ name, scale }) => [name, Number(scale.toPrecision(2))]));
  const { effects, shifts } = covariateEffects(model, { steps });
  const compared = ({ covariate, level, reference, step }: CovariateStep) =>
    level === null ? `${covariate}, per ${step}` : `${covariate}, ${level} against ${reference}`;
  const parts: string[] = [];
  if (shifts.length > 0) {
    const q = model.mapDimension;
    const cell = (shift: Float64Array, covariance: Float64Array, a: number) =>
      `${signed(shift[a] ?? 0)} ± ${significant(Z_95 * Math.sqrt(covariance[a * q + a] ?? 0))}`;
    const rows = shifts.map((row) => [
      compared(row),
      ...Array.from(row.shift, (_, a) => cell(row.shift, row.covariance, a)),
      significant(row.length),
    ]);
    const axes = Array.from({ length: q }, (_, a) => `axis ${a + 1}`);
    const note =
      "Where people stand before anything is measured, in standard deviations of places given covariates (± half a 95% interval). " +
      "Read them on the map. Tests without a refit: dtm covariates.";
    parts.push(line("Shifts", note), "", table(["Covariate", ...axes, "length"], rows));
  }
  if (effects.length > 0) {
    const rows = effects.map((row) => [
      `${row.marker}, ${row.quantity}`,
      compared(row),
      signed(row.estimate),
      `${signed(row.lower)} to ${signed(row.upper)}`,
    ]);
    const note =
      "In the mean course: level in the middle of the times, rate per unit of time, on the scale of the model.";
    parts.push(...(parts.length > 0 ? [""] : []), line("Effects", note), "");
    parts.push(table(["Marker", "covariate", "effect", "95% CI"], rows));
  }
  return parts.join("\n");
}

function signed(x: number): string {
  return x < 0 ? `−${significant(-x)}` : `+${significant(x)}`;
}
