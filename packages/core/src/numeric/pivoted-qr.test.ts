import { describe, expect, it } from "vitest";
import { dependentColumns } from "./pivoted-qr.ts";
import { createRandom } from "./random.ts";

/** [n,p] from columns. */
const matrix = (columns: readonly Float64Array[]) =>
  Float64Array.from({ length: columns.length * columns[0].length }, (_, e) => {
    return columns[e % columns.length][Math.floor(e / columns.length)];
  });

describe("dependentColumns", () => {
  const random = createRandom(4);
  const draw = () => Float64Array.from({ length: 60 }, () => random.normal());
  const [a, b, c] = [draw(), draw(), draw()];

  it("finds none among independent columns, even nearly equal ones", () => {
    expect(dependentColumns(matrix([a, b, c]), 60, 3, 1e7)).toEqual([]);
    const near = a.map((x, i) => x + 1e-5 * c[i]);
    expect(dependentColumns(matrix([a, b, near]), 60, 3, 1e7)).toEqual([]);
  });

  it("names the columns that one follows from, and no others", () => {
    const sum = a.map((x, i) => 0.5 * x - 0.25 * c[i]);
    expect(dependentColumns(matrix([a, b, c, sum]), 60, 4, 1e7)).toEqual([{ column: 3, from: [0, 2] }]);
    const near = b.map((x, i) => 0.9 * x + 1e-9 * c[i]);
    expect(dependentColumns(matrix([a, b, near]), 60, 3, 1e7)).toEqual([{ column: 2, from: [1] }]);
  });
});
