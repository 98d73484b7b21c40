import { describe, expect, it } from "vitest";
import { DtmError } from "../errors.ts";
import type { SubjectsTable } from "../ingest/subjects-table.ts";
import { type CovariateChoices, codeCovariates } from "./code.ts";
import { decodeColumns, encodeFor, encodeTable } from "./covariates.ts";

/** A table of m individuals p0, p1, … from a column of cells each. */
function tableOf(m: number, columns: Readonly<Record<string, (i: number) => string | number>>): SubjectsTable {
  const rows = Array.from({ length: m }, (_, i) => i);
  return {
    ids: rows.map((i) => `p${i}`),
    columns: Object.entries(columns).map(([name, cell]) => ({ name, cells: rows.map((i) => String(cell(i))) })),
  };
}

const SEXES = ["m", "f"];
const DRUGS = ["placebo", "a", "b"];
const columns = {
  age: (i: number) => 40 + ((i * 17) % 31),
  sex: (i: number) => SEXES[i % 2],
  drug: (i: number) => DRUGS[(i * 7) % 3],
};
const table = tableOf(120, columns);
const choices: CovariateChoices = {
  covariates: [{ name: "age" }, { name: "sex" }, { name: "drug", reference: "placebo" }],
};

const refusal = (of: SubjectsTable, asked: CovariateChoices, ids: readonly string[] = of.ids): string => {
  try {
    codeCovariates(of, ids, asked);
  } catch (error) {
    if (error instanceof DtmError) return `${error.code}: ${error.message}`;
  }
  return "accepted";
};

const columnOf = (values: Float64Array, P: number, p: number) => Array.from(values).filter((_, e) => e % P === p);
const mean = (x: readonly number[]) => x.reduce((sum, v) => sum + v, 0) / x.length;

describe("codeCovariates", () => {
  const coded = codeCovariates(table, table.ids, choices);

  it("codes numbers as they are and categories beside their reference, centred, with unit variance", () => {
    expect(coded.coding.columns.map(({ name }) => name)).toEqual(["age", "sex: m", "drug: a", "drug: b"]);
    expect(coded.coding.covariates.map(({ kind, levels }) => [kind, levels])).toEqual([
      ["number", []],
      ["category", ["f", "m"]],
      ["category", ["placebo", "a", "b"]],
    ]);
    for (let p = 0; p < 4; p++) {
      const z = columnOf(coded.values, 4, p);
      expect(mean(z)).toBeCloseTo(0, 12);
      expect(mean(z.map((v) => v * v))).toBeCloseTo(1, 12);
    }
    const { center, scale } = coded.coding.columns[0];
    expect(coded.values[4 * 3] * scale + center).toBeCloseTo(columns.age(3), 10);
    expect(coded.leftOut).toEqual([]);
    expect(coded.warnings).toEqual([]);
  });

  it("codes new individuals alike", () => {
    for (const i of [0, 5, 77]) {
      const row = { age: columns.age(i), sex: columns.sex(i), drug: columns.drug(i) };
      expect(encodeFor(coded.coding, row)).toEqual(coded.values.slice(4 * i, 4 * i + 4));
    }
    const [ages, sexes, drugs] = decodeColumns(coded);
    expect([ages[5], sexes[5], drugs[5]]).toEqual([columns.age(5), columns.sex(5), columns.drug(5)]);
    expect(encodeTable(coded.coding, table, ["p7", "p3"])).toEqual(
      Float64Array.from([7, 3].flatMap((i) => Array.from(coded.values.subarray(4 * i, 4 * i + 4)))),
    );
    expect(structuredClone(coded)).toEqual(coded);
  });

  it("refuses new individuals of an unknown level, or without a covariate, by name", () => {
    const row = { age: 50, sex: "f", drug: "c" };
    expect(() => encodeFor(coded.coding, row)).toThrow(/drug among placebo, a, b, received "c"/);
    expect(() => encodeFor(coded.coding, { ...row, drug: "" })).toThrow(/a value of drug, received none/);
    expect(() => encodeFor(coded.coding, { ...row, age: "old" })).toThrow(/a number as age, received "old"/);
    expect(() => encodeFor(coded.coding, Object.create({ age: 1 }))).toThrow(/a value of age/);
    const bad = tableOf(2, { ...columns, sex: () => "x" });
    expect(() => encodeTable(coded.coding, bad, ["p0"])).toThrow(/line 2, column "sex": expected sex among f, m/);
    expect(() => encodeTable(coded.coding, table, ["p0", "stranger"])).toThrow(/a value of age, received none/);
  });

  it("leaves individuals without a covariate out, and counts them", () => {
    const gaps = tableOf(120, { ...columns, age: (i) => (i % 12 === 0 ? "" : columns.age(i)) });
    const complete = codeCovariates(gaps, [...gaps.ids, "stranger"], choices);
    expect(complete.ids).toHaveLength(110);
    expect(complete.leftOut).toHaveLength(11);
    expect(complete.ids[0]).toBe("p1");
    expect([...complete.individuals.slice(0, 2)]).toEqual([1, 2]);
    expect(complete.warnings).toMatchObject([
      { code: "missing-covariate", count: 11, remedy: "11 of 121 individuals were left out." },
    ]);
    expect(complete.warnings[0].received).toContain("age of 11, sex of 1");
  });

  it("gives what is unknown a column where that is asked for: the number stands at its centre beside it", () => {
    const gaps = tableOf(120, {
      ...columns,
      age: (i) => (i % 8 === 0 ? "NA" : columns.age(i)),
      sex: (i) => (i % 7 === 0 ? "" : columns.sex(i)),
    });
    const { coding, values, ids } = codeCovariates(gaps, gaps.ids, { ...choices, missing: "indicator" });
    expect(ids).toHaveLength(120);
    const names = coding.columns.map(({ name }) => name);
    expect(names).toEqual(["age", "age: unknown", "sex: m", "sex: unknown", "drug: a", "drug: b"]);
    expect(values[0]).toBe(0);
    expect(values[1]).toBeGreaterThan(1);
    for (let p = 0; p < 6; p++) expect(mean(columnOf(values, 6, p).map((v) => v * v))).toBeCloseTo(1, 12);
    expect(encodeFor(coding, { drug: "a" })).toEqual(encodeFor(coding, { age: null, sex: "NA", drug: "a" }));
    expect(() => encodeFor(coding, { age: 50, sex: "f" })).toThrow(/a value of drug/);
    expect(encodeTable(coding, gaps, gaps.ids)).toEqual(values);
  });

  it("takes numbers as levels where that is asked for", () => {
    const stages = tableOf(120, { stage: (i) => 1 + (i % 3) });
    const { coding } = codeCovariates(stages, stages.ids, { covariates: [{ name: "stage", kind: "category" }] });
    expect(coding.columns.map(({ name }) => name)).toEqual(["stage: 2", "stage: 3"]);
    expect(encodeFor(coding, { stage: 2 })).toEqual(encodeFor(coding, { stage: "2" }));
  });
});

describe("covariates that cannot be used", () => {
  it("are constant, or follow from others", () => {
    const same = tableOf(60, { ...columns, site: () => "x", dose: () => 5 });
    expect(refusal(same, { covariates: [{ name: "site" }] })).toMatch(/^constant-column.*site/);
    expect(refusal(same, { covariates: [{ name: "dose" }] })).toMatch(/^constant-column.*dose.*received 5/);
    const birth = tableOf(120, {
      ...columns,
      born: (i) => 2000 - columns.age(i),
      arm: (i) => Number(columns.drug(i) === "a"),
    });
    const both = refusal(birth, { covariates: [{ name: "age" }, { name: "sex" }, { name: "born" }] });
    expect(both).toMatch(/^collinear.*(born, which follows from age|age, which follows from born)\./);
    expect(refusal(birth, { covariates: [{ name: "drug" }, { name: "arm" }] })).toMatch(/^collinear/);
  });

  it("have levels of few individuals, or are too many for the individuals", () => {
    const rare = tableOf(120, { ...columns, site: (i) => (i < 9 ? "far" : "near"), flag: (i) => (i < 9 ? 1 : 0) });
    expect(refusal(rare, { covariates: [{ name: "site" }] })).toMatch(/10 individuals with site "far", received 9/);
    expect(refusal(rare, { covariates: [{ name: "flag" }] })).toMatch(/10 individuals with flag "1", received 9/);
    expect(refusal(tableOf(39, columns), { covariates: [{ name: "age" }, { name: "sex" }] })).toMatch(
      /40 individuals for 4 effects \(2 columns\), received 39/,
    );
    expect(refusal(tableOf(39, columns), { covariates: [{ name: "age" }, { name: "sex" }], effect: "level" })).toBe(
      "accepted",
    );
  });

  it("are numbers but for a few cells, unless they are asked for as a category", () => {
    for (const cell of ["<45", "Infinity", "40,5"]) {
      const odd = tableOf(120, { age: (i) => (i === 7 ? cell : columns.age(i)) });
      expect(refusal(odd, { covariates: [{ name: "age" }] })).toMatch(
        new RegExp(`^not-a-number.*line 9, column "age": expected numbers as age, received "${cell}".*age:category`),
      );
    }
    const grades = tableOf(120, { grade: (i) => ["0", "1", "2+"][i % 3] });
    expect(refusal(grades, { covariates: [{ name: "grade" }] })).toMatch(/^not-a-number/);
    for (const asked of [{ kind: "category" as const }, { reference: "0" }]) {
      expect(refusal(grades, { covariates: [{ name: "grade", ...asked }] })).toBe("accepted");
    }
  });

  it("are of others than those seen", () => {
    expect(refusal(table, choices, ["P-0", "P-1"])).toMatch(
      /^other-ids.*ids of the visits, such as "P-0", received others, such as "p0"\. No id is in both/,
    );
  });

  it("change within an individual", () => {
    const visits: SubjectsTable = {
      ids: ["a", "a", "b", "b"],
      columns: [
        { name: "sex", cells: ["f", "f", "m", ""] },
        { name: "dose", cells: ["1", "2", "3", "3"] },
      ],
    };
    expect(refusal(visits, { covariates: [{ name: "dose" }] }, ["a", "b"])).toMatch(
      /^varying-covariate.*line 3, column "dose".*"1" in line 2 and "2" here. This changes in time; only values known at the first visit can be used/,
    );
    const sexes = { covariates: [{ name: "sex" }], leastIndividuals: 1, effect: "level" as const };
    expect(codeCovariates(visits, ["a", "b"], sexes).coding.columns).toHaveLength(1);
  });

  it("are named twice, for two effects, with the reason", () => {
    const twice: CovariateChoices = { covariates: [{ name: "age" }, { name: "age", effect: "level" }] };
    expect(refusal(table, twice)).toMatch(/"age" twice, for places and for level.*cannot tell them apart/);
    expect(refusal(table, { covariates: [{ name: "age" }, { name: "age" }] })).toMatch(/Name it once/);
    expect(refusal(table, { covariates: [{ name: "sex", reference: "x" }] })).toMatch(
      /reference of sex among f, m, received x\. Name one of these/,
    );
    expect(refusal(table, { covariates: [{ name: "weight" }] })).toMatch(/^missing-column.*age, sex, drug/);
    expect(refusal(table, { covariates: [{ name: "sex", kind: "number" }] })).toMatch(/numbers as sex, received "m"/);
  });
});
