/** How the fit went, and what the data are. */
import { markerModel } from "@trajectory-maps/core";
import { fitEnd } from "@trajectory-maps/core/study";
import { cell, fixed, isSmall, listWords, maskSmall, significant, whole } from "../numbers.ts";
import { rough } from "../small-cells.ts";
import { html } from "./html.ts";
import { COLUMN, figureHtml, noteHtml, type PageContext, type Section } from "./parts.ts";

export function fitSection(context: PageContext): Section | undefined {
  const { record, smallCell } = context;
  if (record === undefined) return undefined;
  const figure = figureHtml(context, "trace");
  const options = Object.entries(record.options).filter(([, value]) => value !== null && typeof value !== "object");
  const warnings = record.warnings.map((text) => maskSmall(text, smallCell));
  const lights = context.verdict?.lights ?? [];
  const body = html`<p class="sub">${record.verdict}</p>
${!record.converged && noteHtml(`${fitEnd(record)}.`, "The map may change. Continue the fit, or try other starts, before reading small differences.")}
${lights.length > 1 && html`<div class="scroll" tabindex="0" role="region" aria-label="Trust in the map"><table><caption><b>${context.verdict?.words}.</b></caption><thead><tr><th scope="col">Light</th><th scope="col" class="tx">found</th><th scope="col" class="tx">why</th><th scope="col" class="tx">shown by</th></tr></thead><tbody>${lights.map(({ title, answer, sentence, evidence }) => html`<tr><th scope="row">${title}</th><td class="tx">${answer}</td><td class="tx">${sentence}</td><td class="tx">${evidence.command}</td></tr>`)}</tbody></table></div>`}
${warnings.length > 0 && noteHtml("Warnings of the fit.", warnings.join(" "))}
<div class="two">${figure}<div><table><caption><b>Settings in force.</b></caption><thead><tr><th scope="col">Setting</th><th scope="col">value</th></tr></thead><tbody>
${options.map(([name, value]) => html`<tr><th scope="row">${settingName(name)}${STARTS.includes(name) && record.options.learn === true ? " at the start" : ""}</th><td>${typeof value === "number" ? significant(value, 6) : String(value)}</td></tr>`)}
<tr><th scope="row">seed</th><td>${record.seed}</td></tr>${learnedRows(context)}</tbody></table></div></div>`;
  return { id: "fit", title: "How the fit went", body };
}

/** Settings that a fit which learns them only begins with. */
const STARTS = ["lengthscale", "signalVariance"];

/** What was learned of the kernel, so that it is not mistaken for the setting it began with. */
function learnedRows({ study: { model }, record }: PageContext) {
  if (record?.options.learn !== true || (model?.kind !== "dtm" && model?.kind !== "dtm-paper")) return false;
  const { kernel } = markerModel(model).map;
  const scales = kernel.kind === "rbf" ? [...new Set(Array.from(kernel.lengthscales, (l) => significant(l)))] : [];
  const learned: [string, string][] = [
    ...(scales.length === 0 ? [] : [["length-scale, learned", listWords(scales)] as [string, string]]),
    ["signal variance, learned", significant(kernel.signalVariance)],
  ];
  return learned.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`);
}

/** "inducingPerDimension" → "inducing per dimension". */
function settingName(name: string): string {
  return name === "lengthscale" ? "length-scale" : name.replace(/([A-Z])/g, " $1").toLowerCase();
}

const FINDINGS: Readonly<Record<string, string>> = {
  "missing-value": "Rows without a value",
  "duplicate-rows": "Exact repeats of another row",
  "same-time": "Several values of one individual at one time",
  "negative-time": "Times before zero",
  "far-time": "Times far from all others",
  "spreadsheet-dates": "Times that look like day numbers",
  "suspected-missing-code": "Values that look like a code for missing",
  outlier: "Values far from the others",
  "id-whitespace": "Ids written with and without spaces",
};

export function dataSection(context: PageContext): Section {
  const { study, smallCell, timeWord, decimals, individualLevel, visitCells: shown } = context;
  const { cohort } = study;
  const classes = ["1", "2", "3", "4–5", "6–8", "9 or more"];
  const leftOut = cohort.numRowsLeftOut ?? 0;
  // The rows read are known, so rows in the file would give a small number left out away.
  const rows =
    cohort.numRows === undefined || isSmall(leftOut, smallCell)
      ? ""
      : ` The table had ${whole(cohort.numRows)} rows; ${leftOut === 0 ? "none was" : `${whole(leftOut)} were`} left out.`;
  // What was received may quote a measurement or an id; a shared page says only what was expected and how often not.
  const findings = cohort.warnings.map(
    ({ code, expected, received, remedy, count }) =>
      html`<tr><th scope="row">${FINDINGS[code] ?? `Expected ${expected}`}</th><td>${count === undefined ? "" : rough(count, smallCell)}</td><td class="tx" style="padding-left:24px">${individualLevel === "places" ? `Received ${received}. ` : ""}${maskSmall(remedy, smallCell)}</td></tr>`,
  );
  const body = html`<p class="sub">${cell(cohort.numIndividuals, smallCell)} individuals with ${whole(cohort.numObservations)} observations between ${timeWord} ${fixed(cohort.firstTime, 1)} and ${fixed(cohort.lastTime, 1)}.${rows} Visit times have mean ${fixed(cohort.time.mean, 1)} and standard deviation ${fixed(cohort.time.sd, 1)}; values have mean ${fixed(cohort.value.mean, decimals)} and standard deviation ${fixed(cohort.value.sd, decimals)}.</p>
<div class="three">${figureHtml(context, "design", COLUMN.three)}${figureHtml(context, "values", COLUMN.three)}<div><table><caption><b>Visits per individual.</b></caption><thead><tr><th scope="col">Visits</th><th scope="col">individuals</th></tr></thead><tbody>${classes.map((name, k) => html`<tr><th scope="row">${name}</th><td>${shown[k]}</td></tr>`)}</tbody></table></div></div>
<h3>Findings while reading</h3>
${findings.length === 0 ? html`<p class="sub">None: every row was read as written.</p>` : html`<div class="scroll" tabindex="0" role="region" aria-label="Findings while reading"><table><caption class="hide">Findings while reading</caption><thead><tr><th scope="col">Finding</th><th scope="col">how often</th><th scope="col" class="tx" style="padding-left:24px">what was done</th></tr></thead><tbody>${findings}</tbody></table></div>`}
${cohort.notes.length > 0 && html`<p class="sub" style="margin-top:12px;font-size:13px">${maskSmall(cohort.notes.join(" "), smallCell)}</p>`}`;
  return { id: "data", title: "The data", body };
}
