/**
 * Absolute risks at fixed times after the landmark, with 95% intervals: one less the Kaplan–Meier curve of each group, or Aalen–Johansen's where
 * another event may come first, of which Kaplan–Meier would say too much.
 */
import { eventWords, incidenceText, landmarkGroups } from "../content/risk-figures.ts";
import { sharedIncidences } from "../figures/risk.ts";
import { heldNote, heldText, type SharedCurve, toldAt } from "../figures/shared-curve.ts";
import { riskHorizons, sharedSurvival } from "../figures/survival.ts";
import { fixed, listWords, percent, significant, timeSpan } from "../numbers.ts";
import { rough } from "../small-cells.ts";
import type { StudySurvival } from "../study.ts";
import { INCIDENCE_NOTE } from "../survival-words.ts";
import { midSentence, outcomeName } from "../words.ts";
import { html, type Markup } from "./html.ts";
import { type PageContext, scrollHtml, tableHtml } from "./parts.ts";

/** The table, with the sentence that says what it holds. */
export function absoluteRisks(context: PageContext): Markup | undefined {
  const { study, smallCell, groups } = context;
  const { survival, cohort } = study;
  if (survival === undefined) return undefined;
  const times = riskHorizons(survival);
  if (survival.competing) return incidences(context, survival, times);
  const named = survival.groups ?? groups;
  const curves = sharedSurvival(survival, smallCell);
  const rows = named.flatMap(({ group, letter, name }) => {
    const shared = curves.find(({ curve }) => curve.group === group);
    return shared === undefined ? [] : [{ letter, name, cells: times.map((t) => riskAt(shared, t)) }];
  });
  if (rows.length === 0 || times.length === 0) return undefined;
  const unit = cohort.marker.timeUnit.trim();
  const event = midSentence(outcomeName(survival.event));
  const listed = times.map((t, k) => (k < times.length - 1 ? significant(t) : timeSpan(t, unit)));
  const table = html`<table><caption class="hide">Absolute risk of ${event} by group</caption><thead><tr><th scope="col">Group at the landmark</th>${times.map((t) => html`<th scope="col">by ${timeSpan(t, unit)}</th>`)}</tr></thead><tbody>${rows.map(({ letter, name, cells }) => html`<tr><th scope="row">${letter} <span class="mu">${name}</span></th>${cells.map(({ risk, note }) => html`<td>${risk}<br><span class="mu">${note}</span></td>`)}</tr>`)}</tbody></table>`;
  return html`<h3>Absolute risks</h3><p class="sub" style="font-size:14px">Probability of ${event} by ${listWords(listed)} after the landmark, one less the Kaplan–Meier curve, with 95% intervals and the number still at risk.${heldNote(smallCell)}</p>
${scrollHtml("Absolute risks", table)}`;
}

/** A row for each group and event, the event of the study first. */
function incidences(context: PageContext, survival: StudySurvival, times: readonly number[]): Markup | undefined {
  const { smallCell, study } = context;
  const events = eventWords(context);
  const curves = sharedIncidences(survival, smallCell);
  const rows = landmarkGroups(context).flatMap(({ group, letter, name }) => {
    const causes = curves.find((own) => own.group === group)?.causes ?? [];
    return causes.map((cause, k) => [
      `${letter} ${name}: ${events[k]}`,
      rough(cause.curve.numEvents, smallCell),
      ...times.map((t) => incidenceText(cause, t)),
    ]);
  });
  if (rows.length === 0 || times.length === 0) return undefined;
  const unit = study.cohort.marker.timeUnit;
  const columns = ["Group and event", "events", ...times.map((t) => `by ${timeSpan(t, unit)} (95% CI)`)];
  return html`<h3>Absolute risks</h3><p class="sub" style="font-size:14px">${INCIDENCE_NOTE}${heldNote(smallCell)}</p>
${scrollHtml("Absolute risks", tableHtml({ columns, rows }, "Absolute risks by group and event at times since the landmark"))}`;
}

function riskAt(shared: SharedCurve, t: number) {
  const { survival, lower, upper, atRisk, told } = toldAt(shared, t);
  const note = `${rough(atRisk, shared.smallCell)} at risk`;
  const held = heldText(told);
  if (held !== undefined) return { risk: held, note };
  // Rounded up: the bound must not look better than it is.
  if (told === "no event") return { risk: `0% (up to ${Math.ceil(100 * (1 - lower))})`, note };
  return { risk: `${percent(1 - survival)} (${fixed(100 * (1 - upper), 0)} to ${fixed(100 * (1 - lower), 0)})`, note };
}
