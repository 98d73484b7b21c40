/** Tables 1 and 2 and survival: does the map describe the data better, is it related to outcomes, and to what comes after. */
import { drawWhisker } from "../figures/effects.ts";
import { serialize } from "../figures/svg.ts";
import {
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
  signed,
  significant,
} from "../numbers.ts";
import { cellsOf, rough } from "../small-cells.ts";
import type { StudyAssociation, StudyEstimate } from "../study.ts";
import { capital, midSentence, modelName, modelNote, numberWord, outcomeName, outcomeReading } from "../words.ts";
import { html, type Markup, raw } from "./html.ts";
import { figureHtml, noteHtml, type PageContext, type Section, scrollHtml } from "./parts.ts";

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
<td>${d === undefined ? (m.model === reference ? "reference" : NONE) : html`${signed(d.mean, 2)} <span class="mu">(${interval(d.lower, d.upper, 2)})</span>`}</td>
<td>${percent(m.coverage.p50)}</td><td>${percent(m.coverage.p90)}</td><td>${fixed(m.forecast.crps, decimals)}</td><td>${fixed(m.forecast.mae, decimals)}</td></tr>`;
  });
  const means = [
    ...new Set(models.filter(({ model }) => ["lmm", "fpca", "dtm"].includes(model)).map(({ mean }) => mean)),
  ];
  const narrow = models.filter(({ coverage }) => coverage.p90 < 0.85);
  const table = html`<table><caption><b>Table 1.</b> Log-likelihood of held-out individuals on the scale of the model, with standard error and standard deviation over folds; forecasts of later visits from the first half.</caption>
<thead><tr><th scope="col">Model</th><th scope="col">per<br>individual</th><th scope="col">s.e.</th><th scope="col">s.d.</th><th scope="col">per<br>observation</th><th scope="col">s.e.</th><th scope="col">s.d.</th><th scope="col">difference<br>(95% CI, paired)</th><th scope="col">coverage of<br>50% interval</th><th scope="col">coverage of<br>90% interval</th><th scope="col">CRPS</th><th scope="col">abs. error${errorUnit === "" ? "" : html`<br>(${errorUnit})`}</th></tr></thead><tbody>${rows}</tbody></table>`;
  const body = html`<p class="sub">${comparison.verdict} ${capital(numberWord(folds))}-fold cross-validation over individuals${repeats > 1 ? `, ${repeats} times,` : ""} with the same folds for every model${means.length === 1 ? ` and a ${means[0] === "scalar" ? "constant population mean" : "mean curve"} for the mixed model, FPCA and the map` : ""}.</p>
${scrollHtml("Comparison of models", table)}
${narrow.length > 0 && noteHtml("Forecast intervals are too narrow.", `90% intervals held ${listWords(narrow.map(({ model, coverage, forecast }) => `${percent(coverage.p90)} of ${cell(forecast.count, context.smallCell)} later visits (${midSentence(modelName(model))})`))}.`)}
<div class="two">${figureHtml(context, "differences")}<p class="sub" style="font-size:13px">Log-likelihoods are sums over an individual's observations; the columns are means of the folds' means, with standard error and standard deviation over folds. Differences are means over individuals of paired differences, which is why they are clearer than the separate standard errors suggest, and why they may not be the difference of two columns to the last digit where folds differ in size.</p></div>
<div class="three">${figureHtml(context, "coverage")}${figureHtml(context, "pit")}${figureHtml(context, "horizon")}</div>`;
  return { id: "models", title: "Does the map describe the data better?", body };
}

type Tested = StudyAssociation["outcomes"][number];

export function outcomeSection(context: PageContext): Section | undefined {
  const { association } = context.study;
  if (association === undefined || association.outcomes.length === 0) return undefined;
  const { outcomes, controls = [] } = association;
  const primary = association.primary ?? "dtm";
  const warned = (code: string) => outcomes.filter(({ warnings }) => warnings.some((w) => w.code === code));
  const visits = warned("follows-visit-count");
  const other = outcomes.flatMap(({ outcome, warnings }) =>
    warnings
      .filter(({ code }) => code !== "follows-visit-count")
      .map(({ message }) => html`<li>${outcomeName(outcome)}: ${maskSmall(message, context.smallCell)}</li>`),
  );
  const counts = controls.some(({ control }) => control === "visit count")
    ? " Of the negative controls, visit count splits individuals at the median number of visits: its naive p shows how far places follow visits, and the guarded p should find nothing."
    : "";
  const body = html`<p class="sub">Test of equal places with and without each outcome. The guarded p compares only individuals seen about as often and as long, and is the one to read; the naive p beside it does not. AUC: how well the place separates the two, each pair judged without itself (leave-pair-out); 0.5 is chance, and without a relation estimates fall on either side of it.</p>
${scrollHtml("Outcomes and the map", mainTable(context, outcomes, controls, primary))}
${visits.length > 0 && noteHtml("Place depends on the number of visits.", `For ${listWords(visits.map(({ outcome }) => midSentence(outcomeName(outcome))))} the naive test sees a relation that the guarded one does not: it may only reflect who was seen more often.`)}
${figureHtml(context, "risk-maps")}
${scrollHtml("Outcomes by representation", representationTable(outcomes))}
${other.length > 0 && html`<ul class="sub" style="font-size:13px;margin:14px 0 0;padding-left:18px">${other}</ul>`}
<p class="sub" style="margin-top:14px;font-size:13px">${outcomes.length} ${outcomes.length === 1 ? "outcome was" : "outcomes were"} tested. Holm-adjusted p-values control the family-wise error rate, BH the false discovery rate. Relations are not predictions: places use all visits. Outcomes are recorded at any time: individuals followed longer had more opportunity.${drawsText(outcomes)}${counts}</p>`;
  return { id: "outcomes", title: "Is the map related to outcomes?", body };
}

/** The second check: the same test on draws of the places, which do not crowd in the middle as means do. */
function drawsText(outcomes: readonly Tested[]): string {
  const checked = outcomes.flatMap(({ outcome, drawsP }) => (drawsP ? [{ outcome, ...drawsP }] : []));
  if (checked.length === 0) return "";
  const names = (list: typeof checked) => listWords(list.map(({ outcome }) => midSentence(outcomeName(outcome))));
  const low = checked.filter(({ median }) => median < 0.05);
  const high = checked.filter(({ median }) => median >= 0.05);
  const found = [
    ...(low.length === 0 ? [] : [`below 0.05 for ${names(low)}`]),
    ...(high.length === 0 ? [] : [`not below 0.05 for ${names(high)}`]),
  ];
  return ` As a second check the naive test was repeated on ${numberWord(checked[0].draws)} draws from the posterior of the places, which blurs them by their uncertainty: median p ${found.join(" and ")}.`;
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

function mainTable(
  context: PageContext,
  outcomes: readonly Tested[],
  controls: NonNullable<StudyAssociation["controls"]>,
  primary: string,
): Markup {
  const { smallCell } = context;
  const rows = outcomes.map((o) => {
    const main = o.representations[primary];
    const parts = cellsOf([o.cases, o.controls, o.missing], smallCell);
    const { auc, aucWithinStrata } = o.effect;
    return html`<tr><th scope="row">${outcomeName(o.outcome)}${caseNote(o)}</th><td>${parts[0]}</td><td>${parts[1]}</td><td class="mu">${parts[2]}</td>
<td>${fixed(auc.value, 2)} <span class="mu">(${interval(auc.lower, auc.upper, 2)})</span></td><td class="g">${whisker(context, auc)}</td><td>${aucWithinStrata ? fixed(aucWithinStrata.value, 2) : NONE}</td>
<td class="mu">${main?.kde ? pValue(main.kde.p) : NONE}</td><td class="mu">${pValue(o.naiveP, o.naivePermutations ?? main?.permutations)}</td><td><b>${pValue(o.p, main?.permutations)}</b></td><td>${pValue(o.adjusted.holm)}</td><td>${pValue(o.adjusted.bh)}</td><td class="tx">${outcomeReading(o)}</td></tr>`;
  });
  const checks = controls.map(
    (c) =>
      html`<tr class="ctl"><th scope="row">${outcomeName(c.control)}</th>${cellsOf([c.cases, c.controls], smallCell).map((count) => html`<td>${count}</td>`)}<td>${NONE}</td><td>${NONE}</td><td class="g"></td><td>${NONE}</td><td>${NONE}</td><td>${pValue(c.naiveP, c.permutations)}</td><td>${pValue(c.p, c.permutations)}</td><td>${NONE}</td><td>${NONE}</td><td class="tx">${c.p >= 0.05 ? "None, as expected" : "Unexpected: look closer"}</td></tr>`,
  );
  return html`<table><caption><b>Table 2 a.</b> Outcomes and places on the map.</caption><thead><tr><th scope="col">Outcome</th><th scope="col">with</th><th scope="col">without</th><th scope="col">missing</th><th scope="col">AUC (95% CI)</th><th scope="col" class="g"><span class="hide">AUC drawn from 0.2 to 1</span></th><th scope="col">AUC, same<br>visits</th><th scope="col">published<br>KDE p</th><th scope="col">naive p</th><th scope="col">guarded p</th><th scope="col">Holm</th><th scope="col">BH</th><th scope="col" class="tx" style="padding-left:14px">reading</th></tr></thead>
<tbody>${rows}${checks.length > 0 && html`<tr class="sech"><th scope="rowgroup" colspan="13">Negative controls</th></tr>${checks}`}</tbody></table>`;
}

/** The paper's Table 2: outcomes by representations, guarded p with the published one beside it. */
function representationTable(outcomes: readonly Tested[]): Markup {
  const names = [...new Set(outcomes.flatMap(({ representations }) => Object.keys(representations)))];
  const rows = outcomes.map(
    ({ outcome, representations }) =>
      html`<tr><th scope="row">${outcomeName(outcome)}</th>${names.map((name) => {
        const r = representations[name];
        if (r === undefined) return html`<td>${NONE}</td><td>${NONE}</td><td>${NONE}</td>`;
        const strong = r.adjusted !== undefined && r.adjusted.holm < 0.05;
        const p = pValue(r.p, r.permutations);
        return html`<td>${strong ? html`<b>${p}</b>` : p}</td><td class="mu">${r.adjusted === undefined ? NONE : pValue(r.adjusted.holm)}</td><td class="mu">${r.kde === null ? NONE : pValue(r.kde.p)}</td>`;
      })}</tr>`,
  );
  return html`<table><caption><b>Table 2 b.</b> The same tests on the places of each model: guarded p, its Holm adjustment and the published KDE p. Bold: below 0.05 after Holm.</caption><thead><tr><th scope="col">Outcome</th>${names.map((name) => html`<th scope="col">${modelName(name)}<br>guarded p</th><th scope="col">Holm</th><th scope="col">KDE p</th>`)}</tr></thead><tbody>${rows}</tbody></table>`;
}

export function survivalSection(context: PageContext): Section | undefined {
  const { survival } = context.study;
  const figure = figureHtml(context, "survival");
  if (survival === undefined || figure === undefined) return undefined;
  const { smallCell, timeWord } = context;
  const { logRank, cox, leftOut } = survival;
  const event = midSentence(outcomeName(survival.event));
  const out =
    leftOut === undefined
      ? ""
      : ` Left out: ${rough(leftOut.eventBefore, smallCell)} with the event before, ${rough(leftOut.censoredBefore, smallCell)} no longer followed, ${rough(leftOut.noVisitBefore, smallCell)} not yet seen, ${rough(leftOut.unknown, smallCell)} unknown.`;
  const terms = cox?.terms.map(
    (t, k) =>
      html`<tr><th scope="row">${cox.names?.[k] ?? ["Horizontal place", "Vertical place", "Third direction"][k] ?? `Term ${k + 1}`}, per prior sd</th><td>${fixed(t.hazardRatio, 2)}</td><td>${interval(t.lower, t.upper, 2)}</td><td>${pValue(t.pValue)}</td></tr>`,
  );
  const warnings = (cox?.warnings ?? []).map((code) =>
    code === "few-events"
      ? "fewer than ten events per term"
      : code === "infinite-coefficient"
        ? "a hazard ratio has no finite estimate"
        : code,
  );
  const body = html`<p class="sub">Each place uses the individual's visits up to ${timeWord} ${significant(survival.landmark)} only (the landmark), and time runs from there. The map and the regions of its groups were fitted on all visits, later ones included, so this shows a relation within the cohort, not how well new individuals would be predicted.${out}</p>
<div class="two lead">${figure}<div>
${logRank !== undefined && html`<h3 style="margin-top:0">Do the groups differ?</h3><p class="sub" style="font-size:14px">Log-rank test: χ² ${fixed(logRank.statistic, 1)} on ${counted(logRank.degrees, "degree")} of freedom, p ${pValue(logRank.pValue)}.</p>`}
${
  cox !== undefined &&
  html`<h3>How does the hazard change over the map?</h3><div class="scroll" style="margin-top:8px" tabindex="0" role="region" aria-label="Cox regression"><table><caption class="hide">Cox regression on the places</caption><thead><tr><th scope="col">Cox regression</th><th scope="col">hazard ratio</th><th scope="col">95% CI</th><th scope="col">p</th></tr></thead><tbody>${terms}</tbody></table></div>
<p class="sub" style="font-size:13px;margin-top:8px">${rough(cox.numEvents, smallCell)} events among ${rough(cox.numIndividuals, smallCell)} individuals. Likelihood ratio p ${pValue(cox.likelihoodRatio.pValue)}. Concordance ${fixed(cox.concordance.concordance, 2)} (s.e. ${fixed(cox.concordance.standardError, 3)}), measured on the individuals the model was fitted to.${warnings.length > 0 ? ` Caution: ${listWords(warnings)}.` : ""}</p>`
}
</div></div>`;
  return { id: "survival", title: `Place at the landmark and time to ${event}`, body };
}
