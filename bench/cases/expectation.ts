/** The expectation step of the recommended map with its sums, 317 nodes: per individual, and against the loop in C. */

import { statisticsBlock } from "../../packages/core/src/basis/statistics.ts";
import { expectationPass } from "../../packages/core/src/models/dtm/expectation-step.ts";
import {
  type IndividualModel,
  packedStride,
  residualRoot,
} from "../../packages/core/src/models/dtm/individual-statistics.ts";
import type { NodeTable } from "../../packages/core/src/models/dtm/node-table.ts";
import { latticeNodes } from "../../packages/core/src/models/dtm/nodes.ts";
import { markerModel } from "../../packages/core/src/models/fit.ts";
import { fitDtm } from "../../packages/core/src/models/fit-models.ts";
import { type MapMoments, mapMoments } from "../../packages/core/src/models/gp/sparse-map.ts";
import { prepareCohort } from "../../packages/core/src/models/prepare.ts";
import { whiteNoise } from "../../packages/core/src/noise/noise.ts";
import { wasmPasses } from "../../packages/core/src/wasm/expectation.ts";
import { against, alone, type BenchCase, requireClose } from "../case.ts";
import { registry } from "../cohorts.ts";
import { chunkOf, interleave, type Variant } from "../measure.ts";
import { compileC, startChild } from "../peers.ts";

const COUNT = 256;
/** Vectors of 128 bits, as WebAssembly has them. */
const NARROW = ["-mno-avx"];

export const expectation: BenchCase = {
  name: "expectation",
  about: "recommended map: expectation step and sums of one individual, 317 nodes",
  guard: true,
  run: async ({ quick }) => {
    const cohort = registry(600);
    const statistics = statisticsBlock(prepareCohort(cohort).statistics, { from: 0, to: COUNT });
    const model = fitDtm(cohort, { nodes: { step: "fast" }, maxIterations: 30 });
    const { covariance } = markerModel(model).residual;
    const nodes = latticeNodes(2, { step: "fast" });
    const d = markerModel(model).basis.numBasis;
    const table = tableOf(mapMoments(markerModel(model).map, nodes.locations, nodes.numNodes), nodes.logWeights, d);
    const fitted: IndividualModel = {
      mean: markerModel(model).mean.coefficients,
      noise: whiteNoise(markerModel(model).noise.variance),
      residualRoot: residualRoot(covariance, d),
    };
    // With much noise every node keeps its weight, so that nothing is left out: the work of the loop in C.
    const flat = { ...fitted, noise: whiteNoise(1000 * fitted.noise.variance) };
    const nodeSums = new Float64Array(table.rows.length);
    const moments = new Float64Array(COUNT * table.stride);
    const kernels = wasmPasses([d], nodes.numNodes, table.stride);
    const pass = (model: IndividualModel) =>
      kernels.expect([statistics], [model], table, { nodeSums, moments: [moments] });
    for (const model of [fitted, flat]) {
      requireClose("bound", pass(model), expectationPass([statistics], [model], table, {}), 1e-10);
    }
    const variants: Variant[] = [
      { name: "wasm", chunk: chunkOf(() => pass(fitted), COUNT) },
      { name: "wasm, all nodes", chunk: chunkOf(() => pass(flat), COUNT) },
    ];
    const line = `run ${nodes.numNodes} ${table.stride} 8`;
    const children = [startChild(compileC("estep")), startChild(compileC("estep", NARROW))];
    const [native, narrow] = children.map((child, k) => {
      if (child !== undefined) variants.push({ name: `C ${k}`, chunk: async () => (await child.ask(line))[0] });
      return child && (() => us(`C ${k}`));
    });
    const time = await interleave(variants, quick ? 40 : 150);
    for (const child of children) child?.close();
    const us = (name: string) => time(name) / 1e3;
    const ready = "ours also makes the individual's statistics ready, the C loop does not";
    const all = us("wasm, all nodes");
    return [
      alone("E step + sums, 317 nodes, WebAssembly, per individual", "us", us("wasm"), {
        goal: 10,
        note: "nodes below e^-37 of the heaviest are left out",
      }),
      against("E step + sums, every node kept, WebAssembly", "us", all, "C, the same loop", native?.(), {
        goal: 1.5,
        guard: true,
        note: ready,
      }),
      against("E step + sums, every node kept, vectors of 128 bits", "us", all, "C, the same vectors", narrow?.(), {
        goal: 1.3,
        note: ready,
      }),
    ];
  },
};

/** The node table [K,Γ] of a fitted map, from its moments at the nodes. */
function tableOf({ means, covariances }: MapMoments, logWeights: Float64Array, d: number): NodeTable {
  const n = logWeights.length;
  const stride = packedStride(d);
  const rows = new Float64Array(stride * n);
  for (let g = 0; g < n; g++) {
    let e = d;
    for (let k = 0; k < d; k++) {
      rows[k * n + g] = means[g * d + k];
      for (let l = k; l < d; l++, e++) {
        const second = covariances[(g * d + k) * d + l] + means[g * d + k] * means[g * d + l];
        rows[e * n + g] = k === l ? -0.5 * second : -second;
      }
    }
  }
  return { numNodes: n, stride, rows, logWeights };
}
