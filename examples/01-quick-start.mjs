/** From a CSV file to a map: read, fit, place everyone. Run it: node examples/01-quick-start.mjs */
import { embed, fitDtm, numIndividuals } from "@trajectory-maps/core";
import { numObservations } from "@trajectory-maps/core/ingest";
import { isMain, readPbc } from "./pbc.mjs";

export async function run(print = console.log) {
  // Rows become a validated cohort, or one error with every complaint, line by line.
  const { cohort, warnings } = readPbc();
  print(`${numIndividuals(cohort)} individuals, ${numObservations(cohort)} observations, warnings: ${warnings.length}`);

  const model = fitDtm(cohort, { seed: 1 });
  print(model.record.verdict);

  // Every place is a mean with a covariance: few visits, wide place.
  const places = embed(model, cohort);
  const [x, y] = places.location;
  print(
    `individual ${places.ids[0]} stands at (${x.toFixed(2)}, ${y.toFixed(2)}), seen ${places.numObservations[0]} times`,
  );
  return { model, places };
}

if (isMain(import.meta.url)) await run();
