/** A new individual on an old map, without refitting: place, forecast, time to a threshold. */
import { fitDtm, placeIndividual, predict, predictCrossing, selectIndividuals } from "@trajectory-maps/core";
import { isMain, readPbc } from "./pbc.mjs";

export async function run(print = console.log) {
  const { cohort } = readPbc();
  const others = selectIndividuals(
    cohort,
    Int32Array.from({ length: 150 }, (_, i) => i),
  );
  const model = fitDtm(others, { seed: 1 });

  const someone = placeIndividual(model, { times: [0, 0.5, 1.1], values: [1.1, 1.6, 2.4] });
  print(`place ${Array.from(someone.location, (v) => v.toFixed(2)).join(", ")}`);

  const course = predict(model, someone, [2, 4, 6], { level: 0.9 });
  course.times.forEach((t, k) => {
    print(
      `year ${t}: ${course.median[k].toFixed(1)} mg/dl (${course.lower[k].toFixed(1)} to ${course.upper[k].toFixed(1)})`,
    );
  });

  const crossing = predictCrossing(model, someone, { threshold: 10, seed: 1 });
  print(`reaches 10 mg/dl within the known times with probability ${(1 - crossing.probabilityNone).toFixed(2)}`);
  return { someone, course, crossing };
}

if (isMain(import.meta.url)) await run();
