/** What a planned study would find, in words: tables, a paragraph for an application, and the figure. */
import { BAND_SDS, type LinkPower, type PlaceCertainty, type StudyPower } from "@trajectory-maps/core/study";
import type { DataTable, Figure } from "../figures/figure.ts";
import { drawPower, LINK_WORDS } from "../figures/power.ts";
import { counted, fixed, interval, NONE, percent, significant, timeWord, whole } from "../numbers.ts";

/** What the simulated values come from. */
export interface PowerSource {
  readonly marker: string;
  /** Unit of the values and of times; empty if not known. */
  readonly unit: string;
  readonly timeUnit: string;
  /** Individuals that the map was fitted to. */
  readonly numIndividuals: number;
  /** Whether these were simulated themselves: then the map only stands in for one of real people. */
  readonly standsIn: boolean;
}

/** "1", "4 to 5", "9 or more"; "all" for everybody. */
function visitWords({ visits }: PlaceCertainty): string {
  if (visits === null) return "all";
  const { from, to } = visits;
  return to === null ? `${from} or more` : to === from ? String(from) : `${from} to ${to}`;
}

/** Places by visits. */
export function placesTable({ places }: StudyPower): DataTable {
  const row = (one: PlaceCertainty) => [
    visitWords(one),
    percent(one.share),
    `${fixed(one.radius.median, 2)} (${interval(one.radius.lower, one.radius.upper, 2)})`,
    `${percent(one.resolved)} (${fixed(100 * one.resolvedError, 1)})`,
  ];
  return {
    columns: ["visits", "individuals", "radius of 90% region (IQR)", "variance resolved (MC error)"],
    rows: [["none", "", fixed(places.priorRadius, 2), "0%"], ...places.classes.map(row), row(places.all)],
  };
}

/** The smallest links found with the power asked for. */
export function linksTable({ links, map, power }: StudyPower): DataTable {
  return {
    columns: [
      "outcome along",
      `odds ratio at ${percent(power)} power`,
      "95% MC interval",
      "risks",
      ...(map === "fitted" ? ["map known"] : []),
    ],
    rows: links.map(({ kind, smallest, knownSmallest, curve, resolved, groupShare }) => [
      `${LINK_WORDS[kind]} (${resolved === null ? `${percent(1 - (groupShare ?? 0))} and ${percent(groupShare ?? 0)}` : percent(resolved)})`,
      smallest === null ? `above ${oddsText(curve[curve.length - 1].effect)}` : oddsText(smallest.effect),
      smallest === null ? NONE : `${oddsText(smallest.lower)} to ${oddsText(smallest.upper)}`,
      smallest === null ? NONE : `${percent(smallest.risks.lower)} and ${percent(smallest.risks.upper)}`,
      ...(map === "fitted" ? [knownSmallest === null ? NONE : oddsText(knownSmallest.effect)] : []),
    ]),
  };
}

/** Widths of forecasts. */
export function forecastTable({ forecasts }: StudyPower, { unit, timeUnit }: PowerSource): DataTable {
  const word = timeWord(timeUnit);
  return {
    columns: [
      `at ${word}`,
      `median width of 90% band${unit && `, ${unit}`}`,
      "without visits",
      "mean width in SDs of the marker (MC error)",
    ],
    rows: forecasts.widths.map(({ time, width, widthWithoutVisits, inSds, inSdsError }) => [
      significant(time),
      significant(width),
      significant(widthWithoutVisits),
      `${fixed(inSds, 2)} (${significant(inSdsError, 1)})`,
    ]),
  };
}

/** A paragraph for an application: what was simulated, what would be found, what is assumed. */
export function powerParagraph(study: StudyPower, source: PowerSource): string {
  const { numIndividuals: m, visits, links, places, forecasts, risk, level, power, replicates, numOutcomes } = study;
  const word = timeWord(source.timeUnit);
  const from = source.standsIn
    ? `a map fitted to ${counted(source.numIndividuals, "simulated individual")} (${source.marker}), which stands in for one of the disease`
    : `a map fitted to ${source.marker} of ${counted(source.numIndividuals, "individual")}`;
  const analysed =
    study.map === "fitted"
      ? "In each, a map was fitted to the simulated values, everybody was placed on it,"
      : "In each, everybody was placed on that map (a study that fits its own would find less),";
  const first =
    `We simulated ${whole(replicates)} studies of ${counted(m, "individual")} with a median of ${significant(visits.median)} visits each (IQR ${significant(visits.lower)}-${significant(visits.upper)}), ` +
    `with places, courses and measurement noise of ${from}. ${analysed} and outcomes with an overall risk of ${percent(risk)} were tested against whole posteriors of places ` +
    `at the ${percent(level, level < 0.01 ? 1 : 0)} level (${counted(numOutcomes, "outcome")} for each effect in each).`;
  const found = links.map((link) => linkSentence(link, power));
  const last = forecasts.widths[forecasts.widths.length - 1];
  const told =
    `The 90% region of a place would have a median radius of ${fixed(places.all.radius.median, 2)} prior standard deviations (${fixed(places.priorRadius, 2)} without visits), ` +
    `and ${percent(places.all.resolved)} (Monte Carlo error ${fixed(100 * places.all.resolvedError, 1)}) of the prior variance of places would be resolved. ` +
    `From visits up to ${word} ${significant(forecasts.until)}, a 90% forecast band at ${word} ${significant(last.time)} would be ${fixed(last.inSds, 2)} (Monte Carlo error ${significant(last.inSdsError, 1)}) standard deviations of the marker wide, ` +
    `against ${fixed(BAND_SDS, 2)} without visits.`;
  const assumed =
    "This assumes that the map describes the people to be studied, that missed visits and dropout do not depend on the course, and that the log-odds of the outcome change linearly along the direction named.";
  return [first, ...found, told, assumed].join(" ");
}

function linkSentence({ kind, smallest, curve, groupShare, resolved }: LinkPower, power: number): string {
  const along = {
    "most-resolved": `along the direction of the map that these visits resolve best (${percent(resolved ?? 0)} of its variance)`,
    "least-resolved": `along the direction that they resolve least (${percent(resolved ?? 0)})`,
    groups: `between the two groups that the map would be divided into (${percent(1 - (groupShare ?? 0))} and ${percent(groupShare ?? 0)} of individuals)`,
  }[kind];
  if (smallest === null) {
    return `No odds ratio up to ${oddsText(curve[curve.length - 1].effect)} would be found with ${percent(power)} power ${along}.`;
  }
  const { effect, lower, upper, risks } = smallest;
  const per = kind === "groups" ? "" : " per prior standard deviation";
  const meaning = kind === "groups" ? "" : " one standard deviation to either side";
  return (
    `An odds ratio of ${oddsText(effect)} (95% Monte Carlo interval ${oddsText(lower)} to ${oddsText(upper)})${per} ${along} would be found with ${percent(power)} power, ` +
    `that is risks of ${percent(risks.lower)} and ${percent(risks.upper)}${meaning}.`
  );
}

/** An odds ratio from its logarithm. */
function oddsText(logOdds: number): string {
  return Number.isFinite(logOdds) ? significant(Math.exp(logOdds), 3) : "more than was tried";
}

/** Power, certainty of places and width of forecasts, in one figure. */
export function powerFigure(study: StudyPower, source: PowerSource): Figure {
  const { links, map, power, replicates } = study;
  const effects = links[0].curve.map((_, e) => e);
  return {
    key: "power",
    title: `What a study of ${counted(study.numIndividuals, "individual")} would find`,
    caption: `Above: share of ${whole(replicates)} simulated studies that find an outcome of ${percent(study.risk)} risk, over its odds ratio per prior standard deviation of places, or between two groups${map === "fitted" ? "; thin lines: if the map were known" : ""}. Bars are Monte Carlo errors. Below: radius of the 90% region of a place by number of visits, and width of 90% forecast bands from visits up to ${timeWord(source.timeUnit)} ${significant(study.forecasts.until)}.`,
    summary: links.map((link) => linkSentence(link, power)).join(" "),
    table: {
      columns: ["Outcome along", ...effects.flatMap((e) => [`odds ratio ${e + 1}`, "power (error)"])],
      rows: links.map(({ kind, curve }) => [
        LINK_WORDS[kind],
        ...curve.flatMap(({ effect, power: found, standardError }) => [
          oddsText(effect),
          `${percent(found)} (${fixed(100 * standardError, 1)})`,
        ]),
      ]),
    },
    width: 640,
    draw: (canvas) => drawPower(study, timeWord(source.timeUnit), canvas),
  };
}
