/** Tables 1 and 2 and survival: does the map describe the data better, is it related to outcomes, and to what comes after. */
import { isTooNarrow } from "@trajectory-maps/core/study";
import { drawWhisker } from "../figures/effects.ts";
import { serialize } from "../figures/svg.ts";
import {
  adjustedPValue,
  cell,
  counted,
  decimalsFor,
  fixed,
  interval,
  listWords,
  maskSmall,
  NONE,
  percent,
  pValue,
  ratio,
  ratioInterval,
  signed,
  signedInterval,
  significant,
} from "../numbers.ts";
import { outcomeLines, outcomeNote } from "../outcome-words.ts";
import { cellsOf, rough } from "../small-cells.ts";
import type { StudyAssociation, StudyEstimate, StudyPredictors } from "../study.ts";
import { coxCautions } from "../survival-words.ts";
import {
  adjustedSentence,
  COMPARISON_NOTES,
  capital,
  gainSentence,
  midSentence,
  modelName,
  modelNote,
  numberWord,
  OUTCOME_METHOD,
  outcomeName,
  outcomeReading,
  PREDICTOR_METHOD,
  SEPARATION_NOTE,
} from "../words.ts";
import { absoluteRisks } from "./absolute-risks.ts";
import { onMap, withoutNames } from "./header.ts";
import { html, type Markup, raw } from "./html.ts";
import { COLUMN, figureHtml, noteHtml, type PageContext, type Section, scrollHtml, tableName } from "./parts.ts";

export function comparisonSection(context: PageContext): Section | undefined {
  const { comparison, cohort } = context.study;
  if (comparison === undefined) return undefined;
  const { models, differences, folds, repeats = 1 } = comparison;
  const reference = differences[0]?.reference;
  const errorUnit = cohort.marker.transform === "identity" ? cohort.marker.unit : `${cohort.marker.transform} scale`;
  const decimals = Math.max(0, decimalsFor(models[0].forecast.mae) + 2);
  const rows = models.map((m) => {
    const d = differences.find(({ model }) => model === m.model);
    const strong = m.model === "dtm" || (m.model === "dtm-paper" && !models.some(({ model }) => model === "dtm"));
    return html`<tr class="${strong ? "hl" : "row"}"><th scope="row">${modelName(m.model)} <span class="mu">${modelNote(m.model)}</span></th>
<td>${fixed(m.subjectLogLik.mean, 2)}</td><td class="mu">${fixed(m.subjectLogLik.se, 2)}</td><td class="mu">${fixed(m.subjectLogLik.sd, 2)}</td>
<td>${fixed(m.observationLogLik.mean, 3)}</td><td class="mu">${fixed(m.observationLogLik.se, 3)}</td><td class="mu">${fixed(m.observationLogLik.sd, 3)}</td>
<td>${d === undefined ? (m.model === reference ? "reference" : NONE) : html`${signed(d.mean, 2)} <span class="mu">(${interval(d.lower, d.upper, 2, 0)})</span>`}</td>
<td>${percent(m.coverage.p50)}</td><td>${percent(m.coverage.p90)}</td><td>${fixed(m.forecast.crps, decimals)}</td><td>${fixed(m.forecast.mae, decimals)}</td></tr>`;
  });
  const next = models.flatMap((m) => (m.nextVisit === undefined ? [] : [{ ...m, nextVisit: m.nextVisit }]));
  const knownClasses = next[0]?.nextVisit.byKnown ?? [];
  const nextRows = next.map(
    ({ model, nextVisit: n }) =>
      html`<tr><th scope="row">${modelName(model)}</th><td>${fixed(n.crps, decimals)}</td><td>${fixed(n.mae, decimals)}</td><td>${percent(n.coverage.p50)}</td><td>${percent(n.coverage.p90)}</td>${knownClasses.map((_, k) => html`<td>${percent(n.byKnown[k].p90)}</td>`)}</tr>`,
  );
  const nextTable = html`<table><caption><b>${tableName(context, "models")} b.</b> Forecasts of every visit from all before it: error, coverage, and coverage of 90% intervals by the number of visits known.</caption>
<thead><tr><th scope="col">Model</th><th scope="col">CRPS</th><th scope="col">MAE</th><th scope="col">coverage of<br>50% interval</th><th scope="col">coverage of<br>90% interval</th>${knownClasses.map(({ from, to }) => html`<th scope="col">${from === to ? from : `${from}–${to}`}<br>known</th>`)}</tr></thead><tbody>${nextRows}</tbody></table>`;
  const means = [...new Set(models.filter(({ model }) => ["fpca", "dtm"].includes(model)).map(({ mean }) => mean))];
  const narrow = models.filter(({ coverage }) => isTooNarrow(coverage.p90));
  const table = html`<table><caption><b>${tableName(context, "models")} a.</b> Log-likelihood of held-out individuals on the scale of the model, with standard error and standard deviation over folds; forecasts of later visits from the first half.</caption>
<thead><tr><th scope="col">Model</th><th scope="col">per<br>individual</th><th scope="col">s.e.</th><th scope="col">s.d.</th><th scope="col">per<br>observation</th><th scope="col">s.e.</th><th scope="col">s.d.</th><th scope="col">difference<br>(95% CI, paired)</th><th scope="col">coverage of<br>50% interval</th><th scope="col">coverage of<br>90% interval</th><th scope="col">CRPS</th><th scope="col">MAE${errorUnit === "" ? "" : html`<br>(${errorUnit})`}</th></tr></thead><tbody>${rows}</tbody></table>`;
  const body = html`<p class="sub">${withoutNames(onMap(context, comparison.verdict))} ${capital(numberWord(folds))}-fold cross-validation over individuals${repeats > 1 ? `, ${repeats} times,` : ""} with the same folds for every model${means.length === 1 ? ` and a ${means[0] === "scalar" ? "constant population mean" : "mean curve"} for FPCA and the map` : ""}.</p>
${scrollHtml("Comparison of models", table)}
${next.length > 0 && scrollHtml("Forecasts of the next visit", nextTable)}
${(comparison.warnings ?? []).map(({ code, message }) => noteHtml(COMPARISON_NOTES[code] ?? "Note.", message))}
${narrow.length > 0 && noteHtml("Forecast intervals are too narrow.", `90% intervals held ${listWords(narrow.map(({ model, coverage, forecast }) => `${percent(coverage.p90)} of ${cell(forecast.count, context.smallCell)} later visits (${midSentence(modelName(model))})`))}.`)}
<div class="two">${figureHtml(context, "differences")}<p class="sub" style="font-size:13px">Log-likelihoods are sums over an individual's observations; the columns are means of the folds' means, with standard error and standard deviation over folds. Differences are means over individuals of paired differences, which is why they are clearer than the separate standard errors suggest, and why they may not be the difference of two columns to the last digit where folds differ in size.</p></div>
<div class="three">${figureHtml(context, "coverage", COLUMN.three)}${figureHtml(context, "pit", COLUMN.three)}${figureHtml(context, "horizon", COLUMN.three)}</div>`;
  return { id: "models", title: "Does the map describe the data better?", body };
}

type LeftOut = NonNullable<NonNullable<PageContext["study"]["survival"]>["leftOut"]>;
type Tested = StudyAssociation["outcomes"][number];

export function outcomeSection(context: PageContext): Section | undefined {
  const { association } = context.study;
  if (association === undefined || association.outcomes.length === 0) return undefined;
  const { outcomes, controls = [], adjustedFor = [], leftOut = 0 } = association;
  const adjusted =
    adjustedFor.length > 0 &&
    html`<p class="sub"><b>${adjustedSentence(adjustedFor, leftOut, rough(leftOut, context.smallCell))}</b> Tests, AUCs and maps of differences are those at equal covariates; the published density test has no such form and is left out.</p>`;
  const following = controls.filter(({ p }) => p < 0.05);
  // That visits follow the course is told once for all outcomes, in the note.
  const other = outcomes.flatMap(({ outcome, warnings }) =>
    warnings
      .filter(({ code }) => code !== "visits-follow-course" || following.length === 0)
      .map(({ message }) => html`<li>${outcomeName(outcome)}: ${maskSmall(message, context.smallCell)}</li>`),
  );
  const { related, rest } = outcomeLines(outcomes, context);
  const body = html`${related.length > 0 && html`<ul class="sub outcomes">${related.map(({ name, sentence, p }) => html`<li><b>${name}.</b> ${sentence} <span class="mu">p ${p}</span></li>`)}</ul>`}
${rest !== "" && html`<p class="sub">${rest}</p>`}
<p class="sub" style="font-size:13px">${outcomeNote(outcomes)} ${OUTCOME_METHOD} AUC: how often, from these records, one with the outcome is placed on their side of one without, each pair judged without itself (leave-pair-out); 0.5 is chance, and without a relation estimates fall on either side of it.</p>
${adjusted}
${scrollHtml("Outcomes and the map", mainTable(context, outcomes))}
${
  outcomes.some(({ predictors }) => predictors) &&
  html`<h3>Does the place separate better than ${adjusted ? "covariates, " : ""}last value and visits?</h3><p class="sub">${gainSentence(outcomes)}</p>
${scrollHtml("Simple predictors and the place", predictorTable(context, outcomes))}
<p class="sub" style="font-size:13px;margin-top:8px">${PREDICTOR_METHOD} ${SEPARATION_NOTE}</p>`
}
${following.length > 0 && noteHtml("Visits follow the course.", `Tested like an outcome, ${listWords(following.map(({ control, p, draws }) => `${control} (p ${pValue(p, draws)})`))} ${following.length === 1 ? "goes" : "go"} with the place. That is no error by itself; but if departures were decided by something the values do not show, relations may be due to them. ${landmarkText(context, outcomes)}`)}
${figureHtml(context, "difference-maps")}
<details><summary>Details: other models, published test, checks</summary>
${scrollHtml("Outcomes by representation", representationTable(context, outcomes))}
${scrollHtml("Checks of the test", checkTable(context, outcomes, controls))}
</details>
${other.length > 0 && html`<ul class="sub" style="font-size:13px;margin:14px 0 0;padding-left:18px">${other}</ul>`}
<p class="sub" style="margin-top:14px;font-size:13px">${outcomes.length} ${outcomes.length === 1 ? "outcome was" : "outcomes were"} tested. Holm-adjusted p-values control the family-wise error rate, BH the false discovery rate. Relations are not predictions: places use all visits. Outcomes are recorded at any time: individuals followed longer had more opportunity.</p>`;
  return { id: "outcomes", title: "Is the map related to outcomes?", body };
}

/** The test from values up to a common time, for outcomes that have one. */
function landmarkText({ timeWord }: PageContext, outcomes: readonly Tested[]): string {
  const made = outcomes.flatMap(({ outcome, landmark }) => (landmark ? [{ outcome, ...landmark }] : []));
  if (made.length === 0) return "";
  return `From values up to a common time alone: ${listWords(made.map(({ outcome, landmark, p, draws }) => `${midSentence(outcomeName(outcome))} p ${pValue(p, draws)} (${timeWord} ${significant(landmark, 2)})`))}.`;
}

/** Which of two values "with" is, where the name of the outcome does not say it. */
function caseNote({ outcome, caseMeans = "" }: Tested): Markup | false {
  return / is "/.test(caseMeans) && !outcome.includes("=") && html` <span class="mu">${caseMeans}</span>`;
}

function whisker(context: PageContext, estimate: StudyEstimate): Markup {
  const drawing = drawWhisker(estimate, [0.2, 1], 0.5, { document: context.document, theme: "page" });
  drawing.setAttribute("aria-hidden", "true");
  return raw(serialize(drawing));
}

function mainTable(context: PageContext, outcomes: readonly Tested[]): Markup {
  const rows = outcomes.map((o) => {
    const parts = cellsOf([o.cases, o.controls, o.missing], context.smallCell);
    const { auc } = o.effect;
    // Too few with or without it are not tested.
    const tested = Number.isFinite(auc.value);
    return html`<tr><th scope="row">${outcomeName(o.outcome)}${caseNote(o)}</th><td>${parts[0]}</td><td>${parts[1]}</td><td class="mu">${parts[2]}</td>
<td>${tested ? html`${fixed(auc.value, 2)} <span class="mu">(${interval(auc.lower, auc.upper, 2, 0.5)})</span>` : NONE}</td><td class="g">${tested && whisker(context, auc)}</td>
<td>${o.adjusted.holm < 0.05 ? html`<b>${pValue(o.p, o.draws)}</b>` : pValue(o.p, o.draws)}</td><td>${adjustedPValue(o.adjusted.holm, o.p, o.draws)}</td><td>${adjustedPValue(o.adjusted.bh, o.p, o.draws)}</td><td class="tx">${outcomeReading(o)}</td></tr>`;
  });
  return html`<table><caption><b>${tableName(context, "outcomes")} a.</b> Outcomes and places on the map: leave-pair-out AUC, p-value of the test on whole posteriors, and its adjustments. Bold: below 0.05 after Holm.</caption><thead><tr><th scope="col">Outcome</th><th scope="col">with</th><th scope="col">without</th><th scope="col">missing</th><th scope="col">AUC (95% CI)</th><th scope="col" class="g"><span class="hide">AUC drawn from 0.2 to 1</span></th><th scope="col">p</th><th scope="col">Holm</th><th scope="col">BH</th><th scope="col" class="tx" style="padding-left:14px">reading</th></tr></thead><tbody>${rows}</tbody></table>`;
}

/** An estimate with its interval, or that there are too few cases. */
function estimateHtml({ value, lower, upper }: StudyEstimate): Markup {
  if (!Number.isFinite(value)) return html`<span class="mu">too few</span>`;
  return html`${fixed(value, 2)} <span class="mu">(${interval(lower, upper, 2, 0.5)})</span>`;
}

/** What the place adds, or that it was shrunk out of every fold. */
function addedHtml({ added, placeUsed }: Pick<StudyPredictors, "added" | "placeUsed">): Markup {
  const { value, lower, upper } = added;
  if (!Number.isFinite(value)) return estimateHtml(added);
  if (placeUsed === false) return html`<span class="mu">not used</span>`;
  return html`${signed(value, 3)} <span class="mu">(${signedInterval(lower, upper, 3)})</span>`;
}

/** Last value and visits beside the place, one row per outcome. */
function predictorTable(context: PageContext, outcomes: readonly Tested[]): Markup {
  const compared = outcomes.flatMap(({ outcome, predictors }) => (predictors ? [{ outcome, ...predictors }] : []));
  const rows = compared.map(
    ({ outcome, rows, ...gain }) =>
      html`<tr><th scope="row">${outcomeName(outcome)}</th>${rows.map((row) => html`<td>${estimateHtml(row)}</td>`)}<td>${addedHtml(gain)}</td></tr>`,
  );
  return html`<table class="estimates"><caption><b>${tableName(context, "outcomes")} b.</b> AUC (95% CI) of simple predictors and of the place; last column: what the place adds to the column before the last.</caption><thead><tr><th scope="col">Outcome</th>${compared[0].rows.map(({ predictors }) => html`<th scope="col">${predictors}</th>`)}<th scope="col">place adds</th></tr></thead><tbody>${rows}</tbody></table>`;
}

/** The same for the time to an event, one row per set of predictors. */
function concordanceTable({ rows, ...gain }: StudyPredictors): Markup {
  return html`<table><caption class="hide">Concordance of simple predictors and of the place</caption><thead><tr><th scope="col">Known at the landmark</th><th scope="col">C (95% CI)</th></tr></thead><tbody>${rows.map((row) => html`<tr><th scope="row">${capital(row.predictors)}</th><td>${estimateHtml(row)}</td></tr>`)}<tr class="hl"><th scope="row">The place adds</th><td>${addedHtml(gain)}</td></tr></tbody></table>`;
}

/** The paper's Table 2: outcomes by representations, the test on whole posteriors with the published one beside it. */
function representationTable(context: PageContext, outcomes: readonly Tested[]): Markup {
  const names = [...new Set(outcomes.flatMap(({ representations }) => Object.keys(representations)))];
  const rows = outcomes.map(
    ({ outcome, representations }) =>
      html`<tr><th scope="row">${outcomeName(outcome)}</th>${names.map((name) => {
        const r = representations[name];
        if (r === undefined) return html`<td>${NONE}</td><td>${NONE}</td><td>${NONE}</td>`;
        const strong = r.adjusted !== undefined && r.adjusted.holm < 0.05;
        const p = pValue(r.p, r.draws);
        return html`<td>${strong ? html`<b>${p}</b>` : p}</td><td class="mu">${r.adjusted === undefined ? NONE : adjustedPValue(r.adjusted.holm, r.p, r.draws)}</td><td class="mu">${r.kde === null ? NONE : pValue(r.kde.p)}</td>`;
      })}</tr>`,
  );
  return html`<table><caption><b>${tableName(context, "outcomes")} c.</b> The same test under each model: p, its Holm adjustment and the published KDE p, which compares posterior means and may see no more than that visits differ. Bold: below 0.05 after Holm.</caption><thead><tr><th scope="col">Outcome</th>${names.map((name) => html`<th scope="col">${modelName(name)}<br>p</th><th scope="col">Holm</th><th scope="col">KDE p</th>`)}</tr></thead><tbody>${rows}</tbody></table>`;
}

/** What could make a small p-value other than a relation: the prior, visits, departures. */
function checkTable(
  context: PageContext,
  outcomes: readonly Tested[],
  controls: NonNullable<StudyAssociation["controls"]>,
): Markup {
  const { timeWord } = context;
  const rows = outcomes.map(
    ({ outcome, p, draws, approximation, priorP, landmark }) =>
      html`<tr><th scope="row">${outcomeName(outcome)}</th><td>${pValue(p, draws)}</td><td>${approximation === undefined ? NONE : pValue(approximation)}</td><td>${pValue(priorP ?? Number.NaN)}</td><td>${landmark ? html`${pValue(landmark.p, landmark.draws)} <span class="mu">(${timeWord} ${significant(landmark.landmark, 2)})</span>` : NONE}</td></tr>`,
  );
  const visits = controls.map(
    ({ control, p, draws, approximation }) =>
      html`<tr class="ctl"><th scope="row">${capital(control)}</th><td>${pValue(p, draws)}</td><td>${approximation === undefined ? NONE : pValue(approximation)}</td><td>${NONE}</td><td>${NONE}</td></tr>`,
  );
  return html`<table><caption><b>${tableName(context, "outcomes")} d.</b> Checks: p by moments instead of draws, under a prior estimated from everyone, and from values up to a time by which a tenth of the smaller group was last seen.</caption><thead><tr><th scope="col">Outcome</th><th scope="col">p</th><th scope="col">by moments</th><th scope="col">prior estimated</th><th scope="col">up to a landmark</th></tr></thead>
<tbody>${rows}${visits.length > 0 && html`<tr class="sech"><th scope="rowgroup" colspan="5">Negative controls: do visits follow the course?</th></tr>${visits}`}</tbody></table>`;
}

/** Groups at the landmark against the groups of the study, which know all visits. */
function crossTable({ study: { survival }, groups, smallCell }: PageContext) {
  const table = survival?.crossTable;
  if (table === undefined || table.length !== groups.length || groups.length < 2) return false;
  const rows = table.map(
    (row, early) =>
      html`<tr><th scope="row">${groups[early].letter}</th>${row.map((n) => html`<td>${rough(n, smallCell)}</td>`)}</tr>`,
  );
  return html`<h3>Groups at the landmark are not the final ones</h3><p class="sub" style="font-size:14px">Here a group is where the visits up to the landmark place an individual. With all visits (columns) many stand elsewhere:</p><div class="scroll" style="margin-top:8px" tabindex="0" role="region" aria-label="Groups at the landmark and final groups"><table><caption class="hide">Individuals by group at the landmark and by group from all visits</caption><thead><tr><th scope="col">At the landmark</th>${groups.map(({ letter }) => html`<th scope="col">${letter}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

function leftOutText({ eventBefore, censoredBefore, noVisitBefore, unknown }: LeftOut, smallCell: number): string {
  const parts = [
    [eventBefore, "with the event before"],
    [censoredBefore, "no longer followed"],
    [noVisitBefore, "not yet seen"],
    [unknown, "with unknown follow-up"],
  ] as const;
  const some = parts.filter(([count]) => count > 0).map(([count, why]) => `${rough(count, smallCell)} ${why}`);
  return some.length === 0 ? " Nobody was left out." : ` Left out: ${listWords(some)}.`;
}

export function survivalSection(context: PageContext): Section | undefined {
  const { survival } = context.study;
  const figure = figureHtml(context, "survival");
  if (survival === undefined || figure === undefined) return undefined;
  const { smallCell, timeWord } = context;
  const { logRank, cox, leftOut, mapTest, predictors, adjustedFor = [], coxCovariates = [] } = survival;
  const axes = (cox?.terms.length ?? 0) - coxCovariates.length;
  const without = survival.withoutCovariates ?? 0;
  const adjusted =
    adjustedFor.length > 0 &&
    html`<p class="sub"><b>${adjustedSentence(adjustedFor, without, rough(without, smallCell))}</b> The score test, Cox regression and what the place adds are adjusted; curves and log-rank are not.</p>`;
  const event = midSentence(outcomeName(survival.event));
  const out = leftOut === undefined ? "" : leftOutText(leftOut, smallCell);
  const terms = cox?.terms.map(
    (t, k) =>
      html`<tr><th scope="row">${cox.names?.[k] ?? coxCovariates[k - axes] ?? ["Horizontal place", "Vertical place", "Third direction"][k] ?? `Term ${k + 1}`}${k < axes ? ", per prior sd" : ""}</th><td>${ratio(t.hazardRatio)}</td><td>${ratioInterval(t.lower, t.upper)}</td><td>${pValue(t.pValue)}</td></tr>`,
  );
  const warnings = coxCautions(cox?.warnings ?? [], adjusted ? "term" : "axis");
  const body = html`<p class="sub">Each place uses the individual's visits up to ${timeWord} ${significant(survival.landmark)} only (the landmark), and time runs from there. The map and the regions of its groups were fitted on all visits, later ones included, so this shows a relation within the cohort, not how well new individuals would be predicted.${out}</p>
${adjusted}
<div class="two lead"><div>${figure}
${absoluteRisks(context)}
${
  predictors !== undefined &&
  html`<h3>Does the place tell more than ${adjusted ? "covariates, " : ""}last value and visits?</h3><p class="sub" style="font-size:14px">${predictors.verdict}</p>
${scrollHtml("Concordance of simple predictors and the place", concordanceTable(predictors))}
<p class="sub" style="font-size:13px;margin-top:8px">${PREDICTOR_METHOD} The map was fitted on all visits, which favours the place.</p>`
}
</div><div>
${mapTest !== undefined && html`<h3 style="margin-top:0">Does the time go with the place?</h3><p class="sub" style="font-size:14px">Score test on whole posteriors, from all values up to each one's end of follow-up: p ${pValue(mapTest.p, mapTest.draws)} (${rough(mapTest.numEvents, smallCell)} events among ${rough(mapTest.numIndividuals, smallCell)} individuals).</p>`}
${crossTable(context)}
${logRank !== undefined && html`<h3>Do the groups differ?</h3><p class="sub" style="font-size:14px">Log-rank test: χ² ${fixed(logRank.statistic, 1)} on ${counted(logRank.degrees, "degree")} of freedom, p ${pValue(logRank.pValue)}.</p>`}
${
  cox !== undefined &&
  html`<h3>How does the hazard change over the map?</h3><div class="scroll" style="margin-top:8px" tabindex="0" role="region" aria-label="Cox regression"><table><caption class="hide">Cox regression on the places</caption><thead><tr><th scope="col">Cox regression</th><th scope="col">hazard ratio</th><th scope="col">95% CI</th><th scope="col">p</th></tr></thead><tbody>${terms}</tbody></table></div>
<p class="sub" style="font-size:13px;margin-top:8px">${rough(cox.numEvents, smallCell)} events among ${rough(cox.numIndividuals, smallCell)} individuals. Likelihood ratio p ${pValue((survival.placeTest ?? cox.likelihoodRatio).pValue)}${adjusted ? " of the place beside the covariates, numbers of which stand in standard deviations" : ""}. Concordance ${fixed(cox.concordance.concordance, 2)} (s.e. ${fixed(cox.concordance.standardError, 3)}), measured on the individuals the model was fitted to.${warnings.length > 0 ? ` Caution: ${listWords(warnings)}.` : ""}</p>`
}
</div></div>`;
  return { id: "survival", title: `Place at the landmark and time to ${event}`, body };
}
