/** docs/calibration.md from the rows that were run. */

import { NOISE_KINDS } from "../../packages/core/src/noise/noise.ts";
import { MEASURED, NOT_MEASURED, READING } from "./calibration-notes.ts";
import { markdownTable } from "./cohorts.ts";
import { KNOWN_WORDS } from "./coverage.ts";
import { FAMILIES, MODELS } from "./families.ts";
import { type Inside, LEVELS, shareInside } from "./inside.ts";
import { EVENT_DESIGNS } from "./shown-tests.ts";
import { DESIGNS } from "./two-groups.ts";

/** A cell that was run once: what, with which seed, and how many individuals or studies. */
export interface Row {
  readonly part: "bands" | "events" | "outcomes" | "verdicts";
  readonly cell: string;
  readonly seed: number;
  readonly count: number;
}

/** Of one fit: the noise it has, and what lies inside by class of visits known, and in all. */
export interface BandRow extends Row {
  readonly noise: string;
  readonly forecasts: readonly Inside[];
  readonly regions: readonly Inside[];
}

/** By test: how often it found something, of how many studies in which it was made. */
export interface TestRow extends Row {
  readonly found: Readonly<Record<string, readonly [number, number]>>;
}

/** A share is off if it is so many standard errors and so many points from its level. */
const OFF = { errors: 3, points: 3 };
const NAMES = { lmm: "LMM", fpca: "FPCA", dtm: "`dtm`", "dtm-paper": "`dtm-paper`" } as const;

type Kind = "forecasts" | "regions";

/** Cells of bands by noise and data, whatever the order in which they were run. */
const NOISES: readonly string[] = ["auto", ...NOISE_KINDS];
const DATA = ["known", "own", ...Object.keys(FAMILIES)];
function orderOf({ cell }: Row): number {
  const [data, , noise] = cell.split(", ");
  return 100 * NOISES.indexOf(noise) + DATA.indexOf(data);
}

/** The rows of each cell. */
function byCell<R extends Row>(given: readonly Row[], part: Row["part"]): Map<string, R[]> {
  const cells = new Map<string, R[]>();
  const rows = part === "bands" ? given.slice().sort((a, b) => orderOf(a) - orderOf(b) || a.seed - b.seed) : given;
  for (const row of rows) if (row.part === part) cells.set(row.cell, [...(cells.get(row.cell) ?? []), row as R]);
  return cells;
}

const isOff = ({ percent, error }: ReturnType<typeof shareInside>, level: number) =>
  Math.abs(percent - 100 * level) > Math.max(OFF.errors * error, OFF.points);

/** "51 (2), 89 (1)": shares inside the 50 and 90% regions with standard errors; bold where off. */
function insideCell(fits: readonly Inside[]): string {
  if (fits.every(({ n }) => n === 0)) return "";
  return LEVELS.map((level, a) => {
    const share = shareInside(fits, a);
    const text = `${share.percent.toFixed(0)} (${share.error.toFixed(1)})`;
    return isOff(share, level) ? `**${text}**` : text;
  }).join(", ");
}

function bandTable(cells: ReadonlyMap<string, readonly BandRow[]>, model: string, kind: Kind): string {
  const own = [...cells].filter(([cell]) => cell.split(", ")[1] === model);
  if (own.length === 0) return "Not run.";
  const counted = (rows: readonly BandRow[]) =>
    String(Math.round(rows.reduce((sum, row) => sum + row[kind].at(-1)!.n, 0)));
  return markdownTable(
    ["data", "noise", "all", ...KNOWN_WORDS.map((word, k) => (k === 0 ? `known ${word}` : word)), "seeds", kind],
    own.map(([cell, rows]) => {
      const [data, , noise] = cell.split(", ");
      const classes = KNOWN_WORDS.map((_, k) => insideCell(rows.map((row) => row[kind][k])));
      return [
        data,
        noise,
        insideCell(rows.map((row) => row[kind].at(-1)!)),
        ...classes,
        rows.map(({ seed }) => seed).join(" "),
        counted(rows),
      ];
    }),
  );
}

/** Cells and classes whose 90% share is off, the worst first, in words. */
function failures(cells: ReadonlyMap<string, readonly BandRow[]>, kind: Kind): string {
  const all = [...cells].flatMap(([cell, rows]) =>
    KNOWN_WORDS.flatMap((word, k) => {
      const fits = rows.map((row) => row[kind][k]);
      return fits.some(({ n }) => n > 0)
        ? LEVELS.map((level, a) => ({ cell, word, level, ...shareInside(fits, a) }))
        : [];
    }),
  );
  const off = all.filter((share) => isOff(share, share.level));
  const low = off.filter(({ percent, level }) => percent < 100 * level);
  const worst = low.sort((a, b) => a.percent - 100 * a.level - (b.percent - 100 * b.level)).slice(0, 12);
  const words = worst.map(
    ({ cell, word, level, percent, error }) =>
      `- ${cell}, ${word} known: ${100 * level}% ${kind === "forecasts" ? "bands" : "regions"} hold ${percent.toFixed(0)} (${error.toFixed(1)})`,
  );
  return `Of ${all.length} shares ${off.length} are off, of these ${low.length} too low${low.length > 12 ? "; the lowest" : ""}${low.length > 0 ? ":" : "."}\n\n${words.join("\n")}`;
}

/** All classes together, by data: what the page says first. */
function summaryTable(cells: ReadonlyMap<string, readonly BandRow[]>, kind: Kind): string {
  const shown = MODELS.map((model) => `${model}, ${model === "dtm-paper" ? "white" : "auto"}`);
  const data = [...new Set([...cells.keys()].map((cell) => cell.split(", ")[0]))].filter((name) => name !== "known");
  return markdownTable(
    ["data", ...shown],
    data.map((name) => [
      name,
      ...shown.map((fit) => {
        const rows = cells.get(`${name}, ${fit}`);
        return rows === undefined ? "" : insideCell(rows.map((row) => row[kind].at(-1)!));
      }),
    ]),
  );
}

/** Cells of the whole grid that have no row yet. */
function missing(rows: readonly Row[]): string {
  const run = new Set(rows.map(({ cell }) => cell));
  const fits = MODELS.flatMap((model) =>
    (model === "dtm-paper" ? ["white"] : NOISES).map((noise) => {
      const data = DATA.filter((name) => !(name === "known" && noise === "auto"));
      const left = data.filter((name) => !run.has(`${name}, ${model}, ${noise}`));
      return left.length === 0
        ? []
        : [`${model} with ${noise} noise on ${left.length === data.length ? "all data" : left.join(", ")}`];
    }),
  );
  const designs = DESIGNS.filter(({ name }) => !run.has(name)).map(({ name }) => name);
  return `Bands and regions not run: ${fits.flat().join("; ") || "none"}. Outcomes not run: ${designs.join("; ") || "none"}.`;
}

/** Which noise `auto` took. */
function takenTable(cells: ReadonlyMap<string, readonly BandRow[]>): string {
  const taken = [...cells].filter(([cell]) => cell.endsWith("auto") && !cell.startsWith("known"));
  const data = [...new Set(taken.map(([cell]) => cell.split(", ")[0]))];
  return markdownTable(
    ["data", "taken"],
    data.map((name) => {
      const kinds = taken
        .filter(([cell]) => cell.startsWith(`${name}, `))
        .flatMap(([, rows]) => rows.map(({ noise }) => noise));
      return [
        name,
        [...new Set(kinds)].map((kind) => `${kind} ${kinds.filter((own) => own === kind).length}`).join(", "),
      ];
    }),
  );
}

/** Tests as rows, designs as columns: percent found; `null5`: designs in which 5% are to be found, bold outside 99.9% of chance. */
function testTable(
  rows: readonly Row[],
  part: Row["part"],
  names: readonly string[],
  isNull: (design: string, test: string) => boolean,
): string {
  const cells = byCell<TestRow>(rows, part);
  const run = names.filter((name) => cells.has(name));
  if (run.length === 0) return "Not run.";
  const tests = [...new Set(run.flatMap((name) => cells.get(name)!.flatMap(({ found }) => Object.keys(found))))];
  const sums = (name: string, test: string) => {
    const own = cells.get(name)!.flatMap(({ found }) => (found[test] ? [found[test]] : []));
    return [own.reduce((s, [f]) => s + f, 0), own.reduce((s, [, n]) => s + n, 0)];
  };
  const studies = (name: string) => cells.get(name)!.reduce((s, { count }) => s + count, 0);
  const seeds = (name: string) =>
    cells
      .get(name)!
      .map(({ seed }) => seed)
      .join(" ");
  return markdownTable(
    ["", ...run],
    [
      ["studies (seeds)", ...run.map((name) => `${studies(name)} (${seeds(name)})`)],
      ...tests.map((test) => [
        test,
        ...run.map((name) => {
          const [found, made] = sums(name, test);
          if (made === 0) return "";
          const text = `${((100 * found) / made).toFixed(1)}${made < studies(name) ? ` of ${made}` : ""}`;
          return isNull(name, test) && found > mostByChance(made) ? `**${text}**` : text;
        }),
      ]),
    ],
  );
}

/** The smallest number that as many studies exceed with a probability of 0.001 or less, each finding something with 0.05. */
export function mostByChance(studies: number, rate = 0.05, beyond = 0.001): number {
  let [term, sum, k] = [(1 - rate) ** studies, 0, 0];
  for (; k < studies; k++) {
    sum += term;
    if (1 - sum <= beyond) return k;
    term *= ((studies - k) / (k + 1)) * (rate / (1 - rate));
  }
  return k;
}

export function calibrationPage(rows: readonly Row[]): string {
  const bands = byCell<BandRow>(rows, "bands");
  const verdicts = [...byCell<TestRow>(rows, "verdicts").keys()];
  const laws = Object.entries(FAMILIES).map(([name, { words }]) => `- ${name}: ${words}`);
  const tables = (kind: Kind) =>
    MODELS.map((model) => `### ${NAMES[model]}\n\n${bandTable(bands, model, kind)}`).join("\n\n");
  const isNothing = (design: string, test: string) =>
    (design.startsWith("nothing") || test.endsWith("the truth")) && !test.startsWith("observed risk");
  return `# Calibration

\`npm run calibrate\` writes this page from \`studies/calibration.jsonl\`, where each row has its seed and count; \`--parts\`, \`--only\`, \`--seeds\`, \`--individuals\` and \`--studies\` run more of them,
and what is there is not run again. The page has ${rows.length} rows: ${["bands", "events", "outcomes", "verdicts"].map((part) => `${rows.filter((row) => row.part === part).length} of ${part}`).join(", ")}.
${missing(rows)}
\`npm test\` holds a few cells to binomial bounds (\`test/calibration.test.ts\`).

A fit sees 150 individuals with 1 to 14 visits each between an entry and an end of their own within ten years (one start of the map, else as \`dtm fit\` has it); forecasts are of the next visit of 150 others from all visits before it, with the guard
of [safe forecasts](decisions/0014-safe-forecasts.md) for maps, as users get them. In cells are the percent inside the 50 and the 90% band, with standard errors in brackets: the larger of that over individuals and, from
three seeds on, that over fits. **Bold**: more than ${OFF.errors} standard errors and ${OFF.points} points off.

Data: *known*, drawn from the model that forecasts; *own*, drawn from that model, which is fitted anew; the others are no model here (noise sd 5 unless said):

${laws.join("\n")}

${READING}

## Forecast bands, all numbers of visits together

${summaryTable(bands, "forecasts")}

${failures(bands, "forecasts")}

## Regions of places, all numbers of visits together

From 1, 2, 3, 6 and 12 of 20 visits, picked at random. Places have no truth outside the map that values were drawn from (*known*: the true place inside the region). Elsewhere a fit has a frame of its own, and what is
counted is the share of the posterior from all 20 visits that the region from some of them holds: its expectation is the level if the model is right. Regions of LMM and FPCA are ellipses of their scores.

${summaryTable(bands, "regions")}

${failures(bands, "regions")}

## Noise that \`auto\` took

${takenTable(bands)}

## Tests and intervals: where each is measured

${MEASURED}

${NOT_MEASURED}

## Times to an event

\`landmarkSurvival\` as the product calls it, 300 individuals, about half with the event, landmark at year 2, on the map that values were drawn from. Percent of studies with p ≤ 0.05 or a 95% interval that leaves out the
value said. **Bold**: more than chance lets expect of 5% (one in a thousand).

${testTable(
  rows,
  "events",
  EVENT_DESIGNS.map(({ name }) => name),
  isNothing,
)}

## Outcomes

\`associate\` as the product calls it, 200 individuals, half of them cases, 199 draws, on the map that values were drawn from. Percent of studies; the designs are those of [type-one](studies/type-one.md), which has
1,000 studies of the first row.

${testTable(
  rows,
  "outcomes",
  DESIGNS.map(({ name }) => name),
  (design) => !design.includes("power"),
)}

## Verdicts

Percent of studies of 150 individuals in which it is said.

${testTable(rows, "verdicts", verdicts, () => false)}

# By visits known

## Forecast bands

${tables("forecasts")}

## Regions of places

${tables("regions")}
`;
}
