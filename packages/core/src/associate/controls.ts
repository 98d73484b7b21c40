/**
 * Negative controls, run with every association: labels that should say nothing about places.
 *   Visits: number (its logarithm), last and first time, tested as an outcome is. A small p-value is no error by itself; it
 *     says that visits or departures follow the course, or that the model is not calibrated.
 *   Made-up outcomes: an outcome's labels dealt out anew; the share below 0.05 should be about 0.05.
 *                                                                                  (docs/math/association.md §7)
 */

import { DtmError } from "../errors.ts";
import type { Placements } from "../models/placement.ts";
import { takeRows } from "../numeric/matrix.ts";
import { createRandom } from "../numeric/random.ts";
import { type Adjustment, isAdjustable } from "./adjustment.ts";
import { checkOptions, type LabelTest, LEVEL, type TestOptions, testLabel } from "./outcome-test.ts";
import { approximateP, scoreOf } from "./score-test.ts";

export interface VisitControl extends LabelTest {
  readonly control: "number of visits" | "last visit" | "first visit";
}

export interface MadeUpControl {
  readonly labellings: number;
  /** Share of them with an approximate p below 0.05. */
  readonly below: number;
}

/** The visit controls that differ between individuals, and that covariates do not determine. */
export async function visitControls(
  features: Float64Array,
  { numObservations, firstTime, lastTime }: Placements,
  adjustment: Adjustment,
  seed: number,
  options: TestOptions,
): Promise<VisitControl[]> {
  const controls = [
    { control: "number of visits", labels: Float64Array.from(numObservations, Math.log) },
    { control: "last visit", labels: lastTime },
    { control: "first visit", labels: firstTime },
  ] as const;
  const results: VisitControl[] = [];
  for (const { control, labels } of controls) {
    if (labels.every((v) => v === labels[0])) continue;
    try {
      results.push({ control, ...(await testLabel(features, labels, adjustment, seed, checkOptions(options))) });
    } catch (error) {
      if (!(error instanceof DtmError && error.code === "determined-label")) throw error;
    }
  }
  return results;
}

/** The sentence for controls that find something; null if none does. */
export function visitsFollowMessage(controls: readonly VisitControl[]): string | null {
  const found = controls
    .filter(({ p }) => p < LEVEL)
    .map(({ control, p }) => `${control} p ${Number(p.toPrecision(2))}`);
  return found.length === 0
    ? null
    : `Visits follow the course (${found.join(", ")}). That is no error by itself; but if departures were decided by something the values do not show, relations may be due to them.`;
}

const LABELLINGS = 200;
/** Individuals beyond these are left out: the share does not need them. */
const MOST = 2000;

/** Made-up outcomes with as many cases among the first individuals as `labels` [m] has. */
export function madeUpOutcomes(
  features: Float64Array,
  labels: Uint8Array,
  adjustment: Adjustment,
  seed: number,
): MadeUpControl {
  const random = createRandom(seed);
  const F = features.length / labels.length;
  const adjustable = random.permutation(labels.length).filter((i) => isAdjustable(adjustment, i));
  const n = Math.min(adjustable.length, MOST);
  const taken = adjustable.subarray(0, n);
  const rows = takeRows(features, F, taken);
  const covariates = adjustment.columns.map(({ values }) => Float64Array.from(taken, (i) => values[i]));
  const known = labels.filter((label) => label <= 1);
  const cases = Math.round((n * known.reduce((s, v) => s + v, 0)) / known.length);
  let below = 0;
  for (let k = 0; k < LABELLINGS; k++) {
    const dealt = Float64Array.from(random.permutation(n), (rank) => (rank < cases ? 1 : 0));
    if (approximateP(scoreOf(rows, dealt, covariates)) < LEVEL) below++;
  }
  return { labellings: LABELLINGS, below: below / LABELLINGS };
}
