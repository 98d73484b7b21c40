import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { createRandom } from "../../numeric/random.ts";
import { principalScores } from "./principal-scores.ts";

const m = 60;
const d = 4;
const random = createRandom(5);
const scale = [4, 2, 1, 0.5];
const W = Float64Array.from({ length: m * d }, (_, k) => 7 + scale[k % d] * random.normal());

/** (1/m) Σ x_a x_c over the rows of X [m,q]. */
const moment = (X: Float64Array, q: number, a: number, c: number) => {
  let s = 0;
  for (let i = 0; i < m; i++) s += (X[i * q + a] * X[i * q + c]) / m;
  return s;
};

describe("principalScores", () => {
  it("are centred, uncorrelated and of unit variance", () => {
    const { scores, numVarying } = principalScores(W, m, d, 3);
    expect(numVarying).toBe(3);
    for (let a = 0; a < 3; a++) {
      let mean = 0;
      for (let i = 0; i < m; i++) mean += scores[i * 3 + a] / m;
      expect(mean).toBeCloseTo(0, 12);
      for (let c = 0; c < 3; c++) expect(moment(scores, 3, a, c)).toBeCloseTo(a === c ? 1 : 0, 10);
    }
  });

  it("lose nothing with all components: Λ x gives the rows back", () => {
    const { center, loadings, scores } = principalScores(W, m, d, d);
    const back = new Float64Array(m * d);
    for (let c = 0; c < d; c++) {
      let norm = 0;
      for (let k = 0; k < d; k++) norm += loadings[k * d + c] ** 2;
      for (let i = 0; i < m; i++) {
        for (let k = 0; k < d; k++) back[i * d + k] += (scores[i * d + c] * loadings[k * d + c]) / norm;
      }
    }
    expect(
      relativeError(
        back,
        W.map((w, j) => w - center[j % d]),
      ),
    ).toBeLessThan(1e-12);
  });

  it("come in order of variance, with the entry of largest magnitude of each loading positive", () => {
    const { loadings } = principalScores(W, m, d, d);
    let previous = 0;
    for (let c = 0; c < d; c++) {
      const column = Array.from({ length: d }, (_, k) => loadings[k * d + c]);
      const norm = Math.hypot(...column); // 1 / sd
      expect(norm).toBeGreaterThan(previous);
      previous = norm;
      expect(column.reduce((best, v) => (Math.abs(v) > Math.abs(best) ? v : best), 0)).toBeGreaterThan(0);
    }
  });

  it("are zero where nothing varies", () => {
    const flat = W.map((w, j) => (j % d < 1 ? w : 3));
    const { scores, numVarying } = principalScores(flat, m, d, 2);
    expect(numVarying).toBe(1);
    for (let i = 0; i < m; i++) expect(scores[i * 2 + 1]).toBe(0);
    expect(moment(scores, 2, 0, 0)).toBeCloseTo(1, 12);
  });
});
