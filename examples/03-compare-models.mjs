/** Which model predicts individuals it has not seen? The paper's Table 1 on a part of the bundled cohort. */
import { compareModels, selectIndividuals } from "@trajectory-maps/core";
import { isMain, readPbc } from "./pbc.mjs";

export async function run(print = console.log) {
  const { cohort } = readPbc();
  const part = selectIndividuals(
    cohort,
    Int32Array.from({ length: 120 }, (_, i) => i),
  );
  const comparison = compareModels(part, { models: ["line", "lmm", "fpca", "classes"], folds: 3, seed: 1 });
  for (const { model, subjectLogLik, coverage } of comparison.models) {
    const { mean, se } = subjectLogLik;
    print(
      `${model.padEnd(8)} ${mean.toFixed(2)} (${se.toFixed(2)}) per individual; 90 % bands hold ${(100 * coverage.p90).toFixed(0)} %`,
    );
  }
  print(comparison.verdict);
  return comparison;
}

if (isMain(import.meta.url)) await run();
