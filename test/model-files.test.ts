/** Files of models: their schema, and what is refused of damaged and tampered ones. */
import { describe, expect, it } from "vitest";
import { modelFileJsonSchema } from "../packages/core/src/doors/models.ts";
import { fitDtm, fitLmm, loadModel, saveModel, simulateCohort } from "../packages/core/src/index.ts";
import { canonicalJson, checksum } from "../packages/core/src/models/saving/canonical-json.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 120, seed: 5 });

describe("model files", () => {
  it("follow the published JSON Schema", async () => {
    // `npx vitest run test/model-files.test.ts -u` writes the file anew.
    const text = `${JSON.stringify(modelFileJsonSchema(), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot("../packages/core/schemas/model.schema.json");
  });

  const text = saveModel(fitLmm(cohort));

  it("are refused by name when damaged, foreign, newer or cut", () => {
    const digit = text.indexOf('"variance":') + 13;
    const flipped = `${text.slice(0, digit)}${text[digit] === "5" ? "6" : "5"}${text.slice(digit + 1)}`;
    expect(() => loadModel(flipped)).toThrow(expect.objectContaining({ code: "checksum" }));
    expect(() => loadModel(text.slice(0, 500))).toThrow(expect.objectContaining({ code: "bad-json" }));
    expect(() => loadModel('{"a":1}')).toThrow(expect.objectContaining({ code: "not-a-model" }));
    const newer = text.replace('"formatVersion":2', '"formatVersion":5');
    expect(() => loadModel(newer)).toThrow(expect.objectContaining({ code: "newer-format" }));
  });
});

describe("model files that were tampered with", () => {
  const text = saveModel(fitDtm(cohort, { nodes: { step: 0.4 }, restarts: 0, maxIterations: 8 }));

  interface Contents {
    readonly model: {
      readonly nodes: { locations: number[]; logWeights: number[] };
      readonly markers: readonly {
        readonly map: { readonly kernel: { lengthscales: number[] }; readonly inducingMean: number[] };
        readonly residual: { covariance: number[] };
      }[];
      readonly orientation: number[];
    };
    readonly probe: object;
  }

  /** The file with some of its contents changed and the checksum made anew. */
  function reseal(change: (file: Contents) => void): string {
    const { model, probe } = JSON.parse(text);
    change({ model, probe });
    const content = canonicalJson({ model, probe });
    const head = text.slice(0, text.indexOf('"checksum"'));
    return `${head}"checksum":"${checksum(content)}",${content.slice(1)}`;
  }

  it("load again when nothing was changed", () => {
    expect(loadModel(reseal(() => {})).kind).toBe("dtm");
  });

  it.each<[string, (file: Contents) => unknown]>([
    ["no nodes", ({ model }) => Object.assign(model.nodes, { locations: [], logWeights: [] })],
    ["weights that do not sum to one", ({ model }) => model.nodes.logWeights.fill(0)],
    ["nodes on one place", ({ model }) => model.nodes.locations.fill(0)],
    ["a negative length-scale", ({ model }) => model.markers[0].map.kernel.lengthscales.fill(-1)],
    ["a negative noise", ({ model }) => Object.assign(model.markers[0], { noise: { kind: "white", variance: -1 } })],
    ["a crooked orientation", ({ model }) => model.orientation.fill(1)],
    ["an asymmetric residual", ({ model }) => model.markers[0].residual.covariance.splice(1, 1, 1e6)],
    ["an empty probe", ({ probe }) => Object.assign(probe, { times: [], median: [], upper: [] })],
    ["a probe without a place", ({ probe }) => Object.assign(probe, { location: [] })],
    ["a matrix too short", ({ model }) => model.markers[0].map.inducingMean.pop()],
    ["null for a number", ({ model }) => Object.assign(model.markers[0], { center: null })],
  ])("are refused with %s", (_, change) => {
    expect(() => loadModel(reseal(change))).toThrow(expect.objectContaining({ code: "bad-model" }));
  });
});
