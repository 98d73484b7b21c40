/** Variants of the fit: their figure, the table behind it, and how the methods tell of them. */
import { GROUPS_HOLD, type Sensitivity, type VariantFamily, type VariantResult } from "@trajectory-maps/core/study";
import type { DataTable, Figure } from "../figures/figure.ts";
import { drawSensitivity } from "../figures/sensitivity.ts";
import { counted, fixed, listWords, NONE, pValue, signed } from "../numbers.ts";
import { outcomeName } from "../words.ts";
import type { Context } from "./context.ts";
import { cite } from "./references.ts";

export function sensitivityFigures({ study: { sensitivity } }: Context): Figure[] {
  if (sensitivity === undefined || sensitivity.variants.length === 0) return [];
  const { run, folds } = sensitivity;
  const scored =
    folds === 0
      ? ""
      : " Held-out score: log-likelihood per individual less that of the model as fitted, above 0 where the variant is better; filled where its interval leaves out 0.";
  return [
    {
      key: "sensitivity",
      title: "One choice changed at a time",
      caption: `Each row is a refit. Groups: filled below ${GROUPS_HOLD} (dashed). Places: how far they are from those of the run once aligned, in standard deviations of their prior; dashed, and filled beyond it, how well the run itself knows a place (${fixed(run.placeSd, 2)}).${scored}`,
      summary: sensitivity.verdict,
      table: sensitivityTable(sensitivity),
      width: 900,
      draw: (canvas) => drawSensitivity(sensitivity, canvas),
    },
  ];
}

/** One row for each variant, the run's own first where it has numbers. */
export function sensitivityTable({ variants, run, folds }: Sensitivity): DataTable {
  const two = (x: number | null | undefined) => (x === null || x === undefined ? NONE : fixed(x, 2));
  const isScored = folds > 0;
  const columns = [
    ...["Changed", "settled", "places: correlation", "median apart (sd)", "90th percentile (sd)", "groups: ARI"],
    ...(isScored ? ["held-out score (s.e.)"] : []),
    ...run.outcomes.map(({ outcome }) => `${outcomeName(outcome)}: p`),
  ];
  const own = [
    ...["as fitted", NONE, NONE, NONE, NONE, NONE],
    ...(isScored ? [two(run.perIndividual)] : []),
    ...run.outcomes.map(({ p }) => pValue(p ?? Number.NaN)),
  ];
  const rows = variants.map(({ name, failed, converged, places, adjustedRand, score, outcomes }) => [
    name,
    failed === null ? (converged ? "yes" : "no") : "not fitted",
    two(places?.correlation),
    two(places?.median),
    two(places?.p90),
    two(adjustedRand),
    ...(isScored ? [score === null ? NONE : `${signed(score.mean, 2)} (${fixed(score.se, 2)})`] : []),
    ...run.outcomes.map((_, k) => pValue(outcomes[k]?.p ?? Number.NaN)),
  ]);
  return { columns, rows: [own, ...rows] };
}

/** What is to be said of single variants, with their names; the same words once. */
export function variantNotes(
  variants: readonly VariantResult[],
): { readonly names: string[]; readonly text: string }[] {
  const names = new Map<string, string[]>();
  for (const { name, note, failed, scoreNote } of variants) {
    for (const text of [note, failed && `not fitted: ${failed}`, scoreNote]) {
      if (text !== null && text !== "") names.set(text, [...(names.get(text) ?? []), name]);
    }
  }
  return [...names].map(([text, own]) => ({ names: own, text }));
}

/** What each kind of variant changes, as the object of "sensitivity to". */
const CHANGED_WORDS: Readonly<Record<VariantFamily, string>> = {
  dimension: "the number of dimensions",
  basis: "the number of coefficients",
  mean: "the form of the mean",
  residual: "the residual",
  noise: "the noise",
  transform: "the scale of the marker",
  covariates: "covariates",
  singles: "individuals seen once",
  tail: "late visits",
  shift: "a shift of late values",
  seed: "the seed",
};

/** What was changed, each kind once. */
export function changedWords(sensitivity: Sensitivity | undefined): string[] {
  return [...new Set((sensitivity?.variants ?? []).map(({ family }) => CHANGED_WORDS[family]))];
}

/** A paragraph of the methods, or none. */
export function sensitivityText({ study: { sensitivity } }: Context): string {
  if (sensitivity === undefined || sensitivity.variants.length === 0) return "";
  const { variants, folds, run } = sensitivity;
  const compared = [
    "places once turned, mirrored and scaled to lie closest (Procrustes)",
    ...(run.numGroups < 2 ? [] : [`as many groups by the adjusted Rand index${cite("rand")}`]),
    ...(run.outcomes.length === 0 ? [] : ["outcomes by the same test"]),
    ...(folds === 0 ? [] : [`held-out log-likelihoods over the same ${folds} folds`]),
  ];
  return `As a sensitivity analysis the model was fitted again ${counted(variants.length, "time")} with one choice changed: ${listWords(changedWords(sensitivity))}. Each refit was held against the model as fitted: ${listWords(compared)}.`;
}
