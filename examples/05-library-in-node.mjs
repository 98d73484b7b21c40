/** The library in a program of your own: a fit step by step, stopped and resumed, kept as a file, loaded again. */
import { DtmError, loadModel, readCohort, resumeDtm, saveModel, simulateCohort, startDtm } from "@trajectory-maps/core";
import { isMain } from "./pbc.mjs";

export async function run(print = console.log) {
  const { cohort } = simulateCohort("tss", { numIndividuals: 80, seed: 2 });
  const first = startDtm(cohort, { seed: 1 });
  for (let k = 0; k < 5; k++) first.step();

  // A snapshot is plain data; going on from it gives the same model, bit for bit.
  const second = resumeDtm(cohort, first.snapshot());
  let progress = second.step();
  while (!progress.done) progress = second.step();
  const model = second.finish();
  print(`bound ${progress.value.toFixed(2)} after ${model.record.iterations} iterations`);

  const again = loadModel(saveModel(model));
  print(`loaded a model of kind ${again.kind} with ${again.mapDimension} dimensions`);

  // Errors have a stable code and say what to do.
  try {
    readCohort("id,time,value\na,0,<LOD\n");
  } catch (error) {
    if (!(error instanceof DtmError)) throw error;
    print(`${error.code}: ${error.message}`);
  }
  return { model, again };
}

if (isMain(import.meta.url)) await run();
