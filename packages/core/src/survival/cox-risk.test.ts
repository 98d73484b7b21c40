import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { aalenJohansen } from "./aalen-johansen.ts";
import { fitCox } from "./cox.ts";
import { coxHazard, coxRisks, coxScore, cumulativeHazard } from "./cox-risk.ts";
import { causeFollowUp } from "./follow-up.ts";

const random = createRandom(3);
const n = 400;
const X = Float64Array.from({ length: n }, () => random.normal());
const causes = Array.from(X, () => (random.uniform() < 0.6 ? 1 : 2));
const times = Array.from(X, (x, i) => -Math.log(1 - random.uniform()) / Math.exp(causes[i] === 1 ? 0.7 * x : -0.3));
const data = { times, causes };
const hazards = [1, 2].map((cause) => {
  const own = causeFollowUp(data, cause);
  return coxHazard(own, X, fitCox(own, X, 1));
});

describe("coxRisks", () => {
  it("is 1 − exp(−H e^η) where there is one cause", () => {
    const [hazard] = hazards;
    const rows = Float64Array.of(-1, 0.5);
    const risks = coxRisks([hazard], rows, [0.2, 1]);
    for (const [k, t] of [0.2, 1].entries()) {
      for (const i of [0, 1]) {
        const eta = coxScore(hazard, rows.subarray(i, i + 1));
        expect(risks[i * 2 + k]).toBeCloseTo(1 - Math.exp(-cumulativeHazard(hazard, t) * Math.exp(eta)), 12);
      }
    }
  });

  it("of all causes adds up to the risk of any", () => {
    const rows = Float64Array.of(-1, 0, 2);
    const both = [hazards, [...hazards].reverse()].map((order) => coxRisks(order, rows, [0.5]));
    rows.forEach((x, i) => {
      const any = hazards.reduce(
        (sum, hazard) => sum + cumulativeHazard(hazard, 0.5) * Math.exp(coxScore(hazard, Float64Array.of(x))),
        0,
      );
      expect(both[0][i] + both[1][i]).toBeCloseTo(1 - Math.exp(-any), 12);
    });
  });

  it("is on average about the Aalen–Johansen curve of those it was fitted to", () => {
    const mean = coxRisks(hazards, X, [0.5]).reduce((a, b) => a + b, 0) / n;
    const curves = aalenJohansen(data, 2);
    const j = curves.times.filter((t) => t <= 0.5).length - 1;
    // Half a standard error of the curve.
    expect(Math.abs(mean - curves.causes[0].incidence[j])).toBeLessThan(0.5 * curves.causes[0].standardErrors[j]);
  });

  it("stays a share where the hazard is so high that nobody is left", () => {
    const random = createRandom(12);
    for (let k = 0; k < 200; k++) {
      const times = Float64Array.from({ length: 40 }, (_, j) => j + 1);
      const steps = Float64Array.from(times, () => random.uniform() / 20);
      const hazard = { times, steps, coefficients: Float64Array.of(1), centre: Float64Array.of(0) };
      const [risk] = coxRisks([hazard], Float64Array.of(3 + 3 * random.uniform()), [40]);
      expect(risk > 0.99 && risk <= 1, String(risk)).toBe(true);
    }
  });
});
