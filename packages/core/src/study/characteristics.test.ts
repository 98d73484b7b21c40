import { describe, expect, it } from "vitest";
import {
  type Characteristic,
  categoryDifference,
  characteristicColumns,
  characteristicsOf,
  numberCharacteristic,
} from "./characteristics.ts";
import { readSubjects } from "./subjects.ts";

const read = (text: string) => readSubjects(text).table;
const table = read(`id,row,age,sex,stage,note,site,cost
a,1,40,f,1,first,x,1
b,2,50,f,2,second,x,2
c,3,60,m,2,third,x,2
d,4,45,f,10,fourth,x,3
e,5,55.5,m,10,fifth,x,3
f,6,,m,,sixth,x,400
`);
const ids = ["a", "b", "c", "d", "e", "f", "g"];
const labels = [0, 0, 0, 1, 1, 1, -1];

describe("characteristicsOf", () => {
  const [age, sex, stage, cost] = characteristicsOf(table, ["age", "sex", "stage", "cost"], ids, labels, 2) as [
    Extract<Characteristic, { kind: "number" }>,
    Extract<Characteristic, { kind: "category" }>,
    Extract<Characteristic, { kind: "category" }>,
    Characteristic,
  ];

  it("takes numbers with few values as categories, and counts what is missing and who is not in the table", () => {
    // Five values at most are levels.
    expect([age.kind, sex.kind, stage.kind, cost.kind]).toEqual(["category", "category", "category", "category"]);
    expect(stage.levels).toEqual(["1", "2", "10"]);
    expect(stage.counts).toEqual([
      [1, 2, 0],
      [0, 0, 2],
      [1, 2, 2],
    ]);
    expect(stage.missing).toEqual([0, 1, 2]);
    expect(sex.counts).toEqual([
      [2, 1],
      [1, 2],
      [3, 3],
    ]);
    expect(sex.missing).toEqual([0, 0, 1]);
  });

  it("gives the difference of a category of two levels as that of a proportion", () => {
    // |2/3 − 1/3| / √((2/9 + 2/9) / 2) = 1 / √2.
    expect(sex.difference).toBeCloseTo(Math.SQRT1_2, 12);
  });

  it("gives mean, sd, quartiles and difference of a number as worked out by hand", () => {
    const own = numberCharacteristic("x", [1, 2, 3, 6, 4, 6, 8, Number.NaN, 5], [0, 0, 0, 0, 1, 1, 1, 1, -1], 2);
    if (own.kind !== "number") throw new Error("a number");
    const [a, b, all] = own.summaries;
    // Group a: 1, 2, 3, 6 with mean 3 and variance (4 + 1 + 0 + 9) / 3; group b: 4, 6, 8 with mean 6 and variance 4.
    expect(a).toMatchObject({ known: 4, missing: 0, mean: 3, quartiles: [1.75, 2.5, 3.75] });
    expect(a.sd ** 2).toBeCloseTo(14 / 3, 12);
    expect(b).toMatchObject({ known: 3, missing: 1, mean: 6, sd: 2, quartiles: [5, 6, 7] });
    expect(all).toMatchObject({ known: 8, missing: 1 });
    expect(own.difference).toBeCloseTo(3 / Math.sqrt((14 / 3 + 4) / 2), 12);
    expect(own.skewed).toBe(false);
    expect(numberCharacteristic("x", [1, 1, 1, 1, 2, 20], [0, 0, 0, 1, 1, 1], 2)).toMatchObject({ skewed: true });
  });

  it("refuses the column of ids", () => {
    expect(() => characteristicsOf(table, ["age", "id"], ids, labels, 2)).toThrow(/the ids/);
  });
});

describe("characteristicColumns", () => {
  it("leaves out ids, running numbers, constants and text with many values", () => {
    const rows = Array.from({ length: 20 }, (_, i) => `p${i},${i + 1},${(i * 37) % 101},note ${i},x,${i % 2}`);
    const wide = read(`id,row,age,note,site,sex\n${rows.join("\n")}\n`);
    const own = wide.ids;
    expect(characteristicColumns(wide, own)).toEqual(["age", "sex"]);
  });
});

describe("categoryDifference", () => {
  it("does not depend on which level is left out", () => {
    const [a, b] = [
      [5, 20, 30, 0],
      [10, 10, 40, 3],
    ];
    const turned = (x: readonly number[]) => [x[2], x[3], x[0], x[1]];
    expect(categoryDifference(turned(a), turned(b))).toBeCloseTo(categoryDifference(a, b), 12);
  });

  it("is as worked out by hand for three levels", () => {
    // p_a = (.5, .3), p_b = (.2, .4): S = ½ [[.25 + .16, −.15 − .08], [., .21 + .24]], d = (.3, −.1).
    const [s11, s12, s22] = [0.205, -0.115, 0.225];
    const determinant = s11 * s22 - s12 * s12;
    const squared = (s22 * 0.09 - 2 * s12 * 0.3 * -0.1 + s11 * 0.01) / determinant;
    expect(categoryDifference([20, 50, 30], [40, 20, 40])).toBeCloseTo(Math.sqrt(squared), 12);
  });

  it("is zero for equal shares, infinite where no level is common and unknown for an empty group", () => {
    expect(categoryDifference([2, 4, 6], [1, 2, 3])).toBeCloseTo(0, 12);
    expect(categoryDifference([3, 0, 1], [0, 5, 0])).toBe(Number.POSITIVE_INFINITY);
    expect(categoryDifference([0, 0], [1, 2])).toBeNaN();
  });
});
