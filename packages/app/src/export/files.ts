/**
 * The files a study can be saved as, each with a list of what it holds. `individual` files hold data of single people and
 * say so; the others hold none, and counts below the limit are written "<11" in them.
 */
import { type Groups, numIndividuals, saveModel } from "@trajectory-maps/core";
import { onlyMarker } from "@trajectory-maps/core/ingest";
import { isMapModel } from "@trajectory-maps/core/models";
import { cellsOf, counted, figureToSvg, renderReport, studyFigures, toCsv } from "@trajectory-maps/report";
import { zipSync } from "fflate";
import { studyOf } from "../lib/report-study.ts";
import { svgToPng } from "../lib/save.ts";
import type { Explorer } from "../state/explorer.svelte.ts";
import { mapSvg } from "./map-export.ts";

export interface ExportFile {
  readonly key: string;
  readonly label: string;
  readonly name: string;
  readonly type: string;
  /** What it holds, in words. */
  readonly contains: string;
  /** Whether it holds data of single individuals. */
  readonly individual: boolean;
  readonly make: () => string | Uint8Array | Promise<string | Uint8Array>;
}

const SMALL_CELL = 11;

/** Every file that can be made of what is there now. */
export function exportFiles(explorer: Explorer): ExportFile[] {
  const { loaded, groups, view } = explorer;
  const fitted = explorer.wholeFit;
  if (loaded === null) return [];
  const files: ExportFile[] = [];
  const stem = stemOf(loaded.source);
  const title = `Map of ${onlyMarker(loaded.cohort).marker.name}`;
  const source = `${loaded.source}, ${counted(numIndividuals(loaded.cohort), "individual")}`;
  if (fitted !== null) {
    const { model, placements } = fitted;
    if (mapSvg(title, source) !== null) {
      const contains = "one dot for each individual, without ids; terrain, groups and legend";
      const picture = () => mapSvg(title, source) ?? "";
      files.push(
        {
          key: "map-svg",
          label: "Map as SVG",
          name: `${stem}-map.svg`,
          type: "image/svg+xml",
          contains,
          individual: true,
          make: picture,
        },
        {
          key: "map-png",
          label: "Map as PNG",
          name: `${stem}-map.png`,
          type: "image/png",
          contains,
          individual: true,
          make: () => svgToPng(picture()),
        },
      );
    }
    const places = isMapModel(model)
      ? `${model.markers[0].map.numInducing} inducing points, ${model.markers.reduce((n, { map, basis }) => n + map.numInducing * basis.numBasis, 0)} values, `
      : "";
    files.push({
      key: "model",
      label: "Model",
      name: `${stem}-model.json`,
      type: "application/json",
      contains: `${places}settings and the record of the fit`,
      individual: false,
      make: () => saveModel(model),
    });
    files.push({
      key: "places",
      label: "Places",
      name: `${stem}-places.csv`,
      type: "text/csv",
      contains: `ids, places, their uncertainty, visits and groups of ${counted(placements.ids.length, "individual")}`,
      individual: true,
      make: () => placesCsv(explorer),
    });
    if (groups !== null) {
      files.push({
        key: "courses",
        label: "Group courses",
        name: `${stem}-groups.csv`,
        type: "text/csv",
        contains: `${counted(groups.groups.length, "median course")} with their 10–90% fans and sizes, where 11 or more are followed`,
        individual: false,
        make: () => coursesCsv(explorer),
      });
    }
    if (view.selection !== null) {
      files.push({
        key: "selection",
        label: "Selection",
        name: `${stem}-selection.csv`,
        type: "text/csv",
        contains: `ids, visits and groups of ${counted(view.selection.members.length, "selected individual")}`,
        individual: true,
        make: () => selectionCsv(explorer),
      });
    }
  }
  files.push({
    key: "report",
    label: "Report",
    name: `${stem}-report.html`,
    type: "text/html",
    contains: "figures, tables, methods and the checklist; counts below 11 are withheld",
    individual: false,
    make: () => {
      const study = studyOf(explorer, { date: today() });
      return study === null ? "" : renderReport(study, { document });
    },
  });
  files.push({
    key: "settings",
    label: "Settings",
    name: `${stem}-view.json`,
    type: "application/json",
    contains: "what is shown: step, colours, terrain, window, positions that are selected",
    individual: false,
    make: () => settingsText(explorer),
  });
  return files;
}

/** All files and every figure of the report in one zip. */
export async function everything(explorer: Explorer): Promise<Uint8Array> {
  const entries: Record<string, Uint8Array> = {};
  const encode = new TextEncoder();
  for (const file of exportFiles(explorer)) {
    const made = await file.make();
    entries[file.name] = typeof made === "string" ? encode.encode(made) : made;
  }
  const study = studyOf(explorer, { date: today() });
  if (study !== null) {
    for (const figure of studyFigures(study)) {
      entries[`figures/${figure.key}.svg`] = encode.encode(figureToSvg(figure, { document }));
    }
  }
  return zipSync(entries, { level: 6 });
}

/** The view without data, as a small file. */
function settingsText(explorer: Explorer): string {
  return `${JSON.stringify({ format: "trajectory-maps-view", version: 1, fragment: explorer.fragmentOf(explorer.view) }, null, 2)}\n`;
}

/** The fragment of a settings file, or null if it is something else. */
export function readSettings(text: string): string | null {
  try {
    const { format, version, fragment } = JSON.parse(text) as Record<string, unknown>;
    return format === "trajectory-maps-view" && version === 1 && typeof fragment === "string" ? fragment : null;
  } catch {
    return null;
  }
}

function placesCsv({ fitted, groups }: Explorer): string {
  if (fitted === null) return "";
  const { placements } = fitted;
  const q = placements.mapDimension;
  const axes = Array.from({ length: q }, (_, k) => k);
  const pairs = axes.flatMap((a) => axes.filter((b) => b >= a).map((b) => [a, b] as const));
  const K = groups?.groups.length ?? 0;
  const header = [
    "id",
    ...axes.map((a) => `x${a + 1}`),
    ...pairs.map(([a, b]) => `var${a + 1}${b + 1}`),
    "visits",
    "first_time",
    "last_time",
    ...(groups === null ? [] : ["group", ...groups.groups.map(({ letter }) => `probability_${letter}`)]),
  ];
  const rows = placements.ids.map((id, i) => [
    id,
    ...axes.map((a) => placements.location[i * q + a]),
    ...pairs.map(([a, b]) => placements.covariance[i * q * q + a * q + b]),
    placements.numObservations[i],
    placements.firstTime[i],
    placements.lastTime[i],
    ...(groups === null
      ? []
      : [groups.groups[groups.labels[i]]?.letter ?? "", ...groups.membership.subarray(i * K, (i + 1) * K)]),
  ]);
  return toCsv(header, rows);
}

/** Courses of groups while eleven of their members or more are followed; sizes as a shared report tells them. */
function coursesCsv(explorer: Explorer): string {
  const groups = explorer.wholeGroups;
  if (groups === null) return "";
  const several = explorer.views.length > 1;
  const header = [
    "group",
    "name",
    "individuals",
    ...(several ? ["marker"] : []),
    "time",
    "median",
    "lower10",
    "upper90",
  ];
  return toCsv(
    header,
    courseRows(groups.groups, (k) => explorer.groupName(k), several),
  );
}

/** Rows of the table of courses. */
export function courseRows(groups: Groups["groups"], nameOf: (k: number) => string, several: boolean) {
  const sizes = cellsOf(
    groups.map(({ numMembers }) => numMembers),
    SMALL_CELL,
  );
  return groups.flatMap(({ letter, followed, course: own, markers = [{ marker: "", course: own }] }, k) =>
    markers.flatMap(({ marker, course }) =>
      Array.from(course.times, (time, t) => {
        const isTold = (followed[t] ?? 0) >= SMALL_CELL;
        const told = isTold ? [course.median[t], course.lower[t], course.upper[t]] : ["", "", ""];
        return [letter, nameOf(k), sizes[k], ...(several ? [marker] : []), time, ...told];
      }),
    ),
  );
}

function selectionCsv({ fitted, groups, view }: Explorer): string {
  if (fitted === null || view.selection === null) return "";
  const { placements } = fitted;
  const rows = view.selection.members.map((i) => [
    placements.ids[i],
    placements.numObservations[i],
    placements.firstTime[i],
    placements.lastTime[i],
    groups?.groups[groups.labels[i]]?.letter ?? "",
  ]);
  return toCsv(["id", "visits", "first_time", "last_time", "group"], rows);
}

/** A file name from the name of the source. */
function stemOf(source: string): string {
  const bare = source.replace(/\.(csv|tsv|txt|gz)$/gi, "").replace(/\.(csv|tsv|txt)$/i, "");
  return (
    bare
      .replace(/[^\w-]+/g, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, 60) || "study"
  );
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
