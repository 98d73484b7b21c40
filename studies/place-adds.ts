/**
 * What the place adds, when it adds nothing and when it does: simulated studies with a last value, visits and a place whose first
 * axis repeats most of the value, and whose second has a relation of its own or none. Writes docs/studies/place-adds.md, which
 * docs/math/association.md §12 refers to. Usage: npm run study:place-adds [-- REPLICATES]   (default 100)
 */
import { writeFileSync } from "node:fs";
import process from "node:process";
import { comparePredictors } from "../packages/core/src/associate/predictors.ts";
import { makeCohort } from "../packages/core/src/cohort/cohort.ts";
import { createRandom } from "../packages/core/src/numeric/random.ts";
import { markdownTable } from "./shared/cohorts.ts";

const replicates = Number(process.argv[2] ?? 100);
/** Log odds or log hazard per standard deviation of the value, and of the second axis where it counts. */
const VALUE = 0.8;
const PLACE = 0.5;

interface Design {
  readonly response: "outcome" | "time";
  readonly m: number;
  /** Of cases, or of individuals with the event before the end of follow-up. */
  readonly share: number;
}

const DESIGNS: readonly Design[] = [
  { response: "outcome", m: 150, share: 1 / 3 },
  { response: "outcome", m: 300, share: 1 / 3 },
  { response: "outcome", m: 300, share: 1 / 2 },
  { response: "outcome", m: 1000, share: 1 / 8 },
  { response: "time", m: 300, share: 1 / 3 },
  { response: "time", m: 300, share: 1 / 2 },
];

function study({ response, m, share }: Design, value: number, place: number, seed: number) {
  const random = createRandom(seed);
  const ids = Array.from({ length: m }, (_, i) => String(i).padStart(5, "0"));
  const values = Float64Array.from(ids, () => random.normal());
  const location = Float64Array.from({ length: 2 * m }, (_, k) =>
    k % 2 === 0 ? 0.8 * values[k / 2] + 0.6 * random.normal() : random.normal(),
  );
  const firstTime = Float64Array.from(ids, () => random.uniform());
  const places = {
    ids,
    mapDimension: 2,
    numObservations: Int32Array.from(ids, () => 1 + random.poisson(3)),
    location,
    covariance: new Float64Array(4 * m),
    logLikelihood: new Float64Array(m),
    firstTime,
    lastTime: firstTime.map((t) => t + 3 * random.uniform()),
  };
  const risk = values.map((v, i) => value * v + place * location[2 * i + 1]);
  // Log odds plus logistic noise, or exponential times; the share is that of the sample.
  const latent = risk.map((r) => {
    const u = random.uniform();
    return response === "outcome" ? Math.log(u / (1 - u)) + r : Math.log(-Math.log(1 - u)) - r;
  });
  const sorted = latent.slice().sort();
  const count = Math.round(share * m);
  const cut = response === "outcome" ? sorted[m - count] : sorted[count - 1];
  const events = latent.map((x) => ((response === "outcome" ? x >= cut : x <= cut) ? 1 : 0));
  const times = response === "time" ? { times: latent.map((x) => Math.exp(Math.min(x, cut))) } : {};
  const cohort = makeCohort({ ids, times: firstTime, values });
  return comparePredictors(cohort, places, { events, ...times }, seed).added;
}

function cellsOf(design: Design, value: number, place: number): string {
  const added = Array.from({ length: replicates }, (_, r) => study(design, value, place, r + 1));
  const mean = added.reduce((sum, a) => sum + a.value, 0) / replicates;
  const share = (of: (a: (typeof added)[number]) => boolean) => (added.filter(of).length / replicates).toFixed(2);
  const sign = mean < 0 ? "−" : "";
  return `${sign}${Math.abs(mean).toFixed(3)} (${share((a) => a.lower > 0)}, ${share((a) => a.upper < 0)})`;
}

const rows = DESIGNS.map((design) => {
  const { response, m, share } = design;
  const cells = [
    `${response}, m = ${m}, ${Math.round(100 * share)}% ${response === "outcome" ? "cases" : "with the event"}`,
    cellsOf(design, 0, 0),
    cellsOf(design, VALUE, 0),
    cellsOf(design, VALUE, PLACE),
  ];
  process.stderr.write(`${cells.join(" | ")}\n`);
  return cells;
});
const page = `# What the place adds, simulated

\`npm run study:place-adds\` writes this page: ${replicates} studies each of what ${"`"}comparePredictors${"`"} calls added, the AUC or C of last value, visits and
place less that of last value and visits, held out ([association §12](../math/association.md)). Mean over studies, and in brackets the
share of studies whose 95% interval lies above 0 and below 0. The log odds or hazard is ${VALUE} per sd of the value, the first axis of the place has
correlation 0.8 with the value, and the second has a coefficient of 0 or ${PLACE}.

${markdownTable(["", "nothing tells anything", "the value alone", "the second axis too"], rows)}
`;
writeFileSync("docs/studies/place-adds.md", page);
process.stdout.write(page);
