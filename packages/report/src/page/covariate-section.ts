/** What covariates do: shifts on the map, effects in the mean, courses at chosen values. */
import { effectNote, effectTable, SHIFT_NOTE, shiftTable } from "../covariates.ts";
import type { DataTable } from "../figures/figure.ts";
import { html, type Markup } from "./html.ts";
import { figureHtml, type PageContext, type Section, scrollHtml, tableHtml } from "./parts.ts";

export function covariateSection(context: PageContext): Section | undefined {
  const { covariates } = context.study;
  if (covariates === undefined) return undefined;
  const { shifts, effects, cautions } = covariates;
  const map = figureHtml(context, "shifts");
  const part = (title: string, note: string, table: DataTable): Markup | undefined =>
    table.rows.length === 0
      ? undefined
      : scrollHtml(title, tableHtml(table, html`<caption><b>${title}.</b> ${note}</caption>`));
  const body = html`<p class="sub">Effects are of the model: they compare people who are alike in the other covariates, and say nothing of causes.</p>
${part("Shifts of places", SHIFT_NOTE, shiftTable(shifts))}${part("Effects in the mean", effectNote(effects), effectTable(effects))}
${cautions.map((text) => html`<p class="note">${text}</p>`)}
${map && html`<div class="two">${map}</div>`}
${figureHtml(context, "covariate-courses")}`;
  return { id: "covariates", title: "What covariates do", body };
}
