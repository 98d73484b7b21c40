import { strFromU8, unzipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { reportAs } from "./report-forms.ts";

const PAGE = `<!doctype html><html lang="en"><head><meta name="color-scheme" content="light dark">
<style>@media screen and (prefers-color-scheme:dark){a{}}@media print{@page{size:A4}}</style></head><body>
<a class="skip" href="#content">Skip</a><h1>Courses of x</h1><nav>Contents</nav><main>
<section><h2>Models</h2><figure><details><summary>Show numbers</summary><table><tr><td>behind</td></tr></table></details></figure>
<table><caption><b>Table 1.</b> Scores &amp; more.</caption><thead><tr><th>Model</th><th>score <span class="hide">unseen</span></th></tr></thead>
<tbody><tr><th>map</th><td><b>10<sup>−3</sup></b></td></tr><tr><th colspan="2">all</th></tr></tbody></table></section>
<section><h2>No table</h2></section></main></body></html>`;

const wordXml = async () =>
  strFromU8(unzipSync((await reportAs("docx-tables", PAGE)) as Uint8Array)["word/document.xml"] ?? new Uint8Array());

describe("forms of the report", () => {
  it("are the page itself for html", async () => {
    expect(await reportAs("html", PAGE)).toBe(PAGE);
  });

  it("on paper have the rules of printing in force, and nothing that opens or links", async () => {
    const paper = (await reportAs("pdf-ready", PAGE)) as string;
    expect(paper).toContain("@media all{@page{size:A4}}");
    // "not all and (dark)" would hold wherever it is light.
    expect(paper).toContain("@media not all{a{}}");
    for (const gone of ["<nav", "<details", "Skip", 'color-scheme"']) expect(paper).not.toContain(gone);
    expect(paper).toContain("Table 1.");
  });

  it("for Word have every table under the heading of its section, and no numbers behind figures", async () => {
    const xml = await wordXml();
    const texts = Array.from(xml.matchAll(/<w:t[^>]*>([^<]*)<\/w:t>/g), ([, text]) => text?.trim()).filter(Boolean);
    expect(texts).toEqual([
      "Courses of x",
      "Models",
      "Table 1.",
      "Scores &amp; more.",
      "Model",
      "score",
      "map",
      "10",
      "−3",
      "all",
    ]);
    expect(xml.match(/<w:tbl>/g)).toHaveLength(1);
    expect(xml).toMatch(/<w:gridSpan w:val="2"\/>/);
    expect(xml).toMatch(/<w:vertAlign w:val="superscript"\/>/);
    expect(xml).toMatch(/<w:tblHeader\/>/);
  });

  it("for Word have columns as wide as their texts ask for", async () => {
    const long = "a sentence that is broken ".repeat(5);
    const page = `<h1>x</h1><main><section><h2>y</h2><table><thead><tr><th>Item</th><th>observed coverage</th><th>Why</th></tr></thead>
<tbody><tr><th>${long}</th><td>Yes</td><td>${long}</td></tr></tbody></table></section></main>`;
    const file =
      unzipSync((await reportAs("docx-tables", page)) as Uint8Array)["word/document.xml"] ?? new Uint8Array();
    const widths = Array.from(strFromU8(file).matchAll(/<w:gridCol w:w="(\d+)"/g), ([, width]) => Number(width));
    expect(widths).toEqual([60, 8, 60].map((letters) => Math.floor((14_400 * letters) / 128)));
  });
});
