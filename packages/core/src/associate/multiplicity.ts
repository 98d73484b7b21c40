/** Many outcomes, few cases: adjusted p-values and the warning that comes with small groups. */
import { adjustFamily } from "../numeric/p-adjust.ts";

/** p-values adjusted for a family of tests. */
export interface AdjustedPValue {
  /** Holm: keeps the chance of any false alarm. */
  readonly holm: number;
  /** Benjamini–Hochberg: keeps the expected share of false alarms among the findings. */
  readonly bh: number;
}

/** Adjusts one family; the order of the results is that of the p-values. */
export function adjustPValues(pValues: readonly number[]): AdjustedPValue[] {
  if (pValues.length === 0) return [];
  const holm = adjustFamily(pValues, "holm");
  const bh = adjustFamily(pValues, "bh");
  return pValues.map((_, k) => ({ holm: holm[k], bh: bh[k] }));
}

/** Below this many in the smaller class an outcome is warned of (`few-cases`): the test may miss a real relation. */
export const FEW_CASES = 20;

/** The sentence of the warning `few-cases`, or undefined if both classes are large enough. */
export function fewCasesMessage(cases: number, controls: number): string | undefined {
  const smaller = Math.min(cases, controls);
  if (smaller >= FEW_CASES) return undefined;
  const what = cases <= controls ? "cases" : "individuals without the outcome";
  return `Only ${smaller} ${what}. The interval is wide and the test may miss a real relation.`;
}
