/**
 * Outcomes against places: are those with and without an outcome spread differently over the map? Each individual enters
 * with its whole posterior, so that number, length and spacing of visits may differ between the groups. The test of each
 * outcome (outcome-test.ts) under the study's model and its baselines side by side (the paper's Table 2), p-values adjusted
 * over outcomes, and controls. Threads take part through `options.count`.          (docs/math/association.md)
 */
import { type Cohort, checkCohort, numIndividuals } from "../cohort/cohort.ts";
import { checkForm, checkGiven, checkNames, checkSeed, DtmError, isNamed } from "../errors.ts";
import { checkModel } from "../models/fit.ts";
import { isMapModel, type TrajectoryModel } from "../models/model.ts";
import { checkPlacements, type Placements } from "../models/placement.ts";
import { type Adjustment, isAdjustable, NO_ADJUSTMENT } from "./adjustment.ts";
import {
  type MadeUpControl,
  madeUpOutcomes,
  type VisitControl,
  visitControls,
  visitsFollowMessage,
} from "./controls.ts";
import { adjustPValues } from "./multiplicity.ts";
import { DEFAULT_DRAWS } from "./multipliers.ts";
import {
  knownLabels,
  LEAST,
  LEVEL,
  mapOf,
  type OutcomeAssociation,
  type PreparedStudy,
  type TestOptions,
  testLabel,
  testOutcome,
} from "./outcome-test.ts";
import { CASE, CONTROL, MISSING } from "./outcomes.ts";
import { MAP_KERNEL, type PlaceKernel, testKernel } from "./place-features.ts";
import { posteriorFeatures, priorCheckFeatures } from "./posterior-features.ts";
import { isDetermined } from "./score-test.ts";

/** A model with the places of the study's individuals, all models in the same order of individuals. */
export interface PlacedModel {
  readonly model: TrajectoryModel;
  readonly placements: Placements;
}

export interface AssociationInput extends PlacedModel {
  readonly cohort: Cohort;
  /** Other models to test beside; one of the study's own kind is left out. */
  readonly baselines?: readonly PlacedModel[];
  /** Labels 1 case, 0 control, 255 missing, [m]. */
  readonly outcomes: readonly { readonly name: string; readonly labels: Uint8Array }[];
  /** Covariates that every test is adjusted for, `adjustmentOf` the cohort. Default none. */
  readonly adjustment?: Adjustment;
}

export interface AssociationOptions extends TestOptions {
  /** Whether controls are run. Default true. */
  readonly controls?: boolean;
  readonly onProgress?: (progress: { readonly outcome: string; readonly done: number; readonly total: number }) => void;
}

export interface Association {
  readonly method: "whole-posteriors";
  /** Kernel of the test, in prior standard deviations. */
  readonly kernel: PlaceKernel;
  /** Covariates that all of this is adjusted for, and how many individuals lack one of them and take no part. */
  readonly adjustedFor: readonly string[];
  readonly leftOut: number;
  readonly outcomes: readonly OutcomeAssociation[];
  readonly controls: readonly VisitControl[];
  /** Said where a control finds that visits follow the course. */
  readonly visitsFollow: string | null;
  readonly madeUp: MadeUpControl | null;
  /** Name of the study's own model among the representations. */
  readonly primary: string;
  readonly seed: number;
  readonly draws: number;
  readonly individuals: number;
  /** Individuals with a single visit: their posteriors are close to the prior. */
  readonly singleVisit: number;
}

/** Name of a model among the representations of a study: maps of both kinds are "dtm". */
function representationName(model: TrajectoryModel): "lmm" | "fpca" | "dtm" {
  return isMapModel(model) ? "dtm" : model.kind;
}

const ASSOCIATION_OPTIONS: { readonly [Name in keyof Required<AssociationOptions>]: true } = {
  seed: true,
  draws: true,
  controls: true,
  count: true,
  shards: true,
  signal: true,
  onProgress: true,
};

/**
 * Tests every outcome against the places of every model.
 * @throws DtmError "shape" or "one-class" for outcomes that do not fit the cohort, "cancelled" once the signal is set.
 * @example
 * const { outcomes } = await associate({ model, placements, cohort, outcomes: [death] });
 * outcomes[0].p; // visits may differ between the groups
 */
export async function associate(input: AssociationInput, options: AssociationOptions = {}): Promise<Association> {
  checkGiven("associate", { input, options });
  checkNames("associate", options, Object.keys(ASSOCIATION_OPTIONS));
  checkSeed("associate", options.seed);
  checkGiven("associate", { outcomes: input.outcomes });
  checkModel("associate", input.model);
  checkCohort("associate", input.cohort);
  checkPlacements("associate", input.placements);
  const areOutcomes = Array.isArray(input.outcomes) && input.outcomes.every(isNamed);
  checkForm(areOutcomes, "associate", "outcomes as a list", input.outcomes, "Give [{ name, labels }].");
  const { placements, adjustment = NO_ADJUSTMENT } = input;
  const outcomes = input.outcomes.map((outcome) => ofAdjustable(outcome, adjustment));
  const { seed = 1, controls: withControls = true, draws = DEFAULT_DRAWS } = options;
  for (const { name, labels } of outcomes) checkLabels(name, labels, numIndividuals(input.cohort));
  checkAdjustable(input.outcomes, adjustment);
  const study = prepare(input);
  const { features } = study.primary;
  const controls = withControls ? await visitControls(features.rows, placements, adjustment, seed, options) : [];
  const visitsFollow = visitsFollowMessage(controls);
  const results: OutcomeAssociation[] = [];
  for (const [done, outcome] of outcomes.entries()) {
    const { name } = outcome;
    options.onProgress?.({ outcome: name, done, total: outcomes.length });
    // One seed per outcome, whatever its place in the list.
    results.push(await testOutcome(study, outcome, visitsFollow !== null, seedOf(seed, name), options));
  }
  const adjusted = adjustFamily(results);
  return {
    method: "whole-posteriors",
    kernel: features.kernel,
    adjustedFor: adjustment.names,
    leftOut: adjustment.leftOut,
    outcomes: adjusted.map((result, k) => ({
      ...result,
      ...(result.adjusted.holm < LEVEL ? mapOf(study, outcomes[k].labels, seed) : {}),
    })),
    controls,
    visitsFollow,
    madeUp:
      withControls && outcomes.length > 0 ? madeUpOutcomes(features.rows, outcomes[0].labels, adjustment, seed) : null,
    primary: study.primary.name,
    seed,
    draws,
    individuals: numIndividuals(input.cohort),
    singleVisit: placements.numObservations.reduce((s, c) => s + (c === 1 ? 1 : 0), 0),
  };
}

/**
 * The p-values of `associate` alone, in the order of the outcomes: labels [m] against whole posteriors, rows [m,F] of `posteriorFeatures`
 * under `testKernel`. NaN where a class has too few.
 */
export async function outcomePValues(
  rows: Float64Array,
  outcomes: AssociationInput["outcomes"],
  adjustment: Adjustment = NO_ADJUSTMENT,
  options: TestOptions = {},
): Promise<number[]> {
  const found: number[] = [];
  for (const outcome of outcomes) {
    const { name, labels } = ofAdjustable(outcome, adjustment);
    const { z, cases, controls } = knownLabels(labels);
    const isTested = Math.min(cases, controls) >= LEAST;
    const seed = seedOf(options.seed ?? 1, name);
    found.push(isTested ? (await testLabel(rows, z, adjustment, seed, options)).p : Number.NaN);
  }
  return found;
}

/** An outcome whose label is missing for those who lack a covariate, and how many had one. */
function ofAdjustable({ name, labels }: AssociationInput["outcomes"][number], adjustment: Adjustment) {
  const kept = labels.map((label, i) => (isAdjustable(adjustment, i) ? label : MISSING));
  return { name, labels: kept, leftOut: labels.filter((label, i) => label !== kept[i]).length };
}

/**
 * Refuses outcomes that the covariates determine, of which nothing is left to test. `associate` does; who computes something for it first
 * can do so before.
 * @throws DtmError "determined-label", which names the outcome.
 */
export function checkAdjustable(outcomes: AssociationInput["outcomes"], adjustment: Adjustment = NO_ADJUSTMENT): void {
  for (const outcome of outcomes) {
    const { name, labels } = ofAdjustable(outcome, adjustment);
    const { z, cases, controls } = knownLabels(labels);
    if (Math.min(cases, controls) < LEAST) continue;
    const known = Array.from(z.keys()).filter((i) => !Number.isNaN(z[i]));
    const pick = (values: Float64Array) => Float64Array.from(known, (i) => values[i]);
    const columns = adjustment.columns.map(({ values }) => pick(values));
    if (!isDetermined(pick(z), columns)) continue;
    throw new DtmError(
      "determined-label",
      `associate: expected outcomes that the covariates adjusted for leave free, received "${name}", which they (${adjustment.names.join(", ")}) determine. ` +
        "Leave it out of the outcomes, or the covariate that determines it out of the adjustment.",
    );
  }
}

/** Features of everyone under every model, the study's own last. */
function prepare(input: AssociationInput): PreparedStudy {
  const { model, placements, cohort, baselines = [], adjustment = NO_ADJUSTMENT } = input;
  const name = representationName(model);
  const q = placements.mapDimension;
  const others = baselines
    .filter((other) => representationName(other.model) !== name)
    .map((other) => {
      const kernel = testKernel(other.placements.mapDimension);
      const [features] = posteriorFeatures(other.model, cohort, [kernel]);
      return { name: representationName(other.model), placements: other.placements, features };
    });
  // Places of the mixed model are not in units of its prior.
  const drawn = model.kind !== "lmm" && q <= 2;
  const [features, mapFeatures] = posteriorFeatures(model, cohort, [testKernel(q), ...(drawn ? [MAP_KERNEL] : [])]);
  const primary = { name, placements, features };
  return {
    model,
    cohort,
    adjustment,
    representations: [...others, primary],
    primary,
    mapFeatures: mapFeatures ?? null,
    reweighted: priorCheckFeatures(model, cohort, features.kernel),
  };
}

/** Holm and Benjamini–Hochberg over outcomes, for each representation and test apart. */
function adjustFamily(results: readonly OutcomeAssociation[]): OutcomeAssociation[] {
  const names = [...new Set(results.flatMap(({ representations }) => Object.keys(representations)))];
  const adjusted = results.map(({ representations }) => ({ ...representations }));
  for (const name of names) {
    const holders = adjusted.filter((representations) => name in representations);
    const ours = adjustPValues(holders.map((r) => r[name].p));
    for (const [k, r] of holders.entries()) r[name] = { ...r[name], adjusted: ours[k] };
    const tested = holders.filter((r) => r[name].kde !== null);
    const densities = adjustPValues(tested.map((r) => r[name].kde!.p));
    for (const [k, r] of tested.entries()) r[name] = { ...r[name], kde: { ...r[name].kde!, adjusted: densities[k] } };
  }
  const top = adjustPValues(results.map(({ p }) => p));
  return results.map((result, k) => ({ ...result, adjusted: top[k], representations: adjusted[k] }));
}

function checkLabels(name: string, labels: Uint8Array, expected: number): void {
  if (labels.length !== expected) {
    throw new DtmError(
      "shape",
      `associate: expected ${expected} labels for outcome "${name}", received ${labels.length}.`,
    );
  }
  const count = (label: number) => labels.reduce((s, v) => s + (v === label ? 1 : 0), 0);
  const [cases, controls] = [count(CASE), count(CONTROL)];
  if (cases === 0 || controls === 0 || cases + controls + count(MISSING) !== labels.length) {
    throw new DtmError(
      "one-class",
      `associate: expected labels 1 (case), 0 (control) or 255 (missing) with both classes in outcome "${name}", ` +
        `received ${cases} cases and ${controls} controls among ${labels.length}; choose another outcome.`,
    );
  }
}

/** A seed that depends on the outcome's name, not on its position in a list. */
function seedOf(seed: number, name: string): number {
  let h = 0x811c9dc5;
  for (let k = 0; k < name.length; k++) h = Math.imul(h ^ name.charCodeAt(k), 0x01000193);
  return seed + (h >>> 0) / 2 ** 32;
}
