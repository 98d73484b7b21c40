/** Several markers on one map: bilirubin and albumin of the PBC cohort, whether they share it, and a person seen by one of them. */
import { fitDtm, placeIndividual, predict, readCohort, selectIndividuals } from "@trajectory-maps/core";
import { sharingVerdict } from "@trajectory-maps/core/study";
import { isMain, visitsText } from "./pbc.mjs";

export async function run(print = console.log) {
  const { cohort } = readCohort(visitsText(), {
    markers: [
      { column: "bili", transform: "log", unit: "mg/dl" },
      { column: "albumin", unit: "g/dl" },
    ],
  });
  // A part of the individuals and coarse nodes, to be quick.
  const some = selectIndividuals(
    cohort,
    cohort.ids.map((_, i) => i).filter((i) => i % 3 === 0),
  );
  const model = fitDtm(some, { nodes: { step: 0.5 }, restarts: 0 });
  const { sentences, markers } = sharingVerdict(some, model);
  print(sentences[0]);
  for (const { name, varianceShare, noiseRatio } of markers) {
    print(`${name}: the map carries ${Math.round(100 * varianceShare)}%, noise ratio ${noiseRatio.toFixed(2)}`);
  }

  // Albumin was never measured; bilirubin says where the person is, and the place what albumin to expect.
  const someone = placeIndividual(model, { markers: { bili: { times: [0, 1], values: [4.1, 6.3] } } });
  const { median, lower, upper } = predict(model, someone, [2], { marker: "albumin" });
  print(`albumin at year 2: ${median[0].toFixed(1)} (90% ${lower[0].toFixed(1)} to ${upper[0].toFixed(1)})`);
  return { model, sentences, median };
}

if (isMain(import.meta.url)) await run();
