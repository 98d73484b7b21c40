/** Do the results hang on the choices of the fit? */
import { sensitivityVerdict } from "@trajectory-maps/core/study";
import { sensitivityTable, variantNotes } from "../content/sensitivity-figure.ts";
import { outcomeName } from "../words.ts";
import { html } from "./html.ts";
import { figureHtml, type PageContext, type Section, scrollHtml, tableHtml } from "./parts.ts";

export function sensitivitySection(context: PageContext): Section | undefined {
  const { sensitivity } = context.study;
  if (sensitivity === undefined || sensitivity.variants.length === 0) return undefined;
  const { variants, leftOut, run, folds } = sensitivity;
  const caption = html`<caption><b>One choice changed at a time.</b> Places, groups${folds > 0 ? ", held-out scores" : ""} and outcomes of refits, against the model as fitted.</caption>`;
  const notes = [
    ...variantNotes(variants).map(({ names, text }) => `${names.join("; ")}: ${text}`),
    ...leftOut.map(({ name, reason }) => `Left out: ${name}, because ${reason}.`),
  ];
  const body = html`<p class="sub">${sensitivityVerdict(variants, run, outcomeName)}</p>
${figureHtml(context, "sensitivity")}
${scrollHtml("Refits with one choice changed", tableHtml(sensitivityTable(sensitivity), caption))}
${notes.length > 0 && html`<ul class="sub" style="font-size:13px;margin:14px 0 0;padding-left:18px">${notes.map((text) => html`<li>${text}</li>`)}</ul>`}`;
  return { id: "sensitivity", title: "Do the results hang on the choices of the fit?", body };
}
