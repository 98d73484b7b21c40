/**
 * Association adjusted for covariates, and the score test of covariates, at the 5 % level. Courses come from a map fitted to the
 * simulated PFVC cohort. Individuals are drawn once for each way of being seen, with their true places x, and placed by their
 * values; studies draw from these pools. A covariate is drawn given the true place, c = ρx₁ + √(1 − ρ²)ε, so that it moves places
 * while all places together keep the law of the map; the outcome depends on c and, where there is nothing to find, on nothing else.
 * Results: docs/studies/adjusted.md.
 * Usage: npm run study:adjusted [-- --studies 500 --nulls 2000 --draws 199 --sizes 200,1000 --shares 0.5,0.1
 *        --pool 20000 --seed 31
 *        --only confounder|score|cohorts --design TEXT --cohort aids=VISITS,SUBJECTS,COLUMN,drug+gender ...]
 */
import { readFileSync } from "node:fs";
import { highestPower } from "../packages/core/src/associate/adjustment.ts";
import { placeShifts, scoreCovariate, screenCovariates } from "../packages/core/src/associate/covariate-test.ts";
import { multiplierP } from "../packages/core/src/associate/multipliers.ts";
import { pairAuc } from "../packages/core/src/associate/pair-auc.ts";
import { scoreOf, withoutCovariates } from "../packages/core/src/associate/score-test.ts";
import { visitClass } from "../packages/core/src/cohort/visit-classes.ts";
import { fitDtm, readCohort } from "../packages/core/src/index.ts";
import { choleskyInPlace, solveLowerInPlace } from "../packages/core/src/numeric/cholesky.ts";
import { dot, takeRows } from "../packages/core/src/numeric/matrix.ts";
import { createRandom, type Random } from "../packages/core/src/numeric/random.ts";
import { readSubjects } from "../packages/core/src/study/subjects.ts";
import { martingaleResiduals } from "../packages/core/src/survival/martingale.ts";
import {
  DESIGNS,
  type Drawn,
  drawStudy,
  draws,
  flags,
  isWanted,
  POOL_NAMES,
  POOLS,
  percent,
  rowsOf,
  type Seen,
  say,
  seed,
  sizes,
  usual,
} from "./shared/adjusted-draws.ts";
import { markdownTable } from "./shared/cohorts.ts";

/** AUCs are averaged over the first of these. */
const AUC_STUDIES = 100;

async function confounders(): Promise<void> {
  const numStudies = Number(flags.studies);
  const table: string[][] = [];
  for (const [d, design] of DESIGNS.entries()) {
    if (!design.name.includes(flags.design)) continue;
    for (const m of sizes) {
      for (const share of design.isTime ? [0.5] : flags.shares.split(",").map(Number)) {
        const counts = { plain: 0, adjusted: 0, straight: 0, plainAuc: 0, adjustedAuc: 0 };
        for (let k = 0; k < numStudies; k++) {
          const random = createRandom(seed + 100 * d + share + 1e4 * m + 1e8 * k);
          const drawn = drawStudy(design, m, share, random);
          const rows = rowsOf(drawn, "rows");
          const z = design.isTime ? residualsOf(drawn, share) : Float64Array.from(drawn, ({ label }) => label);
          const c = Float64Array.from(drawn, (one) => one.c);
          const noise = Array.from({ length: design.others ?? 0 }, () => c.map(() => random.normal()));
          const straight = [c, ...noise];
          const columns = [
            ...straight,
            ...(design.isTwoValued ? [] : straight.map((column) => column.map((v) => v * v))),
            ...(design.isTwoValued || highestPower(m) < 3 ? [] : straight.map((column) => column.map((v) => v ** 3))),
          ];
          const reject = async (covariates: readonly Float64Array[]) =>
            (await multiplierP(scoreOf(rows, z, covariates), k + 1, { draws })) <= 0.05 ? 1 : 0;
          counts.plain += await reject([]);
          counts.adjusted += await reject(columns);
          if (design.name === "curved") counts.straight += await reject(straight);
          if (design.isTime || m > 200 || k >= AUC_STUDIES) continue;
          counts.plainAuc += pairAuc(rows, z, k).value;
          counts.adjustedAuc += pairAuc(withoutCovariates(rows, m, columns), z, k).value;
        }
        const auc = (sum: number) =>
          design.isTime || m > 200 ? "" : (sum / Math.min(numStudies, AUC_STUDIES)).toFixed(3);
        const cells = [
          design.name,
          String(m),
          design.isTime ? "half" : `${100 * share} %`,
          percent(counts.plain, numStudies),
          percent(counts.adjusted, numStudies),
          design.name === "curved" ? percent(counts.straight, numStudies) : "",
          auc(counts.plainAuc),
          auc(counts.adjustedAuc),
        ];
        say(cells.join("  "));
        table.push(cells);
      }
    }
  }
  const head = ["confounder", "m", "cases", "unadjusted", "adjusted", "without its square", "AUC", "AUC adjusted"];
  say(markdownTable(head, table));
}

/** Martingale residuals of times that are censored where a share of them has passed. */
function residualsOf(drawn: readonly Drawn[], share: number): Float64Array {
  const times = drawn.map(({ label }) => label);
  const end = times.slice().sort((a, b) => a - b)[Math.floor(share * times.length)];
  const followUp = { times: times.map((t) => Math.min(t, end)), events: times.map((t) => (t < end ? 1 : 0)) };
  return Float64Array.from(martingaleResiduals(followUp));
}

interface ScoreDesign {
  readonly name: string;
  /** Coded columns, [P], before they are centred, given the true place. */
  readonly covariate: (random: Random, x: Float64Array) => readonly number[];
  readonly seen: (z: readonly number[]) => Seen;
}

const coin = (random: Random, share = 0.5) => (random.uniform() < share ? 1 : 0);
const SCORE_DESIGNS: readonly ScoreDesign[] = [
  { name: "number", covariate: (random) => [random.normal()], seen: usual },
  { name: "skewed number", covariate: (random) => [-Math.log(1 - random.uniform())], seen: usual },
  { name: "two levels, half", covariate: (random) => [coin(random)], seen: usual },
  { name: "two levels, one in ten", covariate: (random) => [coin(random, 0.1)], seen: usual },
  {
    name: "three levels",
    covariate: (random) =>
      [
        [0, 0],
        [1, 0],
        [0, 1],
      ][random.integer(3)],
    seen: usual,
  },
  {
    name: "doubles the visits (4 or 8)",
    covariate: (random) => [coin(random)],
    seen: ([z]) => (z === 1 ? "often" : "usual"),
  },
  {
    name: "2 or 8 visits, one in ten",
    covariate: (random) => [coin(random, 0.1)],
    seen: ([z]) => (z === 1 ? "often" : "rarely"),
  },
  {
    name: "number, seen 8 times above its mean, 2 below",
    covariate: (random) => [random.normal()],
    seen: ([z]) => (z > 0 ? "often" : "rarely"),
  },
  {
    name: "leaves after an observed low value, or stays",
    covariate: (random) => [coin(random)],
    seen: ([z]) => (z === 1 ? "leaving" : "staying"),
  },
  {
    name: "power: two levels, 0.4 apart",
    covariate: (random, x) => [coin(random, 1 / (1 + Math.exp(-0.4 * x[0])))],
    seen: usual,
  },
  {
    name: "power: 0.4 apart, leaves or stays",
    covariate: (random, x) => [coin(random, 1 / (1 + Math.exp(-0.4 * x[0])))],
    seen: ([z]) => (z === 1 ? "leaving" : "staying"),
  },
];

function scoreTests(): void {
  const nulls = Number(flags.nulls);
  const permuted = Math.min(nulls, 500);
  const table: string[][] = [];
  for (const [d, { name, covariate, seen }] of SCORE_DESIGNS.entries()) {
    if (!name.includes(flags.design)) continue;
    for (const m of [100, 300]) {
      const rejected = { p: 0, chi: 0, classes: 0 };
      for (let k = 0; k < nulls; k++) {
        const random = createRandom(seed + 100 * d + 1e4 * m + 1e8 * k + 0.5);
        const drawn: { seen: Seen; at: number; c: number; label: number }[] = [];
        const z: (readonly number[])[] = [];
        for (let i = 0; i < m; i++) {
          // Whom the covariate follows is drawn from where it would be seen.
          for (;;) {
            const own = POOL_NAMES[random.integer(POOL_NAMES.length)];
            const at = random.integer(POOLS[own].size);
            const value = covariate(random, POOLS[own].truth.subarray(2 * at, 2 * at + 2));
            if (seen(value) !== own) continue;
            drawn.push({ seen: own, at, c: 0, label: 0 });
            z.push(value);
            break;
          }
        }
        const visits = drawn.map((one) => Number(POOLS[one.seen].visits[one.at]));
        const places = { mapDimension: 2, shifts: rowsOf(drawn, "shifts") };
        const columns = centred(z);
        const test = scoreCovariate(places, columns, { draws, seed: k + 1 });
        if (test.p <= 0.05) rejected.p++;
        if (test.chiSquareP <= 0.05) rejected.chi++;
        if (k < permuted && permutedP(places.shifts, columns, visits, random) <= 0.05) rejected.classes++;
      }
      const cells = [
        name,
        String(m),
        percent(rejected.p, nulls),
        percent(rejected.chi, nulls),
        percent(rejected.classes, permuted),
      ];
      say(cells.join("  "));
      table.push(cells);
    }
  }
  say(markdownTable(["covariate", "m", "random signs", "χ²", "permuted within visit classes"], table));
}

/** p by permuting rows of z [n,P] over individuals who were seen about equally often: what the test does not do, and why. */
function permutedP(u: Float64Array, z: Float64Array, visits: readonly number[], random: Random): number {
  const n = visits.length;
  const P = z.length / n;
  const classes = [...new Set(visits.map(visitClass))].map((own) =>
    Array.from(visits.keys()).filter((i) => visitClass(visits[i]) === own),
  );
  const d = 2 * P;
  const statistic = (columns: Float64Array) => {
    const S = new Float64Array(d);
    const V = new Float64Array(d * d);
    const s = new Float64Array(d);
    for (let i = 0; i < n; i++) {
      for (let k = 0; k < d; k++) s[k] = columns[i * P + (k >> 1)] * u[2 * i + (k & 1)];
      for (let k = 0; k < d; k++) {
        S[k] += s[k];
        for (let l = 0; l < d; l++) V[k * d + l] += s[k] * s[l];
      }
    }
    choleskyInPlace(V, d);
    solveLowerInPlace(V, d, S);
    return dot(S, S);
  };
  const observed = statistic(z);
  let reached = 0;
  for (let b = 0; b < 199; b++) {
    const moved = new Float64Array(z.length);
    for (const members of classes) {
      const order = random.permutation(members.length);
      for (const [k, i] of members.entries()) moved.set(takeRows(z, P, [members[order[k]]]), i * P);
    }
    if (statistic(moved) >= observed) reached++;
  }
  return (1 + reached) / 200;
}

function centred(z: readonly (readonly number[])[]): Float64Array {
  const P = z[0].length;
  const mean = Array.from({ length: P }, (_, p) => z.reduce((s, row) => s + row[p], 0) / z.length);
  return Float64Array.from(z.flatMap((row) => row.map((v, p) => v - mean[p])));
}

/** Treatment arms and what else is known at the first visit, of real cohorts. */
function cohorts(): void {
  const given = ["pbc=examples/pbc/visits.csv,examples/pbc/subjects.csv,bili,treatment+age+sex,log", ...flags.cohort];
  const rows = given.flatMap((text) => {
    const [name, rest = ""] = text.split("=");
    const [visits, subjects, value, covariates = "", transform = "identity"] = rest.split(",");
    const options = {
      columns: { id: "id", time: "time", value },
      marker: { name: value, transform: transform as "identity" | "log" },
    };
    const { cohort } = readCohort(readFileSync(visits, "utf8"), options);
    const { table } = readSubjects(readFileSync(subjects, "utf8"), {});
    const places = placeShifts(fitDtm(cohort, { seed }), cohort);
    const wanted = covariates.split("+").map((covariate) => ({ name: covariate }));
    return screenCovariates(places, table, { covariates: wanted }, { draws: 9999, seed }).map((test) => [
      name,
      test.covariate,
      test.columns.map(({ compared }) => compared).join("; "),
      String(test.numIndividuals),
      test.columns.map(({ length }) => length.toFixed(2)).join("; "),
      test.p.toFixed(4),
      test.chiSquareP.toFixed(4),
      test.adjusted.holm.toFixed(4),
    ]);
  });
  say(markdownTable(["cohort", "covariate", "compared", "individuals", "shift", "p", "χ² p", "Holm"], rows));
}

if (isWanted("confounder")) await confounders();
if (isWanted("score")) scoreTests();
if (isWanted("cohorts")) cohorts();
