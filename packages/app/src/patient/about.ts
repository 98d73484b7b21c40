/** What the page says of the model it stands on, and how it is meant to be used. */
import type { TrajectoryModel } from "@trajectory-maps/core";
import { basisDomain } from "@trajectory-maps/core/models";
import type { PageAbout } from "@trajectory-maps/core/study";
import { percent, timeDecimals, timeWord, trimmed, whole } from "@trajectory-maps/report";

export const INTENDED_USE =
  "For research, teaching and talking with patients. It says what people of one cohort had, not what a person will have. It is not a medical device, and no decision should rest on it alone.";

export function titleOf({ markers }: TrajectoryModel, { title }: PageAbout): string {
  return title ?? `Course of ${markers.map(({ marker }) => marker.name).join(" and ")}`;
}

/** Who the model was made from. */
export function cohortSentence(model: TrajectoryModel, { cohort, years }: PageAbout): string {
  const { numIndividuals, numObservations } = model.record;
  const who = [cohort, years].filter((part) => part !== undefined).join(", ");
  return `Made from ${whole(numObservations)} values of ${whole(numIndividuals)} people${who === "" ? "" : ` (${who})`}.`;
}

/** What the model does not know. */
export function limitSentences(model: TrajectoryModel): string[] {
  const [{ marker, basis }] = model.markers;
  const [first, last] = basisDomain(basis);
  const word = timeWord(marker.timeUnit);
  const time = (t: number) => trimmed(t, timeDecimals(first, last));
  const coverage = model.markers.length === 1 ? model.calibration?.coverage : model.markers[0].calibration?.coverage;
  return [
    `It knows courses from ${word} ${time(first)} to ${time(last)}, and only of people like those it was made from; whoever is treated, measured or chosen otherwise may go another way.`,
    coverage === undefined
      ? "How often its forecasts hold for people who were not in the fit has not been measured."
      : `Its outer bands held ${percent(coverage.calibrated)} of later visits of people who were not in the fit.`,
    "Bands are for one time each; they do not say what is cause and what is effect.",
  ];
}
