/** dtm simulate pfvc|tss|MODEL: a cohort drawn from a known recipe or from a fitted model. */

import { join } from "node:path";
import {
  type Cohort,
  makeCohort,
  markerModel,
  numIndividuals,
  simulateCohort,
  simulateFromModel,
  type TrajectoryModel,
} from "@trajectory-maps/core";
import { numObservations, onlyMarker } from "@trajectory-maps/core/ingest";
import { basisDomain, createRandom } from "@trajectory-maps/core/models";
import { type CsvCell, csvPieces } from "@trajectory-maps/report";
import { fileExists, isFolder } from "../io/read.ts";
import { openRun, readModel, VISITS_FILE, visitsCsv } from "../io/run-folder.ts";
import { checkOutputs, writeOutputs } from "../io/write.ts";
import { counted } from "../print/words.ts";
import { type Command, FORCE_OPTION, type Options, textOption } from "./command.ts";
import { seedOf, wholeNumber } from "./numbers.ts";

interface Simulated {
  readonly cohort: Cohort;
  /** Columns of the table of individuals beside the id. */
  readonly subjects: readonly { readonly name: string; readonly cells: readonly CsvCell[] }[];
}

export const simulate: Command = {
  name: "simulate",
  description: "Simulate a cohort: a scleroderma registry (pfvc, tss), or new individuals from a fitted model.",
  arguments: [{ name: "what", description: "pfvc, tss, a model file or the folder of a run" }],
  options: [
    {
      flags: "--individuals <number>",
      description: "number of individuals (default: as published, or 200 from a model)",
    },
    { flags: "-o, --out <folder>", description: "write visits.csv and subjects.csv there instead of printing visits" },
    FORCE_OPTION,
  ],
  examples: ["dtm simulate pfvc --seed 7 -o pfvc/", "dtm simulate run/ --individuals 100 > new-visits.csv"],
  run: async ([what = "pfvc"], options) => {
    const folder = textOption(options, "out");
    if (folder !== undefined) checkOutputs(folder, ["visits.csv", "subjects.csv"], options.force === true);
    const { cohort, subjects } = await draw(what, options);
    const about = {
      marker: onlyMarker(cohort).marker,
      individuals: numIndividuals(cohort),
      observations: numObservations(cohort),
    };
    if (folder === undefined) {
      return {
        text: [...visitsCsv(cohort)].join(""),
        json: { ...about, visits: visitRows(cohort), subjects: subjectRows(cohort, subjects) },
      };
    }
    const header = ["id", ...subjects.map(({ name }) => name)];
    function* rows(): Generator<CsvCell[]> {
      for (const [i, id] of cohort.ids.entries()) yield [id, ...subjects.map(({ cells }) => cells[i] ?? "")];
    }
    const paths = writeOutputs(folder, [
      { name: "visits.csv", text: visitsCsv(cohort) },
      { name: "subjects.csv", text: csvPieces(header, rows(), { exact: true }) },
    ]);
    const said = `${counted(about.individuals, "individual")} with ${counted(about.observations, "observation")} of ${about.marker.name}`;
    return { text: `${said}\nWritten   ${paths.join("\n          ")}`, json: { ...about, files: paths } };
  },
};

async function draw(what: string, options: Options): Promise<Simulated> {
  const seed = seedOf(options);
  const text = textOption(options, "individuals");
  const given = text === undefined ? undefined : wholeNumber("--individuals", text, 1);
  if (what === "pfvc" || what === "tss") {
    const { cohort, groups, groupNames, outcomes } = simulateCohort(what, {
      seed,
      ...(given === undefined ? {} : { numIndividuals: given }),
    });
    const labels = Object.entries(outcomes).map(([name, cells]) => ({ name, cells: Array.from(cells) }));
    return { cohort, subjects: [{ name: "group", cells: Array.from(groups, (g) => groupNames[g] ?? "") }, ...labels] };
  }
  const model = readModel(what);
  const ownVisits = isFolder(what) && fileExists(join(what, VISITS_FILE)) && given === undefined;
  const design = ownVisits ? (await openRun(what)).read.cohort : drawDesign(model, given ?? 200, seed);
  const { cohort, locations } = simulateFromModel(model, design, { seed });
  const m = numIndividuals(cohort);
  const q = locations.length / m;
  const axes = Array.from({ length: q }, (_, a) => a);
  return {
    cohort,
    subjects: axes.map((a) => ({
      name: `x${a + 1}`,
      cells: Array.from({ length: m }, (_, i) => locations[i * q + a] ?? 0),
    })),
  };
}

/** Visits of new individuals: one and a Poisson number more (mean 5), uniform over the times the model knows. */
function drawDesign(model: TrajectoryModel, m: number, seed: number): Cohort {
  const own = markerModel(model);
  const random = createRandom(seed);
  const [first, last] = basisDomain(own.basis);
  const ids: string[] = [];
  const times: number[] = [];
  for (let i = 0; i < m; i++) {
    const n = 1 + random.poisson(5);
    for (let j = 0; j < n; j++) {
      ids.push(`S${String(i + 1).padStart(Math.max(4, String(m).length), "0")}`);
      times.push(first + (last - first) * random.uniform());
    }
  }
  // Values are drawn later; one half is in the domain of every transform.
  return makeCohort({ ids, times, values: new Float64Array(ids.length).fill(0.5) }, own.marker);
}

function visitRows(cohort: Cohort) {
  const { offsets, times, values } = onlyMarker(cohort);
  return cohort.ids.flatMap((id, i) => {
    const [from, to] = [offsets[i] ?? 0, offsets[i + 1] ?? 0];
    return Array.from({ length: to - from }, (_, j) => ({
      id,
      time: times[from + j],
      value: values[from + j],
    }));
  });
}

function subjectRows(cohort: Cohort, subjects: Simulated["subjects"]) {
  return cohort.ids.map((id, i) => ({
    id,
    ...Object.fromEntries(subjects.map(({ name, cells }) => [name, cells[i]])),
  }));
}
