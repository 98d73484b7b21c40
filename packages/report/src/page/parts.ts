/** Parts of the page that sections share: figures with their words and numbers, tables, notes. */
import type { Context } from "../content/context.ts";
import type { DataTable, Figure } from "../figures/figure.ts";
import { serialize } from "../figures/svg.ts";
import { html, type Markup, raw } from "./html.ts";

/** What a section is written from. */
export interface PageContext extends Context {
  readonly document: Document;
  readonly figures: ReadonlyMap<string, Figure>;
}

/** A section of the page with its place in the table of contents; none if it has nothing to say. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly body: Markup;
}

/** Tables that are numbered, in the order of the page. */
const NUMBERED = {
  characteristics: ({ study }: Context) => study.characteristics !== undefined,
  models: ({ study }: Context) => (study.comparison ?? study.several?.comparison) !== undefined,
  outcomes: ({ study }: Context) => (study.association?.outcomes.length ?? 0) > 0,
};

/** "Table 2": numbers run over the tables that the page has. */
export function tableName(context: Context, table: keyof typeof NUMBERED): string {
  const names = Object.keys(NUMBERED) as (keyof typeof NUMBERED)[];
  return `Table ${names.filter((name) => NUMBERED[name](context)).indexOf(table) + 1}`;
}

/**
 * Figures of a page are drawn this much narrower than they are shown on a screen, so that their text is 13 px there and, on a
 * sheet of A4, where columns are narrower, no smaller than 6 points.
 */
const ENLARGED = 1.17;

/** Widths of drawings in columns: three, two, or one of them in a row. */
export const COLUMN = { three: 300, two: 460 } as const;

/** A figure: words first, then the drawing, then its numbers behind a disclosure. */
export function figureHtml(context: PageContext, key: string, width?: number): Markup | undefined {
  const figure = context.figures.get(key);
  return figure && figureMarkup(figure, context.document, width);
}

/** The same of a figure at hand. */
export function figureMarkup(figure: Figure, document: Document, width?: number): Markup {
  const { key } = figure;
  const drawn = width ?? Math.round(figure.width / ENLARGED);
  const drawing = figure.draw({ document, theme: "page", width: drawn, idPrefix: key });
  drawing.setAttribute("aria-hidden", "true");
  drawing.setAttribute("focusable", "false");
  const id = `figure-${key}`;
  const wide = drawn > 760 ? " wide" : "";
  return html`<figure id="${id}"><figcaption><b>${figure.title}.</b> ${figure.caption}</figcaption>
<div class="plot${wide}" style="max-width:${Math.ceil(drawn * ENLARGED)}px" role="img" aria-labelledby="${id}-words">${raw(serialize(drawing))}</div>
<p class="hide" id="${id}-words">${figure.summary}</p>
${numbers(figure)}</figure>`;
}

function numbers(figure: Figure): Markup {
  return html`<details><summary>Show numbers<span class="hide">: ${figure.title}</span></summary><div class="scroll" tabindex="0" role="region" aria-label="Numbers of the figure: ${figure.title}">${tableHtml(figure.table, `Numbers: ${figure.title}`)}</div></details>`;
}

/** A plain table; a caption that is text is for those who cannot see it. */
export function tableHtml(table: DataTable, caption: string | Markup): Markup {
  const above = typeof caption === "string" ? html`<caption class="hide">${caption}</caption>` : caption;
  return html`<table>${above}<thead><tr>${table.columns.map((c) => html`<th scope="col">${c}</th>`)}</tr></thead>
<tbody>${table.rows.map(([head, ...cells]) => html`<tr><th scope="row">${head}</th>${cells.map((c) => html`<td>${c}</td>`)}</tr>`)}</tbody></table>`;
}

/** A box that asks for care. */
export function noteHtml(strong: string, text: string): Markup {
  return html`<div class="note" role="note"><b>${strong}</b> ${text}</div>`;
}

/** A table that may be wider than the screen; reachable by keyboard. */
export function scrollHtml(name: string, table: Markup): Markup {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${name}">${table}</div>`;
}
