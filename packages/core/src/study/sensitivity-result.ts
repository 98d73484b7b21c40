/** What variants of a fit say, each and together: do groups, places, scores and outcomes hold? (docs/math/sensitivity.md §2, §3) */
import type { PairedDifference } from "../evaluate/compared-models.ts";
import { STABLE_FROM, stabilityWord } from "../map/clusters/stability.ts";
import type { GroupMethod } from "../map/groups.ts";
import type { VariantFamily, Variants } from "./variants.ts";

/** How the places of a variant lie to those of the run, once aligned. */
export interface PlaceAgreement {
  /** Individuals placed by both. */
  readonly compared: number;
  /** √R² of the aligned places. */
  readonly correlation: number;
  /** s: above 1 where the variant draws places closer together. */
  readonly scale: number;
  /** Median and 90th percentile of how far places are apart, in standard deviations of their prior. */
  readonly median: number;
  readonly p90: number;
}

export interface VariantResult {
  readonly family: VariantFamily;
  readonly name: string;
  readonly note: string | null;
  /** Why it could not be fitted; nothing else is said then. */
  readonly failed: string | null;
  readonly converged: boolean | null;
  readonly places: PlaceAgreement | null;
  /** Of the groups with those of the run; null where the run has one group. */
  readonly adjustedRand: number | null;
  /** In the order of the outcomes; NaN where a class has too few. */
  readonly outcomes: readonly { readonly outcome: string; readonly p: number }[];
  /** Held-out log-likelihood per individual less that of the run's model. */
  readonly score: PairedDifference | null;
  /** Why there is no score, or what scale it is on. */
  readonly scoreNote: string | null;
}

export interface Sensitivity {
  readonly variants: readonly VariantResult[];
  readonly leftOut: Variants["leftOut"];
  /** The run that variants are held against. */
  readonly run: {
    readonly numIndividuals: number;
    readonly numGroups: number;
    readonly method: GroupMethod;
    readonly outcomes: readonly { readonly outcome: string; readonly p: number }[];
    /** Held-out log-likelihood per individual on the scale of the model; null where it was not asked for or cannot be had. */
    readonly perIndividual: number | null;
    /** Median over individuals of how well the run knows a place: its standard deviation in those of the prior. */
    readonly placeSd: number;
  };
  /** 0 where nothing was scored. */
  readonly folds: number;
  readonly seed: number;
  /** Share of the times before the tail, and where it begins. */
  readonly tail: number;
  readonly tailTime: number;
  readonly shift: number;
  readonly verdict: string;
}

/** Groups hold from this adjusted Rand index on, where they are called stable, and places from this correlation on. */
export const GROUPS_HOLD = STABLE_FROM;
export const PLACES_HOLD = 0.9;
const LEVEL = 0.05;

/** Of an adjusted Rand index, as it is told. */
export function groupsHold(ari: number): boolean {
  return stabilityWord(ari) === "stable";
}

/** One sentence for each thing that was looked at; the groups first. Outcomes are called by `nameOf` their column. */
export function sensitivityVerdict(
  variants: readonly VariantResult[],
  run: Sensitivity["run"],
  nameOf: (outcome: string) => string = (outcome) => outcome,
): string {
  const fitted = variants.filter(({ failed }) => failed === null);
  if (variants.length === 0) return "Nothing could be changed.";
  if (fitted.length === 0) return "No variant could be fitted.";
  return [
    groupSentence(fitted),
    placeSentence(fitted, run),
    chanceSentence(fitted),
    scoreSentence(fitted),
    ...outcomeSentences(fitted, run.outcomes, nameOf),
    fitSentence(variants),
  ]
    .filter((sentence) => sentence !== "")
    .join(" ");
}

function groupSentence(variants: readonly VariantResult[]): string {
  const judged = variants.flatMap(({ name, adjustedRand: ari }) => (ari === null ? [] : [{ name, ari }]));
  const [worst] = [...judged].sort((a, b) => a.ari - b.ari);
  if (worst === undefined) return "There is one group: groups cannot differ.";
  const held = judged.filter(({ ari }) => groupsHold(ari)).length;
  return `Groups hold (ARI >= ${GROUPS_HOLD}) in ${held} of ${judged.length} variants; worst: ${worst.name} (${worst.ari.toFixed(2)}).`;
}

function placeSentence(variants: readonly VariantResult[], { placeSd }: Sensitivity["run"]): string {
  const judged = variants.flatMap(({ name, places }) => (places === null ? [] : [{ name, ...places }]));
  const [worst] = [...judged].sort((a, b) => b.median - a.median);
  if (worst === undefined) return "";
  const held = judged.filter(({ correlation }) => correlation >= PLACES_HOLD).length;
  return `Places hold (correlation >= ${PLACES_HOLD}) in ${held} of ${judged.length}; furthest: ${worst.name}, half of them by more than ${worst.median.toFixed(2)} sd (a place is known to ${placeSd.toFixed(2)} sd).`;
}

/** Where another seed alone moves places or groups, other variants may have moved them by their starts. */
function chanceSentence(variants: readonly VariantResult[]): string {
  const seed = variants.find(({ family }) => family === "seed");
  if (seed === undefined || seed.places === null) return "";
  const { adjustedRand: ari, places } = seed;
  const holds = (ari === null || groupsHold(ari)) && places.correlation >= PLACES_HOLD;
  if (holds) return "";
  const groups = ari === null ? "" : `ARI ${ari.toFixed(2)}, `;
  return `Another seed alone gives ${groups}correlation ${places.correlation.toFixed(2)}: starts end on different maps that fit about as well, and variants no further away than that may differ by their starts alone.`;
}

function scoreSentence(variants: readonly VariantResult[]): string {
  const judged = variants.flatMap(({ name, score }) => (score === null ? [] : [{ name, ...score }]));
  if (judged.length === 0) return "";
  const better = judged.filter(({ lower }) => lower > 0).sort((a, b) => b.mean - a.mean);
  if (better.length === 0) return "No variant predicts held-out individuals clearly better than the model as fitted.";
  const named = better.map(({ name, mean, se }) => `${name} (+${mean.toFixed(2)}, SE ${se.toFixed(2)})`);
  return `Held-out individuals are predicted clearly better by ${named.join(", ")}.`;
}

/** Outcomes of which the same can be said share a sentence. */
function outcomeSentences(
  variants: readonly VariantResult[],
  outcomes: Sensitivity["run"]["outcomes"],
  nameOf: (outcome: string) => string,
): string[] {
  const said = new Map<string, string[]>();
  for (const { outcome, p } of outcomes) {
    if (!Number.isFinite(p)) continue;
    const other = variants.filter(({ outcomes: tested }) => {
      const own = tested.find((test) => test.outcome === outcome)?.p ?? Number.NaN;
      return Number.isFinite(own) && own < LEVEL !== p < LEVEL;
    });
    const side = p < LEVEL ? "below" : "at or above";
    const where =
      other.length === 0 ? "and in every variant" : `but not with ${other.map(({ name }) => name).join(", ")}`;
    const sentence = `p ${side} ${LEVEL} in the run, ${where}.`;
    said.set(sentence, [...(said.get(sentence) ?? []), nameOf(outcome)]);
  }
  return Array.from(said, ([sentence, names]) => `${names.join(", ")}: ${sentence}`);
}

function fitSentence(variants: readonly VariantResult[]): string {
  const named = (chosen: readonly VariantResult[]) => chosen.map(({ name }) => name).join(", ");
  const failed = variants.filter((own) => own.failed !== null);
  const unsettled = variants.filter((own) => own.converged === false);
  return [
    ...(failed.length === 0 ? [] : [`Could not be fitted: ${named(failed)}.`]),
    ...(unsettled.length === 0 ? [] : [`Did not settle: ${named(unsettled)}.`]),
  ].join(" ");
}
