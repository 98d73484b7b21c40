/**
 * Outcomes against places, for several representations side by side (the paper's Table 2). For each outcome: the
 * published density test, the guarded permutation p-value (labels shuffled within visit strata), its naive twin, effect
 * sizes, p-values adjusted over outcomes, and warnings. The p-value to read is the guarded one of the primary
 * representation. Threads take part through `options.count`.                       (docs/math/association.md)
 */
import { checkOption, DtmError } from "../errors.ts";
import { openStream } from "../numeric/random-stream.ts";
import { type Estimate, type ShareAuc, scoreAuc, shareAuc } from "./effect.ts";
import { energyCoefficient } from "./energy-coefficient.ts";
import { kdeTest } from "./kde-test.ts";
import { type AdjustedPValue, adjustPValues, fewCasesMessage } from "./multiplicity.ts";
import { CASE, CONTROL, MISSING } from "./outcomes.ts";
import { DEFAULT_PERMUTATIONS, type PermutationOptions, planPermutations, runPermutations } from "./permutation.ts";
import {
  type Individuals,
  orderIndividuals,
  type Prepared,
  type PreparedRepresentation,
  prepare,
  type Representation,
  takeRows,
} from "./prepare.ts";
import { negativeControls, visitCountMessage } from "./visit-guard.ts";

export interface AssociationInput {
  readonly representations: readonly Representation[];
  /** Number of visits and time of the last one, [m]. */
  readonly visitCounts: ArrayLike<number>;
  readonly lastTimes: ArrayLike<number>;
  /** Labels 1 case, 0 control, 255 missing, [m]. */
  readonly outcomes: readonly { readonly name: string; readonly labels: Uint8Array }[];
}

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

export interface Association {
  readonly outcomes: readonly OutcomeAssociation[];
  readonly controls: readonly ControlAssociation[];
  readonly primary: string;
  readonly seed: number;
  /** Asked for; what each p-value rests on stands beside it. */
  readonly permutations: number;
  readonly individuals: number;
  /** Individuals with a single visit: their places are mostly shrinkage. */
  readonly singleVisit: number;
}

/** Negative controls and posterior draws need no small p-values. */
const CHECK_PERMUTATIONS = 999;
/** Below this share of comparable individuals the guard says little. */
const COMPARABLE_SHARE = 0.5;

/** Tests every outcome against every representation. The order of individuals does not matter, bit for bit. */
export async function associate(input: AssociationInput, options: AssociationOptions = {}): Promise<Association> {
  const { representations, outcomes } = input;
  const { seed = 1, controls = true } = options;
  const names = representations.map(({ name }) => name);
  const primary = options.primary ?? (names.includes("dtm") ? "dtm" : names[names.length - 1]);
  checkOption(names.includes(primary), "associate", `a primary among ${names.join(", ")}`, primary, "");
  const individuals = orderIndividuals(representations, input.visitCounts, input.lastTimes);
  const { order } = individuals;
  const run: Run = { individuals, primary, options: { ...options, seed } };
  let prepared: Prepared | undefined;
  const results: OutcomeAssociation[] = [];
  for (const [done, { name, labels }] of outcomes.entries()) {
    options.onProgress?.({ outcome: name, done, total: outcomes.length });
    const sorted = Uint8Array.from(order, (i) => labels[i]);
    const known = knownIndividuals(name, sorted, labels.length, order.length);
    if (prepared === undefined || !sameIndices(prepared.known, known)) prepared = prepare(individuals, known, primary);
    results.push(await associateOutcome(run, name, prepared, sorted));
  }
  const everyone = Int32Array.from(order.keys());
  if (controls && (prepared === undefined || !sameIndices(prepared.known, everyone))) {
    prepared = prepare(individuals, everyone, primary);
  }
  return {
    outcomes: adjustFamily(results),
    controls: controls && prepared !== undefined ? await runControls(run, prepared) : [],
    primary,
    seed,
    permutations: options.permutations ?? DEFAULT_PERMUTATIONS,
    individuals: order.length,
    singleVisit: individuals.visitCounts.reduce((s, c) => s + (c === 1 ? 1 : 0), 0),
  };
}

/** Adjusts the p-values of several associations (markers) as one family per representation. */
export function adjustTogether(associations: readonly Association[]): Association[] {
  const adjusted = adjustFamily(associations.flatMap(({ outcomes }) => outcomes));
  let at = 0;
  return associations.map((association) => {
    const outcomes = adjusted.slice(at, at + association.outcomes.length);
    at += outcomes.length;
    return { ...association, outcomes };
  });
}

interface Run {
  readonly individuals: Individuals;
  readonly primary: string;
  readonly options: AssociationOptions & { readonly seed: number };
}

const UNADJUSTED: AdjustedPValue = { holm: Number.NaN, bh: Number.NaN };

/** All tests of one outcome; p-values are adjusted later. */
async function associateOutcome(
  run: Run,
  outcome: string,
  prepared: Prepared,
  sorted: Uint8Array,
): Promise<OutcomeAssociation> {
  const { options, primary } = run;
  const { known, guard, visitCounts } = prepared;
  const labels = Uint8Array.from(known, (i) => sorted[i]);
  const cases = labels.reduce((s, label) => s + label, 0);
  const counts = { cases, controls: labels.length - cases, missing: sorted.length - labels.length };
  // One seed per outcome, whatever its place in the list.
  const seed = seedOf(options.seed, outcome);
  const warnings: AssociationWarning[] = [];
  const warn = (code: WarningCode, message: string | undefined) => {
    if (message !== undefined) warnings.push({ code, message });
  };
  warn("few-cases", fewCasesMessage(counts.cases, counts.controls));

  // One set of shuffled labels serves all representations and the energy distance.
  const forms = [...prepared.representations.map(({ wide }) => wide), prepared.energy];
  const plan = planPermutations({ forms, labels, strata: guard.strata, seed });
  const main = prepared.representations.find(({ name }) => name === primary)!;
  const twin = planPermutations({ forms: [main.wide], labels, seed });
  // The twin is there to be compared with 0.05: all permutations are only spent on it if it may be small.
  const earlyStop = options.earlyStop || { sides: "above" as const };
  // Threads permute while the rest is computed here.
  const [tests, [naive], drawsP, others] = await Promise.all([
    runPermutations(plan, options),
    runPermutations(twin, { ...options, earlyStop }),
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
    if (name === primary) within = withinStrata ?? null;
  }
  const p = byName[primary].p;
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
    permutations: byName[primary].permutations,
    naiveP: naive.pValue,
    naivePermutations: naive.permutations,
    energyP: tests[tests.length - 1].pValue,
    adjusted: UNADJUSTED,
    effect: {
      auc: byName[primary].auc,
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
  { representations, guard }: Prepared,
  labels: Uint8Array,
  seed: number,
  options: AssociationOptions,
): Promise<readonly (ShareAuc & { readonly kde: PublishedTest | string })[]> {
  return representations.map((representation) => {
    checkSignal(options);
    const { kernel, shares } = representation;
    return { ...shareAuc(kernel.z, shares, labels, guard.strata, { seed }), kde: published(representation, labels) };
  });
}

/** The published test, or why it is not defined. */
function published({ locations, mapDimension }: PreparedRepresentation, labels: Uint8Array): PublishedTest | string {
  const n = labels.length;
  const rows = (label: number) => Int32Array.from(labels.keys()).filter((i) => labels[i] === label);
  try {
    const test = kdeTest(takeRows(locations, n, rows(CASE)), takeRows(locations, n, rows(CONTROL)), mapDimension);
    return { statistic: test.statistic, z: test.z, p: test.pValue, adjusted: UNADJUSTED };
  } catch (error) {
    if (error instanceof DtmError) return error.message;
    throw error;
  }
}

/** Median plain permutation p-value over posterior draws, which do not crowd in the middle as means do. */
async function drawsPValue(
  forms: Prepared["draws"],
  labels: Uint8Array,
  seed: number,
  options: AssociationOptions,
): Promise<OutcomeAssociation["drawsP"]> {
  if (forms.length === 0) return null;
  // One set of shuffled labels serves all draws.
  const tests = await runPermutations(planPermutations({ forms, labels, seed }), checkOptions(options));
  const pValues = tests.map(({ pValue }) => pValue).sort((a, b) => a - b);
  const middle = (pValues.length - 1) / 2;
  return {
    median: (pValues[Math.floor(middle)] + pValues[Math.ceil(middle)]) / 2,
    draws: forms.length,
    permutations: tests[0].permutations,
  };
}

/** Negative controls in the primary representation. */
async function runControls({ primary, options }: Run, prepared: Prepared): Promise<ControlAssociation[]> {
  const stream = openStream(options.seed, 0);
  const coins = Float64Array.from(prepared.known, () => (stream.next() >>> 0) / 2 ** 32);
  const { wide } = prepared.representations.find(({ name }) => name === primary)!;
  const results: ControlAssociation[] = [];
  for (const { name, labels } of negativeControls(prepared.visitCounts, coins)) {
    checkSignal(options);
    const seed = seedOf(options.seed, name);
    const shared = { forms: [wide], labels, seed };
    const [guarded] = await runPermutations(
      planPermutations({ ...shared, strata: prepared.guard.strata }),
      checkOptions(options),
    );
    const [naive] = await runPermutations(planPermutations(shared), checkOptions(options));
    const cases = labels.reduce((s, label) => s + label, 0);
    const { permutations } = guarded;
    const pValues = { p: guarded.pValue, naiveP: naive.pValue, permutations };
    results.push({ control: name, cases, controls: labels.length - cases, ...pValues });
  }
  return results;
}

/** Holm and Benjamini–Hochberg over outcomes, for each representation and test apart. */
function adjustFamily(results: readonly OutcomeAssociation[]): OutcomeAssociation[] {
  const names = [...new Set(results.flatMap(({ representations }) => Object.keys(representations)))];
  const adjusted = results.map(({ representations }) => ({ ...representations }));
  for (const name of names) {
    const holders = adjusted.filter((representations) => name in representations);
    const guarded = adjustPValues(holders.map((r) => r[name].p));
    for (const [k, r] of holders.entries()) r[name] = { ...r[name], adjusted: guarded[k] };
    const tested = holders.filter((r) => r[name].kde !== null);
    const densities = adjustPValues(tested.map((r) => r[name].kde!.p));
    for (const [k, r] of tested.entries()) r[name] = { ...r[name], kde: { ...r[name].kde!, adjusted: densities[k] } };
  }
  const top = adjustPValues(results.map(({ p }) => p));
  return results.map((result, k) => ({ ...result, adjusted: top[k], representations: adjusted[k] }));
}

function checkOptions(options: AssociationOptions): PermutationOptions {
  const { permutations = CHECK_PERMUTATIONS, count, shards } = options;
  return { permutations: Math.min(permutations, CHECK_PERMUTATIONS), count, shards };
}

function knownIndividuals(name: string, sorted: Uint8Array, received: number, expected: number): Int32Array {
  if (received !== expected) {
    throw new DtmError("shape", `associate: expected ${expected} labels for outcome "${name}", received ${received}.`);
  }
  const count = (label: number) => sorted.reduce((s, v) => s + (v === label ? 1 : 0), 0);
  const [cases, controls] = [count(CASE), count(CONTROL)];
  if (cases === 0 || controls === 0 || cases + controls + count(MISSING) !== sorted.length) {
    throw new DtmError(
      "one-class",
      `associate: expected labels 1 (case), 0 (control) or 255 (missing) with both classes in outcome "${name}", ` +
        `received ${cases} cases and ${controls} controls among ${sorted.length}; choose another outcome.`,
    );
  }
  return Int32Array.from(sorted.keys()).filter((i) => sorted[i] !== MISSING);
}

function checkSignal({ signal }: AssociationOptions): void {
  if (signal?.aborted) throw new DtmError("cancelled", "associate: cancelled.");
}

function sameIndices(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((v, k) => v === b[k]);
}

/** A seed that depends on the outcome's name, not on its position in a list. */
function seedOf(seed: number, name: string): number {
  let h = 0x811c9dc5;
  for (let k = 0; k < name.length; k++) h = Math.imul(h ^ name.charCodeAt(k), 0x01000193);
  return seed + (h >>> 0) / 2 ** 32;
}
