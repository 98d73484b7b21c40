/**
 * The paper's Table 1 in kind: ten-fold held-out log-likelihood of LMM, FPCA and the maps on the simulated PFVC and TSS
 * cohorts at full size, with differences to the LMM paired over folds. Prints a table; JSON to stdout with --json.
 * Usage: npm run study:table1 [-- --folds 10 --individuals 0 --seed 21 --json]
 */
import { parseArgs } from "node:util";
import {
  type Cohort,
  fitDtm,
  fitFpca,
  fitLmm,
  heldOutLogLikelihood,
  simulateCohort,
  splitCohort,
  type TrajectoryModel,
} from "../packages/core/src/index.ts";

const { values: flags } = parseArgs({
  options: {
    folds: { type: "string", default: "10" },
    individuals: { type: "string", default: "0" },
    seed: { type: "string", default: "21" },
    json: { type: "boolean", default: false },
  },
});

const FITS: Record<string, (train: Cohort) => TrajectoryModel> = {
  LMM: (train) => fitLmm(train),
  FPCA: (train) => fitFpca(train, { rank: 2 }),
  "DTM (dtm)": (train) => fitDtm(train),
  "DTM published, batch": (train) => fitDtm(train, { kind: "dtm-paper", schedule: "batch" }),
  "DTM published, paper": (train) => fitDtm(train, { kind: "dtm-paper", schedule: "paper" }),
};

interface Row {
  readonly model: string;
  readonly perIndividual: number[];
  readonly perObservation: number[];
  readonly seconds: number[];
}

function study(marker: "pfvc" | "tss"): Row[] {
  const numIndividuals = Number(flags.individuals) || undefined;
  const { cohort } = simulateCohort(marker, { seed: Number(flags.seed), numIndividuals });
  const rows = Object.keys(FITS).map((model): Row => ({ model, perIndividual: [], perObservation: [], seconds: [] }));
  splitCohort(cohort, Number(flags.folds), 1).forEach((fold, f) => {
    for (const row of rows) {
      const start = process.cpuUsage();
      const model = FITS[row.model](fold.train);
      const { user, system } = process.cpuUsage(start);
      const scores = heldOutLogLikelihood(model, fold.test);
      row.perIndividual.push(scores.perIndividual);
      row.perObservation.push(scores.perObservation);
      row.seconds.push((user + system) / 1e6);
      process.stderr.write(`${marker} fold ${f + 1} ${row.model}: ${scores.perIndividual.toFixed(4)}\n`);
    }
  });
  return rows;
}

function mean(x: readonly number[]): number {
  return x.reduce((s, v) => s + v, 0) / x.length;
}

function sd(x: readonly number[]): number {
  const center = mean(x);
  return Math.sqrt(x.reduce((s, v) => s + (v - center) ** 2, 0) / (x.length - 1));
}

function summarize(rows: readonly Row[]) {
  const reference = rows[0].perIndividual;
  return rows.map((row) => {
    const difference = row.perIndividual.map((v, f) => v - reference[f]);
    const root = Math.sqrt(difference.length);
    return {
      model: row.model,
      perIndividual: { mean: mean(row.perIndividual), se: sd(row.perIndividual) / root, sd: sd(row.perIndividual) },
      perObservation: { mean: mean(row.perObservation), se: sd(row.perObservation) / root, sd: sd(row.perObservation) },
      difference: { mean: mean(difference), se: sd(difference) / root },
      cpuSecondsPerFit: mean(row.seconds),
    };
  });
}

const results = { pfvc: summarize(study("pfvc")), tss: summarize(study("tss")) };
if (flags.json) {
  process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
} else {
  for (const [marker, rows] of Object.entries(results)) {
    process.stdout.write(
      `\n${marker.toUpperCase()}, simulated, ${flags.folds} folds (mean, se over folds, sd over folds)\n`,
    );
    for (const row of rows) {
      const { perIndividual: a, perObservation: b, difference: c } = row;
      process.stdout.write(
        `${row.model.padEnd(22)} per individual ${a.mean.toFixed(3)} (se ${a.se.toFixed(3)}, sd ${a.sd.toFixed(3)})  ` +
          `per observation ${b.mean.toFixed(4)} (se ${b.se.toFixed(4)}, sd ${b.sd.toFixed(4)})  ` +
          `minus LMM ${c.mean >= 0 ? "+" : ""}${c.mean.toFixed(4)} (se ${c.se.toFixed(4)})  ${row.cpuSecondsPerFit.toFixed(2)} s a fit\n`,
      );
    }
  }
}
