/** Checks `basis.json`: training times → knots → rows of the basis at given times, degrees 1 to 3. */
import { designMatrix } from "../../packages/core/src/basis/bspline.ts";
import { bsplineBasis } from "../../packages/core/src/basis/knots.ts";
import { type Check, compare, type Nested } from "./checker.ts";

interface BasisFixture {
  readonly cases: readonly {
    readonly kind: string;
    readonly d: number;
    readonly degree: number;
    /** First and last time, or null for the range of the training times. */
    readonly domain: readonly [number, number] | null;
    readonly training_times: readonly number[];
    readonly knots: readonly number[];
    readonly eval_times: readonly number[];
    readonly rows: Nested;
  }[];
}

export function checkBasis(fixture: BasisFixture): Check[] {
  return fixture.cases.flatMap((c, index) => {
    const options = { numBasis: c.d, degree: c.degree, ...(c.domain === null ? {} : { domain: c.domain }) };
    const basis = bsplineBasis(c.training_times, options);
    const name = `case ${index} (${c.kind})`;
    return [
      compare(`${name}: knots`, basis.knots, c.knots),
      compare(`${name}: rows`, designMatrix(basis, c.eval_times), c.rows),
    ];
  });
}
