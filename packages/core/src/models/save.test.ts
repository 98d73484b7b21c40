import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { makeCohort } from "../cohort/cohort.ts";
import { markerModel } from "./fit.ts";
import { fitFpca } from "./fit-models.ts";
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
