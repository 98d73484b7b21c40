/** Many outcomes, few cases: adjusted p-values and the warning that comes with small groups. */
import { adjustFamily } from "../numeric/p-adjust.ts";

/** p-values adjusted for a family of tests. */
export interface AdjustedPValue {
  /** Holm: keeps the chance of any false alarm. */
  readonly holm: number;
  /** Benjamini–Hochberg: keeps the expected share of false alarms among the findings. */
  readonly bh: number;
}

/** Before adjustment, and of outcomes that were not tested. */
export const UNADJUSTED: AdjustedPValue = { holm: Number.NaN, bh: Number.NaN };

/** Adjusts one family; the order of the results is that of the p-values. NaN, not tested, is no member of the family. */
export function adjustPValues(pValues: readonly number[]): AdjustedPValue[] {
  const tested = pValues.filter((p) => !Number.isNaN(p));
  if (tested.length === 0) return pValues.map(() => UNADJUSTED);
  const holm = adjustFamily(tested, "holm");
  const bh = adjustFamily(tested, "bh");
  let next = 0;
  return pValues.map((p) => (Number.isNaN(p) ? UNADJUSTED : { holm: holm[next], bh: bh[next++] }));
}

/** Below this many in the smaller class an outcome is warned of (`few-cases`): the test may miss a real relation. */
export const FEW_CASES = 20;

/** The sentence of the warning `few-cases`, or undefined if both classes are large enough. */
export function fewCasesMessage(cases: number, controls: number): string | undefined {
  const smaller = Math.min(cases, controls);
  if (smaller >= FEW_CASES) return undefined;
  const what = cases <= controls ? "cases" : "individuals without the outcome";
  return `Only ${smaller} ${what}. Only large differences would be seen.`;
}
