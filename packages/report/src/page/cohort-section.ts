/** Who was studied: the flow of rows and individuals, and their characteristics by group. */
import { characteristicRows, characteristicsNote } from "../characteristics.ts";
import { cell } from "../numbers.ts";
import { rough } from "../small-cells.ts";
import { html, type Markup } from "./html.ts";
import { figureHtml, type PageContext, type Section, scrollHtml, tableName } from "./parts.ts";

export function cohortSection(context: PageContext): Section {
  const { notListed = 0 } = context.study.characteristics ?? {};
  const lacking =
    notListed > 0 &&
    html`<p class="sub">${rough(notListed, context.smallCell)} individuals are not in the table of individuals and count as missing there.</p>`;
  const body = html`${figureHtml(context, "flow", 760)}
${context.study.characteristics !== undefined && scrollHtml("Characteristics by group", characteristicsTable(context))}
${lacking}`;
  return { id: "individuals", title: "Who was studied", body };
}

function characteristicsTable(context: PageContext): Markup {
  const { groups, sizes, study, smallCell } = context;
  const rows = characteristicRows(context).map(({ head, note, level, cells, difference }) =>
    cells.length === 0
      ? html`<tr class="cat"><th scope="row">${head} <span class="mu">${note}</span></th><td colspan="${groups.length + 1}"></td><td>${difference}</td></tr>`
      : html`<tr class="${level ? "lev" : "row"}"><th scope="row">${head} <span class="mu">${note}</span></th>${cells.map((text) => html`<td>${text}</td>`)}<td>${difference}</td></tr>`,
  );
  const heads = groups.map(
    ({ letter }, k) => html`<th scope="col">${letter}<br><span class="mu">n ${sizes[k]}</span></th>`,
  );
  return html`<table class="chars"><caption><b>${tableName(context, "characteristics")}.</b> Characteristics of the individuals${groups.length > 1 ? " by group" : ""}. ${characteristicsNote(context)}</caption>
<thead><tr><th scope="col">Characteristic</th>${heads}<th scope="col">All<br><span class="mu">n ${cell(study.cohort.numIndividuals, smallCell)}</span></th><th scope="col">SMD</th></tr></thead><tbody>${rows}</tbody></table>`;
}
