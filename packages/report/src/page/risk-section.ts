/** Death and dropout: risks by the place at the landmark, checks of Cox's model, and courses of those who left. */
import { isShown } from "../figures/risk.ts";
import {
  counted,
  fixed,
  interval,
  NONE,
  percent,
  pValue,
  ratio,
  ratioInterval,
  significant,
  timeSpan,
  timeWord,
} from "../numbers.ts";
import { rough } from "../small-cells.ts";
import type { StudySurvival } from "../study.ts";
import {
  AFTER_DEATH,
  CROSS_FITTED,
  deltaText,
  deltaUnit,
  POOLED_NOTE,
  PROPORTIONAL_NOTE,
  riskTitle,
  shiftSentence,
} from "../survival-words.ts";
import { capital, midSentence } from "../words.ts";
import { html, type Markup } from "./html.ts";
import { figureHtml, type PageContext, type Section, scrollHtml, tableHtml } from "./parts.ts";

export function riskSection(context: PageContext): Section | undefined {
  const { survival } = context.study;
  if (survival === undefined) return undefined;
  const parts = [coxPart, riskPart, dropoutPart]
    .map((part) => part(context, survival))
    .filter((part) => part !== undefined);
  if (parts.length === 0) return undefined;
  return {
    id: "risks",
    title: riskTitle(survival),
    body: html`${parts}`,
  };
}

/** Width of a figure over the whole page. */
const WIDE = 1112;

const small = (text: string) => html`<p class="sub" style="font-size:13px;margin-top:8px">${text}</p>`;

/** Cox at mean places and over draws of them, and whether hazards stay proportional. */
function coxPart(
  _: PageContext,
  { cox, coxCovariates = [], pooledCox, proportionalHazards }: StudySurvival,
): Markup | undefined {
  if (cox === undefined || proportionalHazards === undefined) return undefined;
  const axes = cox.terms.length - coxCovariates.length;
  const names = ["Horizontal place", "Vertical place", "Third direction"];
  const [km, identity] = proportionalHazards;
  const p = (value: number | undefined) => pValue(value ?? Number.NaN);
  const rows = cox.terms.map((term, k) => {
    const [visits, pooled] = [pooledCox?.visits.terms[k], pooledCox?.event.terms[k]];
    const over = (own: typeof pooled) =>
      own === undefined ? NONE : `${ratio(own.hazardRatio)} (${ratioInterval(own.hazardLower, own.hazardUpper)})`;
    return [
      k < axes ? `${names[k] ?? `Direction ${k + 1}`}, per prior sd` : coxCovariates[k - axes],
      `${ratio(term.hazardRatio)} (${ratioInterval(term.lower, term.upper)})`,
      over(visits),
      over(pooled),
      pooled === undefined ? NONE : percent(pooled.missingInformation),
      p(km?.terms[k]?.pValue),
      p(identity?.terms[k]?.pValue),
    ];
  });
  const all = ["All together", "", "", "", "", p(km?.global.pValue), p(identity?.global.pValue)];
  const columns = [
    "Hazard ratio (95% CI)",
    "at mean places",
    "draws given visits",
    "draws given the event too",
    "missing",
    "p, time by KM",
    "p, time",
  ];
  return html`<h3>Does Cox's model hold, and what do uncertain places change?</h3>
${scrollHtml("Checks of Cox regression", tableHtml({ columns, rows: [...rows, all] }, "Cox regression at mean places and over draws, and tests of proportional hazards"))}
${small(`${pooledCox ? `${counted(pooledCox.event.draws, "draw")}. ${POOLED_NOTE}` : "Places were not drawn: too few events, a hazard ratio without finite estimate, or too many individuals."} p: ${midSentence(PROPORTIONAL_NOTE)}`)}`;
}

/** Cross-fitted concordance and calibration. */
function riskPart(context: PageContext, { risk, cox, predictors, competing }: StudySurvival): Markup | undefined {
  if (!risk) return undefined;
  const { smallCell, study } = context;
  const { value, lower, upper, standardError } = risk.concordance;
  const base = predictors?.rows.find((row) => row.predictors.endsWith("last value and visits"));
  const beside = [
    ...(cox === undefined ? [] : [`${fixed(cox.concordance.concordance, 2)} on the individuals it was fitted to`]),
    ...(base === undefined || !Number.isFinite(base.value)
      ? []
      : [`${fixed(base.value, 2)} of ${base.predictors} alone, held out`]),
  ];
  const unit = study.cohort.marker.timeUnit;
  const share = (x: number) => (Number.isFinite(x) ? percent(x) : NONE);
  // At 100% there is no interval.
  const spanOf = ({ lower, upper }: { readonly lower: number; readonly upper: number }) =>
    Number.isFinite(lower) && Number.isFinite(upper) ? `${percent(lower)} to ${percent(upper)}` : "no interval";
  const rows = risk.calibration.flatMap(({ time, overall, groups }) =>
    [
      ...(groups.length > 1 ? groups.map((group, k) => ({ name: `part ${k + 1} of ${groups.length}`, group })) : []),
      { name: "everyone", group: overall },
    ].map(({ name, group }) => {
      const told = isShown(group, smallCell);
      return [
        `${timeSpan(time, unit)}, ${name}`,
        rough(group.numIndividuals, smallCell),
        rough(group.numEvents, smallCell),
        percent(group.predicted),
        told ? `${share(group.observed)} (${spanOf(group)})` : NONE,
        told ? fixed(group.observed / group.predicted, 2) : NONE,
      ];
    }),
  );
  const columns = ["Time and part", "individuals", "events", "predicted", "observed (95% CI)", "observed/predicted"];
  return html`<h3>Are the risks right?</h3><p class="sub" style="font-size:14px">Concordance of cross-fitted risks ${fixed(value, 2)} (95% CI ${interval(lower, upper, 2, 0.5)}; s.e. ${fixed(standardError, 3)})${beside.length > 0 ? `, beside ${beside.join(" and ")}` : ""}. ${CROSS_FITTED}</p>
${figureHtml(context, "risk-calibration", WIDE)}
${scrollHtml("Calibration", tableHtml({ columns, rows }, "Predicted and observed risk"))}
${small(`Observed: ${competing ? "Aalen–Johansen" : "one less Kaplan–Meier"}. The rows of everyone are calibration in the large.`)}`;
}

/** What courses mean after the last visit, and what changes under shifts. */
function dropoutPart(context: PageContext, { dropout }: StudySurvival): Markup | undefined {
  if (dropout === undefined) return undefined;
  const { smallCell } = context;
  const { groups, rows, at, who, marker, numLeft, numIndividuals } = dropout;
  const hidden = groups.map(({ numMembers }) => numMembers < smallCell);
  const columns = [
    `delta (${deltaUnit(dropout)})`,
    ...groups.flatMap(({ letter }) => [`${letter} median`, `${letter} mean forecast`]),
  ];
  const table = rows.map(({ delta, groups: own }) => [
    deltaText(delta),
    ...own.flatMap(({ median, forecast }, g) =>
      hidden[g] ? [NONE, NONE] : [significant(median), significant(forecast)],
    ),
  ]);
  const left = groups.flatMap(({ numLeft: n, numMembers }) => [
    `${rough(n, smallCell)} of ${rough(numMembers, smallCell)}`,
    "",
  ]);
  return html`<h3>What is a course after death, and what if those who left went on otherwise?</h3>
<p class="sub" style="font-size:14px">${AFTER_DEATH}</p>
<p class="sub" style="font-size:14px">${shiftSentence(dropout)} ${capital(who)} are ${rough(numLeft, smallCell)} of ${rough(numIndividuals, smallCell)} individuals. Groups are compared at ${timeWord(marker.timeUnit)} ${significant(at)}.</p>
${figureHtml(context, "dropout", WIDE)}
${scrollHtml("Groups delta by delta", tableHtml({ columns, rows: [...table, ["left by then", ...left]] }, "Median and mean forecast of each group, delta by delta"))}
${tippingHtml(dropout)}`;
}

/** Where the medians of two groups meet, a row for each pair. */
function tippingHtml(dropout: NonNullable<StudySurvival["dropout"]>): Markup | false {
  const { tipping, groups, reach, marker, at } = dropout;
  if (tipping.length === 0) return false;
  const shown = (delta: number | null) => (delta === null ? NONE : deltaText(delta));
  const rows = tipping.map(({ first, second, difference, both, firstAlone, secondAlone }) => [
    `${groups[first].letter} less ${groups[second].letter}`,
    significant(difference),
    ...[both, firstAlone, secondAlone].map(shown),
  ]);
  const unit = marker.unit === "" ? "" : ` (${marker.unit})`;
  const columns = [
    "Groups",
    `difference without a shift${unit}`,
    "delta in both",
    "in the first alone",
    "in the second alone",
  ];
  return html`<h3>At which delta does a difference vanish?</h3>
${scrollHtml("Tipping points", tableHtml({ columns, rows }, "Shifts at which the medians of two groups meet"))}
${small(`Delta nearest to 0 (${deltaUnit(dropout)}) at which the medians of two groups meet at ${timeWord(marker.timeUnit)} ${significant(at)}, if those who left of both groups or of one are shifted; ${NONE}: none up to ${significant(reach)} either way.`)}`;
}
