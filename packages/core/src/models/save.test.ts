import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { makeCohort } from "../cohort/cohort.ts";
import { simulatePlaces } from "../simulate/places.ts";
import { markerModel } from "./fit.ts";
import { fitDtm, fitFpca, fitLinear } from "./fit-models.ts";
import { placeIndividual } from "./place.ts";
import { loadModel, saveModel } from "./save.ts";

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
    ["__proto__", (text: string) => text.replace('{"basis"', '{"__proto__":{"x":1},"basis"'), "__proto__"],
  ])("refuses a file with %s, though its checksum would agree", (_, change, words) => {
    const text = saveModel(model);
    expect(change(text)).not.toBe(text);
    const refused = expect.objectContaining({ code: "bad-json", message: expect.stringContaining(words) });
    expect(() => loadModel(change(text))).toThrow(refused);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});
