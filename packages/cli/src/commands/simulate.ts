/** dtm simulate pfvc|tss|markers|MODEL: a cohort drawn from a known recipe or from a fitted model. */

import { basename, dirname, join } from "node:path";
import {
  type Cohort,
  makeCohort,
  numIndividuals,
  simulateCohort,
  simulateFromModel,
  simulatePlaces,
  type TrajectoryModel,
} from "@trajectory-maps/core";
import { combineMarkers, decodeColumns, numObservations } from "@trajectory-maps/core/ingest";
import {
  basisDomain,
  codingOf,
  createRandom,
  MARKER_RELATIONS,
  type MarkerRelation,
  SIMULATED_EFFECTS,
  type SimulatedEffect,
} from "@trajectory-maps/core/models";
import { type CsvCell, csvPieces } from "@trajectory-maps/report";
import { UsageError } from "../exit-codes.ts";
import { fileExists, isFolder } from "../io/read.ts";
import { openRun, readModel, VISITS_FILE, visitsCsv } from "../io/run-folder.ts";
import { checkOutputFile, checkOutputs, writeOutputs } from "../io/write.ts";
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
  description:
    "Simulate a cohort: a scleroderma registry (pfvc, tss), several markers with or without covariates (markers), or new individuals from a fitted model.",
  arguments: [{ name: "what", description: "pfvc, tss, markers, a model file or the folder of a run" }],
  options: [
    {
      flags: "--individuals <number>",
      description: "number of individuals (default: as published, or 200 from a model)",
    },
    { flags: "--num-markers <number>", description: "of markers: how many (default: 2, or 1 with covariates)" },
    {
      flags: "--relation <kind>",
      description: "of markers: the same place for all, one shared axis and one of their own, or nothing in common",
      choices: MARKER_RELATIONS,
    },
    {
      flags: "--covariates <effect>",
      description: "of markers: five covariates that change nothing, places, or the mean course",
      choices: SIMULATED_EFFECTS,
    },
    {
      flags: "-o, --out <folder>",
      description: "write visits.csv and subjects.csv there instead of printing visits; or a file .csv for the visits",
    },
    FORCE_OPTION,
  ],
  examples: [
    "dtm simulate pfvc --seed 7 -o pfvc/",
    "dtm simulate markers --relation one-axis -o pair/",
    "dtm simulate markers --covariates places --seed 3 -o shifted/",
    "dtm simulate run/ --individuals 100 -o new-visits.csv",
  ],
  writes: (_, options) => {
    const out = textOption(options, "out");
    return out === undefined || isTable(out) ? undefined : out;
  },
  run: async ([what = "pfvc"], options) => {
    const out = textOption(options, "out");
    const folder = out !== undefined && isTable(out) ? undefined : out;
    if (folder !== undefined) checkOutputs(folder, ["visits.csv", "subjects.csv"], options.force === true);
    else if (out !== undefined) checkOutputFile(out, options.force === true);
    const { cohort, subjects } = await draw(what, options);
    const about = {
      marker: cohort.markers[0]!.marker,
      ...(cohort.markers.length === 1 ? {} : { markers: cohort.markers.map(({ marker }) => marker) }),
      individuals: numIndividuals(cohort),
      observations: numObservations(cohort),
    };
    const said = `${counted(about.individuals, "individual")} with ${counted(about.observations, "observation")} of ${cohort.markers.map(({ marker }) => marker.name).join(", ")}`;
    if (out !== undefined && folder === undefined) {
      const paths = writeOutputs(dirname(out), [{ name: basename(out), text: visitsCsv(cohort) }]);
      return { text: `${said}\nWritten   ${out}`, json: { ...about, files: paths } };
    }
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
    return { text: `${said}\nWritten   ${paths.join("\n          ")}`, json: { ...about, files: paths } };
  },
};

/** Whether what is named for results is one table. */
function isTable(out: string): boolean {
  return /\.csv$/i.test(out);
}

async function draw(what: string, options: Options): Promise<Simulated> {
  const seed = seedOf(options);
  const text = textOption(options, "individuals");
  const given = text === undefined ? undefined : wholeNumber("--individuals", text, 1);
  if (what === "markers") return drawMarkers(options, seed, given);
  const odd = ["numMarkers", "relation", "covariates"].find((name) => options[name] !== undefined);
  if (odd !== undefined)
    throw new UsageError(`--${odd === "numMarkers" ? "num-markers" : odd}: expected with dtm simulate markers.`);
  if (what === "pfvc" || what === "tss") {
    const { cohort, groups, groupNames, outcomes } = simulateCohort(what, {
      seed,
      ...(given === undefined ? {} : { numIndividuals: given }),
    });
    const labels = Object.entries(outcomes).map(([name, cells]) => ({ name, cells: Array.from(cells) }));
    return { cohort, subjects: [{ name: "group", cells: Array.from(groups, (g) => groupNames[g] ?? "") }, ...labels] };
  }
  const model = readModel(what);
  const hasVisits = isFolder(what) && fileExists(join(what, VISITS_FILE));
  if (codingOf(model) !== undefined && !hasVisits) {
    throw new UsageError(
      `dtm simulate: expected the folder of a run that keeps its visits, received ${what}: the model has covariates, which new individuals take from those of the run.`,
    );
  }
  const known = hasVisits ? (await openRun(what)).read.cohort : undefined;
  const design = known !== undefined && given === undefined ? known : drawDesign(model, given ?? 200, seed, known);
  const { cohort, locations } = simulateFromModel(model, design, { seed });
  const m = numIndividuals(cohort);
  const q = locations.length / m;
  const axes = Array.from({ length: q }, (_, a) => a);
  const { covariates } = cohort;
  const values = covariates === undefined ? [] : decodeColumns(covariates);
  return {
    cohort,
    subjects: [
      ...values.map((cells, c) => ({
        name: covariates?.coding.covariates[c]?.name ?? "",
        cells: cells.map((cell) => cell ?? ""),
      })),
      ...axes.map((a) => ({
        name: `x${a + 1}`,
        cells: Array.from({ length: m }, (_, i) => locations[i * q + a] ?? 0),
      })),
    ],
  };
}

/** Markers of a stated relation, with covariates if they are asked for. */
function drawMarkers(options: Options, seed: number, numIndividuals: number | undefined): Simulated {
  const count = textOption(options, "numMarkers");
  const relation = textOption(options, "relation") as MarkerRelation | undefined;
  const covariates = textOption(options, "covariates") as SimulatedEffect | undefined;
  const { cohort, subjects, places } = simulatePlaces({
    seed,
    ...(numIndividuals === undefined ? {} : { numIndividuals }),
    ...(count === undefined ? {} : { numMarkers: wholeNumber("--num-markers", count, 1) }),
    ...(relation === undefined ? {} : { relation }),
    ...(covariates === undefined ? {} : { covariates }),
  });
  // The place behind the first marker; the others follow from it, or are their own.
  const axes = [0, 1].map((a) => ({
    name: `x${a + 1}`,
    cells: cohort.ids.map((_, i) => places[0]?.[2 * i + a] ?? 0),
  }));
  return { cohort, subjects: [...subjects.columns, ...axes] };
}

/**
 * Visits of new individuals: one and a Poisson number more (mean 5) of every marker, uniform over the times the model knows; their
 * covariates are those of individuals of the run, drawn with replacement.
 */
function drawDesign(model: TrajectoryModel, m: number, seed: number, known: Cohort | undefined): Cohort {
  const random = createRandom(seed);
  const names = Array.from({ length: m }, (_, i) => `S${String(i + 1).padStart(Math.max(4, String(m).length), "0")}`);
  const cohorts = model.markers.map(({ basis, marker }) => {
    const [first, last] = basisDomain(basis);
    const ids: string[] = [];
    const times: number[] = [];
    for (const id of names) {
      const n = 1 + random.poisson(5);
      for (let j = 0; j < n; j++) {
        ids.push(id);
        times.push(first + (last - first) * random.uniform());
      }
    }
    // Values are drawn later; one half is in the domain of every transform.
    return makeCohort({ ids, times, values: new Float64Array(ids.length).fill(0.5) }, marker);
  });
  const design = cohorts.length === 1 ? cohorts[0]! : combineMarkers(cohorts);
  if (known?.covariates === undefined) return design;
  const { coding, values } = known.covariates;
  const P = coding.columns.length;
  const rows = names.map(() => random.integer(known.ids.length));
  const coded = Float64Array.from(rows.flatMap((row) => [...values.subarray(row * P, (row + 1) * P)]));
  return { ...design, covariates: { coding, values: coded } };
}

function visitRows({ ids, markers }: Cohort) {
  return ids.flatMap((id, i) =>
    markers.flatMap(({ marker, offsets, times, values }) => {
      const [from, to] = [offsets[i] ?? 0, offsets[i + 1] ?? 0];
      const named = markers.length === 1 ? {} : { marker: marker.name };
      return Array.from({ length: to - from }, (_, j) => ({
        id,
        ...named,
        time: times[from + j],
        value: values[from + j],
      }));
    }),
  );
}

function subjectRows(cohort: Cohort, subjects: Simulated["subjects"]) {
  return cohort.ids.map((id, i) => ({
    id,
    ...Object.fromEntries(subjects.map(({ name, cells }) => [name, cells[i]])),
  }));
}
