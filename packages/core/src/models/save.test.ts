import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { makeCohort } from "../cohort/cohort.ts";
import { simulatePlaces } from "../simulate/places.ts";
import { markerModel } from "./fit.ts";
import { fitDtm, fitFpca, fitLinear, fitLmm } from "./fit-models.ts";
import { placeIndividual } from "./place.ts";
import { loadModel, saveModel } from "./save.ts";
import { canonicalJson, checksum } from "./saving/canonical-json.ts";

const rows = Array.from({ length: 60 }, (_, k) => ({ id: `p${k % 12}`, t: k % 5, y: (k % 12) + Math.sin(k) }));
const model = fitFpca(
  makeCohort({
    ids: rows.map(({ id }) => id),
    times: rows.map(({ t }) => t),
    values: rows.map(({ y }) => y),
  }),
  { rank: 1 },
);

describe("loadModel", () => {
  it("reads what saveModel wrote, with or without a byte-order mark", () => {
    const text = saveModel(model);
    expect(saveModel(loadModel(`\ufeff${text}`))).toBe(text);
  });

  it("reads models of several markers back, columns and all, and says by its version that they are", () => {
    const { cohort } = simulatePlaces({ numIndividuals: 40, seed: 5 });
    const columns = ["a", "b"].map((value) => ({ id: "id", time: "time", value }));
    const { lmm, fpca } = fitLinear(cohort, { columns });
    const map = fitDtm(cohort, { columns, nodes: { step: 0.5 }, restarts: 0, tolerance: 0.05 });
    for (const fitted of [map, lmm, fpca]) {
      if (fitted === undefined) throw new Error("expected components");
      const text = saveModel(fitted);
      const back = loadModel(text);
      expect(JSON.parse(text).formatVersion).toBe(3);
      expect(saveModel(back)).toBe(text);
      expect(back.markers.map((own) => own.columns?.value)).toEqual(["a", "b"]);
    }
    const history = { markers: { "marker 1": { times: [0.1, 0.7], values: [9, 11] } } };
    const [then, now] = [map, loadModel(saveModel(map))].map((model) => placeIndividual(model, history));
    expect(now.location).toEqual(then.location);
    expect(JSON.parse(saveModel(model)).formatVersion).toBe(2);
  });

  it("keeps from when dates were counted, and says by its version that it does", () => {
    const columns = { id: "id", time: "date", value: "fvc", origin: "column:onset", dates: true } as const;
    const dated = { ...model, markers: model.markers.map((own) => ({ ...own, columns })) } as typeof model;
    const text = saveModel(dated);
    expect(JSON.parse(text).formatVersion).toBe(4);
    expect(markerModel(loadModel(text)).columns).toEqual(columns);
  });

  it("reads a file of version 1, in which the noise was a variance", () => {
    const text = readFileSync(new URL("../../../../test/model-version-1.json", import.meta.url), "utf8");
    const raw = JSON.parse(text);
    expect(raw.formatVersion).toBe(1);
    const old = loadModel(text);
    expect(markerModel(old).noise).toEqual({ kind: "white", variance: raw.model.noiseVariance });
    expect(loadModel(saveModel(old))).toEqual(old);
  });

  it.each([
    ["the same key twice", (text: string) => text.replace('"kind":"fpca"', '"kind":"fpca","kind":"fpca"'), "twice"],
    [
      "lists without end",
      (text: string) => text.replace('{"basis"', `{"x":${"[".repeat(9999)}${"]".repeat(9999)},"basis"`),
      "nested more than 200 deep",
    ],
    ["__proto__", (text: string) => text.replace('{"basis"', '{"__proto__":{"x":1},"basis"'), "__proto__"],
  ])("refuses a file with %s, though its checksum would agree", (_, change, words) => {
    const text = saveModel(model);
    expect(change(text)).not.toBe(text);
    const refused = expect.objectContaining({ code: "bad-json", message: expect.stringContaining(words) });
    expect(() => loadModel(change(text))).toThrow(refused);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe("a model file", () => {
  /** The file with something of its contents changed, and its checksum right. */
  const changed = (change: (file: { model: Record<string, never> & { record: { options: object } } }) => void) => {
    const file = JSON.parse(saveModel(model));
    change(file);
    const content = canonicalJson({ model: file.model, probe: file.probe });
    return JSON.stringify({ ...file, checksum: checksum(content) });
  };

  it("carries no options but those of fits", () => {
    const stuffed = changed(({ model }) => Object.assign(model.record.options, { individuals: [["p1", 71]] }));
    expect(() => loadModel(stuffed)).toThrow(expect.objectContaining({ code: "bad-model" }));
    const long = changed(({ model }) => Object.assign(model.record.options, { mean: "x".repeat(1000) }));
    expect(() => loadModel(long)).toThrow(expect.objectContaining({ code: "bad-model" }));
  });

  it("has clamped knots and variances that can be computed with", () => {
    const part = (file: object) => (file as { model: { markers: Record<string, never>[] } }).model.markers[0];
    const knots = changed((file) => {
      const { basis } = part(file) as unknown as { basis: { knots: number[] } };
      basis.knots[0] -= 1;
    });
    expect(() => loadModel(knots)).toThrow(/basis\.knots/);
    const noise = changed((file) => {
      (part(file) as unknown as { noise: { variance: number } }).noise.variance = 1e-250;
    });
    expect(() => loadModel(noise)).toThrow(/noise\.variance/);
  });

  it("can be saved of whatever can be read: the largest and the smallest numbers", () => {
    const of = (size: number, time: number) =>
      makeCohort({
        ids: rows.map(({ id }) => id),
        times: rows.map(({ t }) => time * t),
        values: rows.map(({ y }) => size * y),
      });
    // Values go to 12 and times to 4; the smallest of either that is not 0 is at least 0.01 and 1.
    for (const [size, time] of [
      [8e43, 2e44],
      [1e-43, 1e-45],
      [8e43, 1e-45],
    ] as const) {
      for (const fitted of [fitLmm(of(size, time)), fitFpca(of(size, time), { rank: 1 })]) {
        expect(loadModel(saveModel(fitted)).markers[0].noise).toEqual(fitted.markers[0].noise);
      }
    }
    for (const [size, time] of [
      [1e44, 1],
      [1e-60, 1],
      [1, 1e45],
    ] as const) {
      expect(() => of(size, time)).toThrow(expect.objectContaining({ code: "not-finite" }));
    }
  });

  it("is read again as it is saved: what cannot be read is not handed out", () => {
    const broken = { ...model, record: { ...model.record, options: { individuals: ["p1"] } } };
    expect(() => saveModel(broken)).toThrow(expect.objectContaining({ code: "not-data" }));
  });
});
