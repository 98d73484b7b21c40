/**
 * The test of one outcome, and all that stands beside its p-value. This file, prepare.ts and what they call are the seam
 * between the test and its surroundings: `associate` knows nothing of kernels, strata or permutations. For each
 * representation: the published density test, the guarded permutation p-value (labels shuffled within visit strata) and
 * the AUC; for the primary one also its naive twin, the energy distance and posterior draws.
 */
import { DtmError } from "../errors.ts";
import { takeRows } from "../numeric/matrix.ts";
import { openStream } from "../numeric/random.ts";
import { type Estimate, energyCoefficient, type ShareAuc, scoreAuc, shareAuc } from "./effect.ts";
import { kdeTest } from "./kde-test.ts";
import { testFeatures } from "./kernel-features.ts";
import { indicesOf } from "./labellings.ts";
import { type AdjustedPValue, fewCasesMessage } from "./multiplicity.ts";
import { CASE, CONTROL } from "./outcomes.ts";
import { type PermutationOptions, planPermutations, runPermutations } from "./permutation.ts";
import type { PreparedRepresentation, PreparedTest } from "./prepare.ts";
import { negativeControls, visitCountMessage } from "./visit-guard.ts";

export interface AssociationOptions extends PermutationOptions {
  /** Representation whose p-values stand at the top. Default "dtm" if there, else the last. */
  readonly primary?: string;
  readonly seed?: number;
  /** Whether negative controls are run. Default true. */
  readonly controls?: boolean;
  readonly onProgress?: (progress: { readonly outcome: string; readonly done: number; readonly total: number }) => void;
  /** An aborted association throws DtmError "cancelled". */
  readonly signal?: { readonly aborted: boolean };
}

export type WarningCode = "few-cases" | "follows-visit-count" | "few-comparable" | "no-density-test";

export interface AssociationWarning {
  readonly code: WarningCode;
  readonly message: string;
}

/** The published test; null where it is not defined. */
export interface PublishedTest {
  readonly statistic: number;
  readonly z: number;
  readonly p: number;
  readonly adjusted: AdjustedPValue;
}

export interface RepresentationAssociation {
  /** Guarded permutation p-value, and its interval for the finite number of permutations. */
  readonly p: number;
  readonly interval: readonly [number, number];
  readonly permutations: number;
  readonly adjusted: AdjustedPValue;
  readonly kde: PublishedTest | null;
  /** Leave-pair-out AUC of the local share. */
  readonly auc: Estimate;
}

export interface AssociationEffect {
  readonly auc: Estimate;
  /** Over pairs of individuals of one visit stratum; null if there is none. */
  readonly aucWithinStrata: Estimate | null;
  readonly energyCoefficient: Estimate | null;
  /** AUC of the number of visits alone. */
  readonly visitAuc: number;
}

export interface OutcomeAssociation {
  readonly outcome: string;
  readonly cases: number;
  readonly controls: number;
  readonly missing: number;
  /** Guarded p-value of the primary representation, and how many permutations it rests on. */
  readonly p: number;
  readonly permutations: number;
  /** Its naive twin; from fewer permutations where it is clearly above 0.05. */
  readonly naiveP: number;
  readonly naivePermutations: number;
  /** Guarded p-value of the energy distance. */
  readonly energyP: number;
  readonly adjusted: AdjustedPValue;
  readonly effect: AssociationEffect;
  /** Plain permutation p-values on posterior draws of the places; null without draws. */
  readonly drawsP: { readonly median: number; readonly draws: number; readonly permutations: number } | null;
  /** Individuals in strata that hold both cases and controls. */
  readonly comparable: number;
  readonly warnings: readonly AssociationWarning[];
  readonly representations: { readonly [name: string]: RepresentationAssociation };
}

export interface ControlAssociation {
  readonly control: string;
  readonly cases: number;
  readonly controls: number;
  readonly p: number;
  readonly naiveP: number;
  /** Behind each of both. */
  readonly permutations: number;
}

/** Negative controls and posterior draws need no small p-values. */
const CHECK_PERMUTATIONS = 999;
/** Below this share of comparable individuals the guard says little. */
const COMPARABLE_SHARE = 0.5;
const UNADJUSTED: AdjustedPValue = { holm: Number.NaN, bh: Number.NaN };

/** All tests of one outcome; p-values are adjusted later. */
export async function testOutcome(
  prepared: PreparedTest,
  outcome: string,
  sorted: Uint8Array,
  baseSeed: number,
  options: AssociationOptions,
): Promise<OutcomeAssociation> {
  const { known, strata, visitCounts, primary } = prepared;
  const labels = Uint8Array.from(known, (i) => sorted[i]);
  const cases = labels.reduce((s, label) => s + label, 0);
  const counts = { cases, controls: labels.length - cases, missing: sorted.length - labels.length };
  // One seed per outcome, whatever its place in the list.
  const seed = seedOf(baseSeed, outcome);
  const warnings: AssociationWarning[] = [];
  const warn = (code: WarningCode, message: string | undefined) => {
    if (message !== undefined) warnings.push({ code, message });
  };
  warn("few-cases", fewCasesMessage(counts.cases, counts.controls));

  // One set of shuffled labels serves all representations and the energy distance.
  const features = [...prepared.representations.map(({ test }) => test), testFeatures(prepared.energy)];
  const plan = planPermutations({ features, labels, strata, seed });
  const twin = planPermutations({ features: [primary.test], labels, seed });
  // Threads permute while the rest is computed here.
  const [tests, [naive], drawsP, others] = await Promise.all([
    runPermutations(plan, options),
    // The twin is there to be compared with 0.05: all permutations are only spent on it if it may be small.
    runPermutations(twin, { ...options, earlyStop: true }),
    drawsPValue(prepared.draws, labels, seed, options),
    withoutPermutations(prepared, labels, seed, options),
  ]);
  const byName: Record<string, RepresentationAssociation> = {};
  let within: Estimate | null = null;
  for (const [k, { name }] of prepared.representations.entries()) {
    const { kde, auc, withinStrata } = others[k];
    if (typeof kde === "string") warn("no-density-test", `${name}: ${kde}`);
    byName[name] = {
      p: tests[k].pValue,
      interval: tests[k].interval,
      permutations: tests[k].permutations,
      adjusted: UNADJUSTED,
      kde: typeof kde === "string" ? null : kde,
      auc,
    };
    if (name === primary.name) within = withinStrata ?? null;
  }
  const p = byName[primary.name].p;
  const visitAuc = scoreAuc(visitCounts, labels);
  warn("follows-visit-count", visitCountMessage({ naiveP: naive.pValue, guardedP: p, visitAuc }));
  const { comparable } = plan;
  if (comparable < COMPARABLE_SHARE * labels.length) {
    const who = "individuals seen about as often and as long as someone of the other class";
    warn("few-comparable", `Only ${comparable} of ${labels.length} are ${who}; the guarded p-value rests on them.`);
  }
  return {
    outcome,
    ...counts,
    p,
    permutations: byName[primary.name].permutations,
    naiveP: naive.pValue,
    naivePermutations: naive.permutations,
    energyP: tests[tests.length - 1].pValue,
    adjusted: UNADJUSTED,
    effect: {
      auc: byName[primary.name].auc,
      aucWithinStrata: within,
      energyCoefficient: energyCoefficient(prepared.energy, labels) ?? null,
      visitAuc,
    },
    drawsP,
    comparable,
    warnings,
    representations: byName,
  };
}

/** The published test and the effect size in each representation. */
async function withoutPermutations(
  { representations, strata }: PreparedTest,
  labels: Uint8Array,
  seed: number,
  options: AssociationOptions,
): Promise<readonly (ShareAuc & { readonly kde: PublishedTest | string })[]> {
  return representations.map((representation) => {
    checkSignal(options);
    const { places, kernel } = representation;
    return { ...shareAuc(places, kernel, labels, strata, seed), kde: published(representation, labels) };
  });
}

/** The published test, or why it is not defined. */
function published({ locations, mapDimension }: PreparedRepresentation, labels: Uint8Array): PublishedTest | string {
  const places = (label: number) => takeRows(locations, mapDimension, indicesOf(labels, label));
  try {
    const test = kdeTest(places(CASE), places(CONTROL), mapDimension);
    return { statistic: test.statistic, z: test.z, p: test.pValue, adjusted: UNADJUSTED };
  } catch (error) {
    if (error instanceof DtmError) return error.message;
    throw error;
  }
}

/** Median plain permutation p-value over posterior draws, which do not crowd in the middle as means do. */
async function drawsPValue(
  features: PreparedTest["draws"],
  labels: Uint8Array,
  seed: number,
  options: AssociationOptions,
): Promise<OutcomeAssociation["drawsP"]> {
  if (features.length === 0) return null;
  // One set of shuffled labels serves all draws.
  const tests = await runPermutations(planPermutations({ features, labels, seed }), checkOptions(options));
  const pValues = tests.map(({ pValue }) => pValue).sort((a, b) => a - b);
  const middle = (pValues.length - 1) / 2;
  return {
    median: (pValues[Math.floor(middle)] + pValues[Math.ceil(middle)]) / 2,
    draws: features.length,
    permutations: tests[0].permutations,
  };
}

/** Negative controls in the primary representation. */
export async function testControls(
  { known, visitCounts, strata, primary }: PreparedTest,
  baseSeed: number,
  options: AssociationOptions,
): Promise<ControlAssociation[]> {
  const stream = openStream(baseSeed, 0);
  const coins = Float64Array.from(known, () => (stream.next() >>> 0) / 2 ** 32);
  const results: ControlAssociation[] = [];
  for (const { name, labels } of negativeControls(visitCounts, coins)) {
    checkSignal(options);
    const shared = { features: [primary.test], labels, seed: seedOf(baseSeed, name) };
    const [guarded] = await runPermutations(planPermutations({ ...shared, strata }), checkOptions(options));
    const [naive] = await runPermutations(planPermutations(shared), checkOptions(options));
    const cases = labels.reduce((s, label) => s + label, 0);
    const pValues = { p: guarded.pValue, naiveP: naive.pValue, permutations: guarded.permutations };
    results.push({ control: name, cases, controls: labels.length - cases, ...pValues });
  }
  return results;
}

function checkOptions(options: AssociationOptions): PermutationOptions {
  const { permutations = CHECK_PERMUTATIONS, count, shards } = options;
  return { permutations: Math.min(permutations, CHECK_PERMUTATIONS), count, shards };
}

function checkSignal({ signal }: AssociationOptions): void {
  if (signal?.aborted) throw new DtmError("cancelled", "associate: cancelled.");
}

/** A seed that depends on the outcome's name, not on its position in a list. */
function seedOf(seed: number, name: string): number {
  let h = 0x811c9dc5;
  for (let k = 0; k < name.length; k++) h = Math.imul(h ^ name.charCodeAt(k), 0x01000193);
  return seed + (h >>> 0) / 2 ** 32;
}
