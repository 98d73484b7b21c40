/** Models to be served: read and checked once at the start, with what forecasts and groups of a run need in memory. */
import { basename } from "node:path";
import type { TrajectoryModel } from "@trajectory-maps/core";
import {
  basisDomain,
  codingOf,
  type ForecastGuard,
  isMapModel,
  modelMixtures,
  viewMarker,
} from "@trajectory-maps/core/models";
import type { PatientModel } from "@trajectory-maps/core/study";
import { forecastGuards } from "../commands/courses.ts";
import { placeDescribed } from "../commands/histories.ts";
import { UsageError } from "../exit-codes.ts";
import { patientModelOf } from "../io/patient-page.ts";
import { fileExists, isFolder } from "../io/read.ts";
import { hasVisits, openRun, readModel } from "../io/run-folder.ts";
import { type GroupRegions, type RunGroup, readGroupRegions } from "../io/run-groups.ts";
import type { ModelInfo } from "./schemas.ts";

export interface ServedModel {
  readonly info: ModelInfo;
  readonly model: TrajectoryModel;
  /** Of each marker, where the run keeps its visits. */
  readonly guards?: readonly ForecastGuard[];
  readonly groups?: GroupRegions;
  /** What a page for patients may hold of it. */
  readonly patient: PatientModel;
  /** Side of a cell of the lattice of places; undefined where there is none. */
  readonly cell?: number;
}

const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Models by the names they are served under: NAME=PATH, or the name of the folder or file. */
export function namedPaths(words: readonly string[]): Map<string, string> {
  const paths = new Map<string, string>();
  for (const word of words) {
    const [, given, rest] = /^([^=/\\]+)=(.+)$/.exec(word) ?? [];
    const isNamed = given !== undefined && rest !== undefined && !fileExists(word);
    const path = isNamed ? rest : word;
    const name = isNamed ? given : basename(path).replace(/\.json$/i, "");
    if (!NAME.test(name)) {
      throw new UsageError(
        `Expected a name of letters, digits, ".", "-" and "_", received "${name}". Give one: NAME=${path}.`,
      );
    }
    if (paths.has(name)) {
      throw new UsageError(`Expected a name for each model, received "${name}" twice. Give names: NAME=${path}.`);
    }
    paths.set(name, path);
  }
  return paths;
}

/** Reads a model file or a run, and places somebody without visits: what is wrong shows before the first request. */
export async function loadServed(name: string, path: string): Promise<ServedModel> {
  const model = readModel(path);
  const cohort = isFolder(path) && hasVisits(path) ? (await openRun(path)).read.cohort : undefined;
  const all = model.markers.map((_, k) => k);
  const guards = cohort === undefined || !isMapModel(model) ? undefined : forecastGuards(model, all, cohort);
  const groups = isFolder(path) ? readGroupRegions(path, model) : undefined;
  const cell = cellOf(model);
  if (codingOf(model) === undefined) placeDescribed(model, { id: "", markers: {} });
  return {
    info: infoOf(name, model, guards !== undefined, groups?.groups ?? []),
    model,
    patient: await patientModelOf(path, model, cohort),
    ...(guards && { guards }),
    ...(groups && { groups }),
    ...(cell !== undefined && { cell }),
  };
}

function infoOf(name: string, model: TrajectoryModel, guarded: boolean, groups: readonly RunGroup[]): ModelInfo {
  return {
    name,
    kind: model.kind,
    dimension: model.mapDimension,
    individuals: model.record.numIndividuals,
    markers: model.markers.map(({ marker, basis }, k) => {
      const [first, last] = basisDomain(basis);
      const { limits, ...own } = marker;
      return {
        ...{ name: own.name, unit: own.unit, timeUnit: own.timeUnit, transform: own.transform },
        ...(limits && { limits: [...limits] }),
        times: [first, last],
        calibrated: viewMarker(model, k).calibration !== undefined,
      };
    }),
    covariates: (codingOf(model)?.covariates ?? []).map((own) => ({ name: own.name, levels: [...own.levels] })),
    groups: groups.map((group) => ({ letter: group.letter, name: group.name })),
    guarded,
  };
}

/** Nodes of a row of the lattice stand one after the other: the least distance of two. */
function cellOf(model: TrajectoryModel): number | undefined {
  const q = model.mapDimension;
  if (!isMapModel(model) || q > 2) return undefined;
  const { locations: X, numNodes } = modelMixtures(model)[0]!;
  for (let g = 1; g < numNodes; g++) {
    const at = (node: number, axis: number) => X[node * q + axis] ?? Number.NaN;
    if (q === 1 || at(g, 0) === at(g - 1, 0)) return Math.abs(at(g, q - 1) - at(g - 1, q - 1));
  }
  return undefined;
}
