import { expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { landmarkRisk } from "./landmark-risk.ts";

/** Two columns of which the first has log hazard ratio b, about half of everybody with the event. */
function study(n: number, b: number, seed: number) {
  const random = createRandom(seed);
  const X = Float64Array.from({ length: 2 * n }, () => random.normal());
  const exponential = () => -Math.log(1 - random.uniform());
  const ends = Array.from({ length: n }, (_, i) => [exponential() * Math.exp(-b * X[2 * i]), exponential()]);
  const causes = ends.map(([event, end]) => Number(event <= end));
  return landmarkRisk({ times: ends.map((own) => Math.min(...own)), causes }, 1, X, [0.5], seed)!.concordance;
}

it("leaves ½ out of its interval in about 5% of studies without a relation, and never by lying below it", () => {
  const found = Array.from({ length: 200 }, (_, s) => study(200, 0, 1 + s));
  expect(found.filter(({ value }) => value < 0.45).length).toBeGreaterThan(10);
  for (const { upper } of found) expect(upper).toBeGreaterThanOrEqual(0.5);
  // Within three standard errors of 5%: a normal interval that could lie below ½ leaves it out in 12 to 15%.
  expect(found.filter(({ lower }) => lower > 0.5).length / 200).toBeLessThan(0.05 + 3 * Math.sqrt((0.05 * 0.95) / 200));
});

it("finds a relation", () => {
  const { lower, value } = study(400, 0.7, 3);
  expect(lower).toBeGreaterThan(0.55);
  expect(value).toBeLessThan(0.8);
});
