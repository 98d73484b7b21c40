/**
 * One self-contained page from a study: no scripts, no requests, light and dark, made to be printed. Equal studies give
 * equal bytes; everything that came from data is text.
 */
import { type ChecklistItem, checklist } from "./content/checklist.ts";
import { contextOf } from "./content/context.ts";
import { methodsOf } from "./content/methods.ts";
import { strobe } from "./content/strobe.ts";
import { studyFigures } from "./content/study-figures.ts";
import type { Figure } from "./figures/figure.ts";
import { cohortSection } from "./page/cohort-section.ts";
import { covariateSection } from "./page/covariate-section.ts";
import { dataSection, fitSection } from "./page/data-sections.ts";
import { headerHtml, titleOf } from "./page/header.ts";
import { html, type Markup, raw } from "./page/html.ts";
import { groupSection, mapSection, outcomeMapSection } from "./page/map-sections.ts";
import { markerSection } from "./page/marker-section.ts";
import { type PageContext, type Section, scrollHtml } from "./page/parts.ts";
import { comparisonSection, outcomeSection, survivalSection } from "./page/result-sections.ts";
import { riskSection } from "./page/risk-section.ts";
import { sensitivitySection } from "./page/sensitivity-section.ts";
import { STYLE } from "./page/style.ts";
import type { Study } from "./study.ts";
import { capital } from "./words.ts";

export interface ReportOptions {
  /** A document to make SVG with: the browser's, or one from a library. It is not changed. */
  readonly document: Document;
  /** Figures already prepared by `studyFigures(study)`, to spare the work. */
  readonly figures?: readonly Figure[];
}

/** The report as HTML text. */
export function renderReport(study: Study, options: ReportOptions): string {
  const figures = options.figures ?? studyFigures(study);
  const context: PageContext = {
    ...contextOf(study),
    document: options.document,
    figures: new Map(figures.map((figure) => [figure.key, figure])),
  };
  const sections = [
    cohortSection(context),
    mapSection(context),
    groupSection(context),
    markerSection(context),
    covariateSection(context),
    outcomeMapSection(context),
    comparisonSection(context),
    outcomeSection(context),
    survivalSection(context),
    riskSection(context),
    sensitivitySection(context),
    fitSection(context),
    dataSection(context),
    methodsSection(context),
    checklistSection(context),
  ].filter((section) => section !== undefined);
  const title = titleOf(context);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="color-scheme" content="light dark">
<title>${title}: disease trajectory map</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the results</a>
<div class="wrap">
${headerHtml(context)}
<nav aria-label="Contents"><ul>${sections.map(({ id, title: name }) => html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>
<main id="content">
${sections.map(sectionHtml)}
</main>
${footerHtml(context)}
</div>
</body>
</html>
`;
  return page.markup;
}

function sectionHtml({ id, title, body }: Section): Markup {
  return html`<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>
${body}</section>
`;
}

function methodsSection(context: PageContext): Section | undefined {
  const { paragraphs, references } = methodsOf(context);
  const commands = context.study.run?.commands ?? [];
  if (paragraphs.length === 0 && commands.length === 0) return undefined;
  const body = html`<div class="meth">${paragraphs.map((text) => html`<p>${text}</p>`)}</div>
${references.length > 0 && html`<h3>References</h3><ol class="refs">${references.map((text) => html`<li>${text}</li>`)}</ol>`}
${
  commands.length > 0 &&
  html`<h3>Commands</h3><p class="sub" style="font-size:13px">In this order, on the same files, they give the same numbers; folders are left out of file names.</p>
<ol class="cmd">${commands.map((command) => html`<li><code>${command}</code></li>`)}</ol>`
}`;
  return { id: "methods", title: "Methods", body };
}

function checklistSection(context: PageContext): Section {
  const table = (name: string, items: readonly ChecklistItem[]) =>
    scrollHtml(
      name,
      html`<table class="plain"><caption class="hide">${name}</caption><thead><tr><th scope="col">Item</th><th scope="col" class="tx">Reported</th><th scope="col" class="tx">Where, or why not</th></tr></thead><tbody>${items.map(({ number, question, state, answer }) => html`<tr><th scope="row"><span class="mu">${number}</span> ${question}</th><td class="st">${capital(state)}</td><td>${answer}</td></tr>`)}</tbody></table>`,
    );
  const body = html`<p class="sub">Answered from the run: what it cannot know is left to the authors.</p>
<h3>STROBE: cohort studies</h3>
${table("STROBE checklist", strobe(context))}
<h3>GRoLTS: latent trajectory studies</h3>
${table("GRoLTS checklist", checklist(context))}`;
  return { id: "checklist", title: "Reporting checklists", body };
}

function footerHtml({ study, record, individualLevel }: PageContext): Markup {
  const { run } = study;
  const seed = run?.seed ?? record?.seed;
  const versions =
    run?.versions ?? (record === undefined ? [] : [{ name: "trajectory-maps", version: record.version }]);
  const parts: [string, Markup][] = [];
  const shown = run?.digest?.keyed ? `${run.digest.algorithm}, keyed: ${run.digest.value}` : undefined;
  if (run?.source !== undefined || shown !== undefined)
    parts.push(["Data", html`${[run?.source, shown].filter((t) => t !== undefined).join(", ")}`]);
  if (seed !== undefined) parts.push(["Seed", html`${seed}`]);
  if (versions.length > 0)
    parts.push(["Software", html`${versions.map(({ name, version }) => `${name} ${version}`).join(", ")}`]);
  if (run?.date !== undefined) parts.push(["Made on", html`${run.date}`]);
  if (run?.command !== undefined && run.commands === undefined)
    parts.push(["Command", html`<code>${run.command}</code>`]);
  const contents =
    individualLevel === "none"
      ? "Summaries only. Contains no identifiers and no measurements. This is not a formal privacy guarantee."
      : "Summaries and places of single individuals, without identifiers.";
  parts.push(["Contains", html`${contents}`]);
  return html`<footer class="fine">${parts.map(([name, text]) => html`<span><b>${name}</b>${text}</span>`)}</footer>`;
}
