/**
 * Outcomes against places, for several representations side by side (the paper's Table 2): the test of each outcome
 * (outcome-test.ts), p-values adjusted over outcomes, negative controls. The p-value to read is the guarded one of the
 * primary representation. Threads take part through `options.count`.              (docs/math/association.md)
 */
import { checkOption, DtmError } from "../errors.ts";
import { adjustPValues } from "./multiplicity.ts";
import {
  type AssociationOptions,
  type ControlAssociation,
  type OutcomeAssociation,
  testControls,
  testOutcome,
} from "./outcome-test.ts";
import { CASE, CONTROL, MISSING } from "./outcomes.ts";
import { DEFAULT_PERMUTATIONS } from "./permutation.ts";
import { orderIndividuals, type PreparedTest, prepare, type Representation } from "./prepare.ts";

export type {
  AssociationEffect,
  AssociationOptions,
  AssociationWarning,
  ControlAssociation,
  OutcomeAssociation,
  PublishedTest,
  RepresentationAssociation,
  WarningCode,
} from "./outcome-test.ts";

export interface AssociationInput {
  readonly representations: readonly Representation[];
  /** Number of visits and time of the last one, [m]. */
  readonly visitCounts: ArrayLike<number>;
  readonly lastTimes: ArrayLike<number>;
  /** Labels 1 case, 0 control, 255 missing, [m]. */
  readonly outcomes: readonly { readonly name: string; readonly labels: Uint8Array }[];
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

/**
 * Tests every outcome against every representation. The order of individuals does not matter, bit for bit.
 * @throws DtmError "shape" or "one-class" for outcomes that do not fit the places, "cancelled" once the signal is set.
 * @example
 * const { numObservations: visitCounts, lastTime: lastTimes } = placements;
 * const { outcomes } = await associate({ outcomes: [death], representations, visitCounts, lastTimes });
 * outcomes[0].p; // guarded against numbers of visits
 */
export async function associate(input: AssociationInput, options: AssociationOptions = {}): Promise<Association> {
  const { representations, outcomes } = input;
  const { seed = 1, controls = true } = options;
  const names = representations.map(({ name }) => name);
  const primary = options.primary ?? (names.includes("dtm") ? "dtm" : names[names.length - 1]);
  checkOption(names.includes(primary), "associate", `a primary among ${names.join(", ")}`, primary, "");
  const individuals = orderIndividuals(representations, input.visitCounts, input.lastTimes);
  const { order } = individuals;
  // Outcomes known for the same individuals share one preparation.
  let prepared: PreparedTest | undefined;
  const preparedFor = (known: Int32Array): PreparedTest => {
    if (prepared === undefined || !sameIndices(prepared.known, known)) prepared = prepare(individuals, known, primary);
    return prepared;
  };
  const results: OutcomeAssociation[] = [];
  for (const [done, { name, labels }] of outcomes.entries()) {
    options.onProgress?.({ outcome: name, done, total: outcomes.length });
    const sorted = Uint8Array.from(order, (i) => labels[i]);
    const known = knownIndividuals(name, sorted, labels.length, order.length);
    results.push(await testOutcome(preparedFor(known), name, sorted, seed, options));
  }
  const everyone = Int32Array.from(order.keys());
  return {
    outcomes: adjustFamily(results),
    controls: controls ? await testControls(preparedFor(everyone), seed, options) : [],
    primary,
    seed,
    permutations: options.permutations ?? DEFAULT_PERMUTATIONS,
    individuals: order.length,
    singleVisit: individuals.visitCounts.reduce((s, c) => s + (c === 1 ? 1 : 0), 0),
  };
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

function sameIndices(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((v, k) => v === b[k]);
}
