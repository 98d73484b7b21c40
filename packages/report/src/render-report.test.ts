import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Resvg } from "@resvg/resvg-js";
import type { TrajectoryModel } from "@trajectory-maps/core";
import { parseHTML } from "linkedom";
import { beforeAll, describe, expect, it } from "vitest";
import { sampleStudy } from "../../../test/sample-study.ts";
import {
  checklist,
  contextOf,
  figureToSvg,
  methodsOf,
  renderReport,
  type Study,
  strobe,
  studyFigures,
} from "./index.ts";

const { document } = parseHTML("<html><body></body></html>") as unknown as { document: Document };
const HOSTILE = '"><img src=x onerror=alert(1)><script>alert(2)</script>\u2028';

let study: Study;
let page: string;
let dom: Document;

beforeAll(async () => {
  ({ study } = await sampleStudy({ numIndividuals: 160, folds: 2, draws: 99, mapInComparison: false }));
  page = renderReport(study, { document });
  dom = parseHTML(page).document as unknown as Document;
});

/** Text of the page without markup. */
const textOf = (html: string) => html.replace(/<style>.*?<\/style>/s, "").replace(/<[^>]+>/g, " ");

describe("the report", () => {
  it("has every section of a whole study, each with a heading", () => {
    const ids = Array.from(dom.querySelectorAll("main > section"), (section) => section.id);
    expect(ids).toEqual([
      "individuals",
      "map",
      "groups",
      "outcome-maps",
      "models",
      "outcomes",
      "survival",
      "fit",
      "data",
      "methods",
      "checklist",
    ]);
    for (const section of Array.from(dom.querySelectorAll("main > section"))) {
      expect(section.querySelector("h2")?.textContent).not.toBe("");
    }
  });

  it("asks for nothing: no script, no address but namespaces", () => {
    expect(page).not.toMatch(/<script|<link|<img|@import|url\((?!#)/i);
    const addresses = page.match(/https?:\/\/[^\s"'<)]+/g) ?? [];
    expect(new Set(addresses)).toEqual(new Set(["http://www.w3.org/2000/svg"]));
  });

  it("holds no identifier and, in a shared report, no digest that lets rows be guessed", () => {
    expect(page).not.toContain("secret-");
    expect(page).not.toContain("0123abcd");
    const places = renderReport({ ...study, options: { individualLevel: "places" } }, { document });
    expect(places).not.toContain("secret-");
    expect(places).toContain("Holds individual-level places");
  });

  it("draws no single places unless they are allowed", () => {
    const circles = (html: string) => {
      const map = parseHTML(html).document.querySelector("#figure-map");
      return map?.querySelectorAll("circle").length ?? 0;
    };
    expect(circles(page)).toBeLessThan(120);
    expect(circles(renderReport({ ...study, options: { individualLevel: "places" } }, { document }))).toBeGreaterThan(
      160,
    );
  });

  it("says which value is the case where the name of the outcome does not", () => {
    const [first, ...rest] = study.association!.outcomes;
    const outcomes = [{ ...first, outcome: "sex", caseMeans: 'sex is "m"' }, ...rest];
    const html = renderReport({ ...study, association: { ...study.association!, outcomes } }, { document });
    const heads = Array.from(parseHTML(html).document.querySelectorAll("#outcomes tbody th"), (th) => th.textContent);
    expect(heads[0]).toBe('Sex sex is "m"');
    expect(heads[1]).not.toContain(" is ");
  });

  it("shows last value and visits beside the place, and says what it adds; too few cases and older files too", () => {
    const [first] = study.association!.outcomes;
    const few = { value: Number.NaN, lower: Number.NaN, upper: Number.NaN };
    const shown = (predictors: typeof first.predictors) => {
      const outcomes = [{ ...first, predictors }];
      const html = renderReport({ ...study, association: { ...study.association!, outcomes } }, { document });
      return textOf(html);
    };
    expect(shown({ ...first.predictors!, added: few })).toContain("too few");
    const zero = { value: 0, lower: 0, upper: 0 };
    expect(shown({ ...first.predictors!, added: zero, placeUsed: false })).toContain("not used");
    expect(shown({ ...first.predictors!, added: zero, placeUsed: undefined })).not.toContain("not used");
    expect(shown(first.predictors)).toContain(first.predictors!.verdict);
    expect(shown(undefined)).not.toContain("last value and visits");
    const all = textOf(page);
    expect(all).toMatch(/What the place adds: .*(no gain is shown|too few cases to say|it adds to last value)/);
  });

  it("withholds small counts, also where a total would give them away", () => {
    const first = study.association!.outcomes[0];
    const outcomes = [
      { ...first, cases: 7, controls: 153, missing: 0, warnings: [{ code: "few-cases", message: "Only 7 cases." }] },
    ];
    const html = renderReport({ ...study, association: { ...study.association!, outcomes } }, { document });
    const row = Array.from(parseHTML(html).document.querySelectorAll("#outcomes tbody tr"))[0];
    const cells = Array.from(row.querySelectorAll("td"), (td) => td.textContent);
    expect(cells.slice(0, 3)).toEqual(["<11", "≥11", "0"]);
    expect(html).toContain("Only &lt;11 cases.");
    // Seven rows were left out; rows in the file minus observations would tell.
    expect(textOf(page)).not.toContain(String(study.cohort.numObservations + 7));
    const shown = renderReport({ ...study, options: { smallCell: 1 } }, { document });
    expect(textOf(shown).replace(/,/g, "")).toContain(String(study.cohort.numObservations + 7));
  });

  it("quotes no received cell in a shared report", () => {
    const warnings = [{ ...study.cohort.warnings[0], received: "value 4711.25 of secret-P0001" }];
    const html = renderReport({ ...study, cohort: { ...study.cohort, warnings } }, { document });
    expect(html).not.toContain("4711.25");
  });

  it("gives the same bytes for the same study", () => {
    expect(renderReport(structuredClone(study), { document })).toBe(page);
  });

  it("shows hostile names as text", () => {
    const named: Study = {
      ...study,
      title: HOSTILE,
      outcomes: study.outcomes!.map((o) => ({ ...o, name: HOSTILE + o.name })),
      association: {
        ...study.association!,
        outcomes: study.association!.outcomes.map((o) => ({ ...o, outcome: HOSTILE + o.outcome })),
      },
      groups: { ...study.groups!, groups: study.groups!.groups.map((g) => ({ ...g, name: HOSTILE })) },
      survival: { ...study.survival!, event: HOSTILE },
      run: { ...study.run!, command: HOSTILE },
      cohort: { ...study.cohort, marker: { ...study.cohort.marker, name: HOSTILE, unit: HOSTILE }, notes: [HOSTILE] },
      model: {
        ...study.model!,
        markers: study.model!.markers.map((part) => ({
          ...part,
          marker: { ...part.marker, name: HOSTILE, unit: HOSTILE },
        })),
      } as TrajectoryModel,
    };
    const html = renderReport(named, { document });
    expect(html).not.toMatch(/<script|<img/i);
    expect(parseHTML(html).document.querySelectorAll("script, img").length).toBe(0);
    for (const figure of studyFigures(named)) expect(figureToSvg(figure, { document })).not.toMatch(/<script|<img/i);
  });

  it("says what crude shares by group leave out, and points to the curves where there are some", () => {
    const caption = (part: Study) => studyFigures(part).find(({ key }) => key === "groups")?.caption;
    expect(caption(study)).toMatch(/crude: groups were seen .*median last visit from year .* allow for that\./);
    const { survival: _, ...without } = study;
    expect(caption(without)).toMatch(/crude.*which shares do not allow for\./);
    expect(caption({ ...without, outcomes: [] })).not.toContain("crude");
  });

  it("says what is free of later visits after a landmark and what is not, and who has no curve", () => {
    const survival = { ...study.survival!, emptyGroups: [{ letter: "Z", name: "falls at once" }] };
    const dom = parseHTML(renderReport({ ...study, survival }, { document })).document;
    const text = dom.querySelector("#survival")?.textContent ?? "";
    expect(text).toMatch(/place uses the individual's visits up to year .* only .* fitted on all visits/);
    expect(text).not.toContain("nothing from the future");
    expect(text).toContain("Nobody is in group Z (falls at once) at the landmark.");
    expect(text).toContain("years since the landmark");
  });

  it("gives a bound where nobody has had the event yet, never 100 to 100", () => {
    const { curves } = study.survival!;
    const ones = Array.from(curves[0].survival, () => 1);
    const none = { ...curves[0], numEvents: 0, survival: ones, lower: ones, upper: ones };
    const survival = { ...study.survival!, curves: [none, ...curves.slice(1)] };
    const figure = studyFigures({ ...study, survival }).find(({ key }) => key === "survival");
    const cells = figure!.table.rows.flat().join("\n");
    expect(cells).not.toContain("100 to 100");
    expect(cells).toMatch(/no event among \d+ at risk \(at least \d+%\)/);
  });

  it("is a page from the cohort alone", () => {
    const html = renderReport({ cohort: study.cohort }, { document });
    const ids = Array.from(parseHTML(html).document.querySelectorAll("main > section"), (section) => section.id);
    expect(ids).toEqual(["individuals", "data", "checklist"]);
  });

  it("says first that a map should not be used, and when groups are unstable", () => {
    const record = {
      ...study.model!.record,
      converged: false,
      verdict: "Stopped after 9 iterations with the noise at its lower limit: the bound has no maximum for these data.",
    };
    const stability = { verdict: "unstable" as const, meanAdjustedRand: 0.3, adjustedRand: [0.3] };
    const html = renderReport({ ...study, record, groups: { ...study.groups!, stability } }, { document });
    expect(html).toContain("Stopped.");
    expect(html).toContain('<p class="lede">Do not read: no map fits these data best. ');
    expect(html).not.toContain("is related to");
    for (const { name } of study.groups!.groups) expect(html).not.toContain(`\u201c${name}\u201d`);
    expect(html).toContain("The groups are unstable.");
    // The word is that of the index, whatever a file of an earlier version says.
    const between = { verdict: "stable" as const, meanAdjustedRand: 0.65, adjustedRand: [0.65, 0.65] };
    expect(renderReport({ ...study, groups: { ...study.groups!, stability: between } }, { document })).toContain(
      "Over only 2 refits to 80% of the individuals the mean adjusted Rand index was 0.65 (fairly stable; ",
    );
  });
});

describe("figures", () => {
  it("have a picture with words, and a table with the same number of cells in each row", () => {
    const figures = Array.from(dom.querySelectorAll("figure"));
    expect(figures.length).toBeGreaterThanOrEqual(12);
    for (const figure of figures) {
      const drawing = figure.querySelector('[role="img"]');
      const words = dom.getElementById(drawing?.getAttribute("aria-labelledby") ?? "");
      expect(words?.textContent?.length).toBeGreaterThan(20);
      expect(figure.querySelector("figcaption b")?.textContent).not.toBe("");
      const columns = figure.querySelectorAll("details thead th").length;
      expect(columns).toBeGreaterThan(1);
      for (const row of Array.from(figure.querySelectorAll("details tbody tr"))) {
        expect(row.querySelectorAll("th,td").length).toBe(columns);
      }
    }
  });

  it("use each id once, so that clip paths of one figure do not reach another", () => {
    const ids = Array.from(page.matchAll(/ id="([^"]+)"/g), (match) => match[1]);
    expect(ids.length).toBe(new Set(ids).size);
    for (const [, id] of page.matchAll(/url\(#([^)]+)\)/g)) expect(ids).toContain(id);
  });

  it("hold finite numbers only", () => {
    for (const figure of studyFigures(study))
      expect(figureToSvg(figure, { document })).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("stand alone as SVG that resvg draws with the font given to it", () => {
    const folder = createRequire(import.meta.url)
      .resolve("@expo-google-fonts/inter/package.json")
      .replace(/package\.json$/, "");
    const fontFiles = ["400Regular/Inter_400Regular.ttf", "600SemiBold/Inter_600SemiBold.ttf"].map((f) => folder + f);
    expect(readFileSync(fontFiles[0]).length).toBeGreaterThan(1000);
    for (const figure of studyFigures(study)) {
      const svg = figureToSvg(figure, { document, source: "source line" });
      expect(svg).not.toContain("var(--");
      expect(svg).toContain("source line");
      const image = new Resvg(svg, {
        font: { fontFiles, loadSystemFonts: false, defaultFontFamily: "Inter" },
      }).render();
      expect(image.width).toBeGreaterThan(300);
      // A drawing, not an empty sheet: some pixels are dark.
      expect(image.pixels.some((value, k) => k % 4 === 0 && value < 60)).toBe(true);
    }
  });
});

describe("words made from the run", () => {
  it("methods name the sizes, seed and numbers of the run", () => {
    const text = methodsOf(contextOf(study)).paragraphs.join(" ");
    expect(text).toContain(`seed ${study.model!.record.seed}`);
    expect(text).toContain("160 individuals");
    expect(text).toContain("two-fold cross-validation");
    expect(text).toContain("99 studentised multiplier draws");
    expect(text).toMatch(/of 200 made-up outcomes .* were below 0\.05\./);
  });

  it("the checklists say no, or not applicable, where a part is missing, and yes only to what is on the page", () => {
    const stateOf = (part: Study, number: string) => ({
      strobe: strobe(contextOf(part)).find((item) => item.number === number)?.state,
      grolts: checklist(contextOf(part)).find((item) => item.number === number)?.state,
    });
    const alone = { cohort: study.cohort };
    expect(stateOf(study, "10").grolts).toBe("yes");
    expect(stateOf(alone, "10").grolts).toBe("no");
    expect(stateOf(alone, "12").grolts).toBe("not applicable");
    expect(stateOf(study, "16c").strobe).toBe("yes");
    expect(stateOf(alone, "16c").strobe).toBe("not applicable");
    // What no run can know is left to the authors.
    for (const number of ["1a", "2", "3", "5", "10", "20", "22"]) expect(stateOf(study, number).strobe).toBe("no");
    const ids = Array.from(dom.querySelectorAll("main > section"), (section) => section.id);
    const named = Array.from(dom.querySelectorAll("#checklist td"), (td) => td.textContent ?? "");
    const headings = ids.map((id) => dom.querySelector(`#${id} h2`)?.textContent ?? "");
    for (const text of named) {
      for (const [, title] of text.matchAll(/“([^”]+)”/g)) expect([...headings, "Show numbers"]).toContain(title);
    }
  });

  it("methods cite each reference where it is used, numbered as they come, and list only those", () => {
    const { paragraphs, references } = methodsOf(contextOf(study));
    const cited = Array.from(paragraphs.join(" ").matchAll(/\[(\d+(?:, \d+)*)\]/g), ([, list]) =>
      list.split(", ").map(Number),
    );
    const first = [...new Set(cited.flat())];
    expect(first).toEqual(references.map((_, k) => k + 1));
    expect(references[0]).toMatch(/^Schulam P, Arora R/);
    const { survival: _, ...without } = study;
    expect(methodsOf(contextOf(without)).references.join(" ")).not.toMatch(/Kaplan|Cox DR/);
    expect(references.join(" ")).toMatch(/Kaplan EL, Meier P/);
  });

  it("the page lists every command, and shows a hostile one as text", () => {
    const run = { ...study.run!, commands: ["dtm fit visits.csv", "dtm groups run", HOSTILE] };
    const html = renderReport({ ...study, run }, { document });
    const listed = Array.from(parseHTML(html).document.querySelectorAll("#methods ol code"), (c) => c.textContent);
    expect(listed).toEqual(run.commands);
    expect(html).not.toMatch(/<script|<img/i);
  });

  it("the checklist answers all sixteen items, whatever parts a study has", () => {
    for (const part of [study, { cohort: study.cohort }]) {
      const items = checklist(contextOf(part));
      expect(new Set(items.map(({ number }) => number.replace(/\D/g, ""))).size).toBe(16);
      const observational = strobe(contextOf(part));
      expect(new Set(observational.map(({ number }) => number.replace(/\D/g, ""))).size).toBe(22);
      for (const { answer } of [...items, ...observational]) expect(answer).toMatch(/\S.*\.$/);
    }
  });
});
