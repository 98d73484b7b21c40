/** A place and its forecast in words, for those who read and for assistants that speak with them. */
import { chance, counted, percent, significant } from "../print/words.ts";
import type { ServedModel } from "./models.ts";
import type { PlaceRequest, PlaceResponse } from "./schemas.ts";

/** Groups told with their probabilities. */
const GROUPS_TOLD = 2;

export function explain({ info }: ServedModel, request: PlaceRequest, found: PlaceResponse): string {
  const { place, groups, forecasts, crossing, suspects, warnings } = found;
  const markers = info.markers.map(({ name }) => name).join(", ");
  const sentences = [
    `The map "${info.name}" knows courses of ${markers} of ${counted(info.individuals, "individual")}.`,
    request.visits.length === 0
      ? "Without visits this is the whole population."
      : `By ${counted(request.visits.length, "value")} the place is (${place.location.map(significant).join(", ")}), in standard deviations of the population.`,
  ];
  if (place.outside > 0.5) sentences.push("The map says nothing there: nobody similar was seen.");
  const likely = [...groups].sort((a, b) => b.probability - a.probability).slice(0, GROUPS_TOLD);
  if (likely.length > 0) {
    const told = likely.map(({ letter, name, probability }) => `${letter} (${name}), ${percent(probability)}`);
    sentences.push(`Most probable groups: ${told.join("; ")}.`);
  }
  for (const { marker, unit, interval, level, rows } of forecasts) {
    const { timeUnit } = info.markers.find(({ name }) => name === marker)!;
    const kind = interval === "curve" ? "the curve" : "a new measurement";
    const name = `${interval === "conformal" ? "calibrated " : ""}${percent(level)} band of ${kind}`;
    for (const row of rows) {
      const band = `${told(row.lower)} to ${told(row.upper)}`;
      const unsure = row.extrapolated === 1 ? " This is extrapolated." : "";
      sentences.push(
        `${marker} at time ${significant(row.time)}${timeUnit && ` (${timeUnit})`}: ${told(row.median)}${unit && ` ${unit}`}, ${name} ${band}.${unsure}`,
      );
    }
  }
  if (crossing !== null) sentences.push(crossingWords(crossing));
  for (const { marker, time, value, expected, probability } of suspects) {
    sentences.push(
      `${marker} ${significant(value)} at time ${significant(time)} is probably wrong (P ${chance(probability)}); expected was about ${significant(expected)}.`,
    );
  }
  return [...sentences, ...warnings].join("\n");
}

function crossingWords({
  marker,
  threshold,
  direction,
  until,
  probability,
  time50,
}: NonNullable<PlaceResponse["crossing"]>) {
  if (probability === null) return `Of ${marker} crossing ${significant(threshold)} nothing can be said.`;
  const middle = time50 === null ? "" : `, as likely as not by time ${significant(time50)}`;
  return `${marker} goes ${direction} ${significant(threshold)} with probability ${chance(probability).replace(/^= /, "")} until time ${significant(until)}${middle}.`;
}

function told(value: number | null): string {
  return value === null ? "unknown" : significant(value);
}
