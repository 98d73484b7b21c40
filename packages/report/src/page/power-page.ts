/** What a planned study would find, as a page of its own: paragraph, figure, tables. */
import type { StudyPower } from "@trajectory-maps/core/study";
import {
  forecastTable,
  linksTable,
  type PowerSource,
  placesTable,
  powerFigure,
  powerParagraph,
} from "../content/power.ts";
import { html, raw } from "./html.ts";
import { figureMarkup, scrollHtml, tableHtml } from "./parts.ts";
import { STYLE } from "./style.ts";

/** The page as HTML text. */
export function renderPower(study: StudyPower, source: PowerSource, document: Document): string {
  const figure = powerFigure(study, source);
  const tables = [
    ["How well places would be known", placesTable(study)],
    ["Which outcomes would be found", linksTable(study)],
    ["How wide forecasts would be", forecastTable(study, source)],
  ] as const;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="color-scheme" content="light dark">
<title>${figure.title}</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<div class="wrap">
<main id="content">
<h1>${figure.title}</h1>
<p>${powerParagraph(study, source)}</p>
${figureMarkup(figure, document)}
${tables.map(([title, table]) => html`<section><h2>${title}</h2>${scrollHtml(title, tableHtml(table, title))}</section>`)}
</main>
</div>
</body>
</html>
`.markup;
}
