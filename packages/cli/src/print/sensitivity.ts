/** What changes with one choice changed, in a table and a verdict. */
import type { Sensitivity, VariantResult } from "@trajectory-maps/core/study";
import { fixed, signed, variantNotes } from "@trajectory-maps/report";
import { showP } from "./results.ts";
import { table } from "./table.ts";
import { counted, line } from "./words.ts";

const decimals = (x: number | null | undefined) => (x === null || x === undefined ? "-" : fixed(x, 2));

export function sensitivityPage({ variants, leftOut, run, folds, verdict }: Sensitivity): string {
  const header = [
    ...["Changed", "settled", "correlation", "median", "90%", "ARI"],
    ...(folds === 0 ? [] : ["held-out score (SE)"]),
    ...run.outcomes.map(({ outcome }) => `p ${outcome}`),
  ];
  const own = [
    ...["(as fitted)", "", "", "", "", ""],
    ...(folds === 0 ? [] : [decimals(run.perIndividual)]),
    ...run.outcomes.map(({ p }) => showP(p)),
  ];
  const rows = variants.map((variant) => cellsOf(variant, folds > 0, run.outcomes.length));
  return [
    line(
      "Changed",
      `${counted(variants.length, "refit")} of the model with one choice changed, against the run: places aligned (correlation; how far apart they are in sds of their prior), ` +
        `${counted(run.numGroups, "group")} made again (adjusted Rand index)` +
        (folds === 0 ? "" : `, held-out log-likelihood per individual less that of the run (${folds} folds)`),
    ),
    "",
    table(header, [own, ...rows], [1]),
    "",
    line("Verdict", verdict),
    ...variantNotes(variants).map(({ names, text }) => line("Note", `${names.join("; ")}: ${text}`)),
    ...leftOut.map(({ name, reason }) => line("Left out", `${name}: ${reason}.`)),
  ].join("\n");
}

function cellsOf(variant: VariantResult, isScored: boolean, numOutcomes: number): string[] {
  const { name, failed, converged, places, adjustedRand, score, outcomes } = variant;
  const difference = score === null ? "-" : `${signed(score.mean, 2)} (${score.se.toFixed(2)})`;
  return [
    name,
    failed === null ? (converged ? "yes" : "NO") : "failed",
    decimals(places?.correlation),
    decimals(places?.median),
    decimals(places?.p90),
    decimals(adjustedRand),
    ...(isScored ? [difference] : []),
    ...Array.from({ length: numOutcomes }, (_, k) => showP(outcomes[k]?.p ?? Number.NaN)),
  ];
}
