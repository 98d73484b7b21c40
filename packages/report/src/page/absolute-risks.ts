/** Absolute risks at fixed times after the landmark: one less the Kaplan–Meier curve of each group, with 95% intervals. */
import { EVENTS_PER_STEP, riskTimes, sharedPoint } from "../figures/survival.ts";
import { fixed, listWords, NONE, percent, significant } from "../numbers.ts";
import { rough } from "../small-cells.ts";
import type { StudySurvival } from "../study.ts";
import { midSentence, outcomeName } from "../words.ts";
import { html, type Markup } from "./html.ts";
import { type PageContext, scrollHtml } from "./parts.ts";

/** 1, 3, 5 and 10 units of time where follow-up is that long and not much longer, else the first three marks of the axis. */
export function riskHorizons(survival: StudySurvival): number[] {
  const marks = riskTimes(survival).filter((t) => t > 0);
  const last = marks[marks.length - 1] ?? 0;
  return last >= 4 && last <= 30 ? [1, 3, 5, 10].filter((t) => t <= Math.max(last, 5)) : marks.slice(0, 3);
}

/** The table, with the sentence that says what it holds. */
export function absoluteRisks(context: PageContext): Markup | undefined {
  const { study, smallCell, groups, timeWord } = context;
  const { survival, cohort } = study;
  if (survival === undefined) return undefined;
  const times = riskHorizons(survival);
  const named = survival.groups ?? groups;
  const rows = named.flatMap(({ group, letter, name }) => {
    const curve = survival.curves.find((own) => own.group === group);
    return curve === undefined ? [] : [{ letter, name, cells: times.map((t) => riskAt(curve, t, smallCell)) }];
  });
  if (rows.length === 0 || times.length === 0) return undefined;
  const unit = cohort.marker.timeUnit.trim();
  const event = midSentence(outcomeName(survival.event));
  const table = html`<table><caption class="hide">Absolute risk of ${event} by group</caption><thead><tr><th scope="col">Group at the landmark</th>${times.map((t) => html`<th scope="col">by ${significant(t)} ${t === 1 ? timeWord : unit}</th>`)}</tr></thead><tbody>${rows.map(({ letter, name, cells }) => html`<tr><th scope="row">${letter} <span class="mu">${name}</span></th>${cells.map(({ risk, note }) => html`<td>${risk}<br><span class="mu">${note}</span></td>`)}</tr>`)}</tbody></table>`;
  return html`<h3>Absolute risks</h3><p class="sub" style="font-size:14px">Probability of ${event} by ${listWords(times.map((t) => significant(t)))} ${unit} after the landmark, one less the Kaplan–Meier curve, with 95% intervals and the number still at risk.</p>
${scrollHtml("Absolute risks", table)}`;
}

function riskAt(curve: StudySurvival["curves"][number], t: number, smallCell: number) {
  const { survival, lower, upper, atRisk, noEvent, fewEvents } = sharedPoint(curve, t, smallCell);
  const note = `${rough(atRisk, smallCell)} at risk`;
  if (atRisk < Math.max(1, smallCell)) return { risk: NONE, note };
  if (fewEvents) return { risk: `fewer than ${EVENTS_PER_STEP} events`, note };
  // Rounded up: the bound must not look better than it is.
  if (noEvent) return { risk: `0% (up to ${Math.ceil(100 * (1 - lower))})`, note };
  return { risk: `${percent(1 - survival)} (${fixed(100 * (1 - upper), 0)} to ${fixed(100 * (1 - lower), 0)})`, note };
}
