/** Several markers: whether they share the map, what each has of it, and the map and courses of the second and on. */
import { markerFigureKeys } from "../content/marker-figures.ts";
import { cell, fixed, interval, percent, signed, significant, whole } from "../numbers.ts";
import type { SeveralStudy } from "../study.ts";
import { COMPARISON_NOTES, SEVERAL_WORDS } from "../words.ts";
import { onMap } from "./header.ts";
import { html, type Markup } from "./html.ts";
import { figureHtml, noteHtml, type PageContext, type Section, scrollHtml, tableName } from "./parts.ts";

export function markerSection(context: PageContext): Section | undefined {
  const { several } = context.study;
  if (several === undefined) return undefined;
  const { sharing, comparison, markers } = several;
  const others = markers.slice(1).map((_, j) => markerFigureKeys(j + 1));
  const figures = html`<div class="two" style="margin-top:28px">${others.map(([map]) => figureHtml(context, map))}</div>
${others.map(([, groups]) => figureHtml(context, groups))}`;
  const refused = sharing?.state === "separate";
  const body = html`<p class="sub">${sharing === undefined ? "All markers share one place of each individual." : sharing.sentences.join(" ")}</p>
${refused && noteHtml("These markers do not follow one map.", "Use separate maps: places of the shared one mean little for at least one of them.")}
${sharing !== undefined && scrollHtml("Markers on the map", sharingTable(context, sharing))}
${comparison !== undefined && html`<h3>Held-out individuals</h3><p class="sub">${onMap(context, comparison.verdict)}</p>${comparisonTables(context, comparison)}${(comparison.warnings ?? []).map(({ code, message }) => noteHtml(COMPARISON_NOTES[code] ?? "Note.", message))}`}
${figures}`;
  return { id: "markers", title: "Several markers on one map", body };
}

function sharingTable({ smallCell }: PageContext, { markers, area }: NonNullable<SeveralStudy["sharing"]>): Markup {
  const rows = markers.map(
    (own) =>
      html`<tr><th scope="row">${own.name}</th><td>${cell(own.numIndividuals, smallCell)}</td><td>${whole(own.numObservations)}</td><td>${percent(own.varianceShare)} <span class="mu">(${percent(own.singleShare)})</span></td><td>${own.tau === null ? "" : significant(own.tau)}${own.atCap ? html` <span class="mu">at its cap</span>` : ""}</td><td>${fixed(own.noiseRatio, 2)}${own.pays ? html` <span class="mu">pays</span>` : ""}</td><td>${significant(own.areaAlone)}</td><td>${significant(area)}</td></tr>`,
  );
  return html`<table><caption><b>Markers.</b> Share of the variance between individuals that the map carries (on the marker's own map); residual effect τ; noise variance over that on the marker's own map, above 1.2 the marker pays for sharing; median area of the 90% region of a place by this marker alone and by all.</caption>
<thead><tr><th scope="col">Marker</th><th scope="col">individuals</th><th scope="col">values</th><th scope="col">share<br>(own map)</th><th scope="col">τ</th><th scope="col">noise<br>ratio</th><th scope="col">90% region<br>alone</th><th scope="col">90% region<br>by all</th></tr></thead><tbody>${rows}</tbody></table>`;
}

function comparisonTables(
  context: PageContext,
  { differences, markers, folds, repeats = 1 }: NonNullable<SeveralStudy["comparison"]>,
): Markup {
  const pairs = differences.map(
    (own) =>
      html`<tr><th scope="row">${SEVERAL_WORDS[own.model]} minus ${SEVERAL_WORDS[own.reference]}</th><td>${signed(own.mean, 2)} <span class="mu">(${interval(own.lower, own.upper, 2, 0)})</span></td><td>${signed(own.trimmed, 2)}</td><td>${percent(own.above)}</td></tr>`,
  );
  const error = ({ mean, se }: { readonly mean: number; readonly se: number }, digits: number) =>
    html`${signed(mean, digits)} <span class="mu">(${fixed(se, digits)})</span>`;
  const each = markers.map(
    ({ marker, forecast, fromOthers, coverage }) =>
      html`<tr><th scope="row">${marker}</th><td>${error(forecast.dtm, 3)}</td><td>${error(forecast.lmm, 3)}</td><td>${error(forecast.othersAdd, 3)}</td><td>${error(fromOthers.dtm, 2)}</td><td>${percent(coverage.p50)}</td><td>${percent(coverage.p90)}</td></tr>`,
  );
  const first = html`<table><caption><b>${tableName(context, "models")} a.</b> Joint log-likelihood of all markers per held-out individual, paired differences (95% CI), ${folds} folds${repeats > 1 ? `, ${repeats} times` : ""}; the mean without the 5% largest and smallest; individuals above zero.</caption>
<thead><tr><th scope="col">Difference</th><th scope="col">mean</th><th scope="col">5% trimmed</th><th scope="col">above 0</th></tr></thead><tbody>${pairs}</tbody></table>`;
  const second = html`<table><caption><b>${tableName(context, "models")} b.</b> Values after the median visit given the past of all markers: log density per value against the marker's own map given its own past, and what the pasts of the other markers add (standard errors). From others: the marker predicted from the others alone, per individual. Coverage is of the shared map.</caption>
<thead><tr><th scope="col">Marker</th><th scope="col">one map</th><th scope="col">mixed model<br>of all</th><th scope="col">others add</th><th scope="col">from others</th><th scope="col">coverage of<br>50% interval</th><th scope="col">coverage of<br>90% interval</th></tr></thead><tbody>${each}</tbody></table>`;
  return html`${scrollHtml("Comparison of models", first)}${scrollHtml("Forecasts by marker", second)}`;
}
