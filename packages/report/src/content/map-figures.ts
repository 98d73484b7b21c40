/** The map's figures: groups on the map, one spline coefficient, the models side by side. */
import { SUPPORTED, similarFollowed } from "@trajectory-maps/core/models";
import { caveatOf, withCaveat } from "../figures/caveat.ts";
import type { DataTable, Figure } from "../figures/figure.ts";
import { solidIndex } from "../figures/group-courses.ts";
import { drawGroupMap } from "../figures/group-map.ts";
import { levelText } from "../figures/map-base.ts";
import { type MapData, prepareMap } from "../figures/map-data.ts";
import { drawOutcomeMaps, prepareOutcomeMaps } from "../figures/outcome-maps.ts";
import { drawTerrainMap } from "../figures/terrain-map.ts";
import { cell, counted, fixed, interval, NONE, percent, pValue } from "../numbers.ts";
import { cellsOf } from "../small-cells.ts";
import type { Numbers } from "../study.ts";
import { capital, midSentence, modelName, outcomeName } from "../words.ts";
import type { Context } from "./context.ts";
import { differenceFigure } from "./difference-figure.ts";

/** Figures that need places on a map; none without them. */
export function mapFigures(context: Context): Figure[] {
  const map = prepareMap(context.study);
  if (map === undefined) return [];
  const figures = [groupMapFigure(context, map), coefficientFigure(context, map)];
  const more = [outcomeFigure(context, map), differenceFigure(context, map)];
  const caveat = context.verdict === undefined ? null : caveatOf(context.verdict);
  return [...figures, ...more.filter((figure) => figure !== undefined)].map((figure) => withCaveat(figure, caveat));
}

function groupMapFigure(context: Context, map: MapData): Figure {
  const { groups, smallCell } = context;
  const { value } = map;
  const unit = value.unit === "" ? "" : `, ${value.unit}`;
  const marks =
    map.individualLevel === "places"
      ? "Each dot is one individual. Dots that lie close together have similar courses."
      : `Each disc is a place, its area the number of individuals${groups.length > 0 ? ", its colour their most common group" : ""}.`;
  const flat = map.mapDimension === 1 ? " The map has one dimension; height only keeps marks apart." : "";
  const third = map.mapDimension === 3 ? " The map has three dimensions; the first two are shown." : "";
  return {
    key: "map",
    title: "Where individuals are",
    caption: `${marks} Lines: expected ${value.title}${unit}.${flat}${third}`,
    summary: mapSummary(context, map),
    table: groupTable(context, map, smallCell),
    width: 540,
    draw: (canvas) => drawGroupMap(map, canvas),
  };
}

function mapSummary({ groups, sizes, smallCell }: Context, map: MapData): string {
  const { levels, decimals, title } = map.value;
  const range =
    levels.length === 0
      ? `Expected ${title} hardly changes over the map.`
      : `Expected ${title} runs from under ${levelText(levels[0], decimals)} to over ${levelText(levels[levels.length - 1], decimals)} over the map.`;
  const parts = groups.map(({ letter, name }, k) => `${letter} ${name}: ${sizes[k]} individuals`);
  return `Map of ${counted(map.visits.length, "individual", smallCell)}. ${range}${parts.length > 0 ? ` Groups: ${parts.join("; ")}.` : ""}`;
}

/** The groups' median courses at the time of the lines, as in the figure of the groups: told while half are followed. */
function groupTable({ groups, sizes, study, decimals }: Context, map: MapData, limit: number): DataTable {
  if (groups.length === 0) {
    return { columns: ["", "individuals"], rows: [["everyone", cell(study.cohort.numIndividuals, limit)]] };
  }
  return {
    columns: ["Group", "individuals", `${map.value.title}, median`, "10% to 90% of members"],
    rows: groups.map((group, k) => {
      const at = solidIndex(group, map.time, limit);
      const told =
        at === undefined
          ? [NONE, NONE]
          : [fixed(group.median[at], decimals), interval(group.lower[at], group.upper[at], decimals)];
      return [`${group.letter} ${group.name}`, sizes[k], ...told];
    }),
  };
}

function coefficientFigure(context: Context, map: MapData): Figure {
  const { coefficient } = map;
  const { levels, decimals } = coefficient;
  return {
    key: "coefficient",
    title: coefficient.title,
    caption: `Expected value over the map; it shapes the course over its part of time. Shown only where there are data. In the table: courses at the middle and along the axes, ${NONE} where fewer than ${SUPPORTED} similar individuals were followed that long.`,
    summary:
      levels.length === 0
        ? `${coefficient.title} hardly changes over the map.`
        : `${coefficient.title} runs from under ${levelText(levels[0], decimals)} to over ${levelText(levels[levels.length - 1], decimals)} over the map.`,
    table: smallCurveTable(context, map),
    width: 540,
    draw: (canvas) => drawTerrainMap(map, coefficient, canvas),
  };
}

/** The small curves in numbers: what left, right, up and down mean, while enough similar individuals are followed. */
function smallCurveTable({ study, decimals, timeWord }: Context, map: MapData): DataTable {
  const { firstTime, lastTime } = study.cohort;
  const times = [firstTime, (firstTime + lastTime) / 2, lastTime];
  const place = (axis: "x" | "y", at: number) => {
    if (at === 0) return axis === "x" ? "centre" : "centre (again)";
    const word = axis === "x" ? (at < 0 ? "left" : "right") : at < 0 ? "down" : "up";
    return `${Math.abs(at)} prior sd ${word}`;
  };
  const followedAt = study.placements && similarFollowed(study.placements);
  const pick = (place: readonly number[], values: Numbers) => {
    const followed = followedAt?.(place.slice(0, map.mapDimension));
    const shown = [0, (values.length - 1) / 2, values.length - 1].map((k) => fixed(values[k], decimals));
    return shown.map((text, k) => (followed !== undefined && followed(times[k]) < SUPPORTED ? NONE : text));
  };
  return {
    columns: ["Place", ...times.map((t) => `expected at ${timeWord} ${fixed(t, 1)}`)],
    rows: map.curves
      .filter(({ axis, at }) => axis === "x" || at !== 0)
      .map(({ axis, at, values }) => [place(axis, at), ...pick(axis === "x" ? [at, 0, 0] : [0, at, 0], values)]),
  };
}

function outcomeFigure(context: Context, map: MapData): Figure | undefined {
  const { study, mapOutcome, smallCell } = context;
  if (mapOutcome === undefined || map.mapDimension !== 2) return undefined;
  const tested = study.association?.outcomes.find(({ outcome }) => outcome === mapOutcome.name);
  const own = study.association?.primary ?? study.model?.kind ?? "dtm";
  const note = (name: string) => {
    const result = tested?.representations[name];
    if (result === undefined) return "";
    const auc =
      result.auc === undefined
        ? ""
        : `AUC ${fixed(result.auc.value, 2)} (${fixed(result.auc.lower, 2)} to ${fixed(result.auc.upper, 2)}), `;
    return `${auc}p ${pValue(result.p, result.draws)}`;
  };
  const others = (study.baselines ?? [])
    .filter(({ placements }) => placements.mapDimension === 2)
    .map(({ name, placements }) => ({ title: modelName(name), note: note(name), places: placements.location }));
  const maps = prepareOutcomeMaps(map, mapOutcome, others, {
    title: modelName(study.model?.kind ?? "dtm"),
    note: note(own),
  });
  const name = midSentence(outcomeName(mapOutcome.name));
  const counts = [1, 0, 255].map((value) => Array.from(mapOutcome.labels).filter((v) => v === value).length);
  const [cases] = cellsOf(counts, smallCell);
  const dots = map.individualLevel === "places";
  return {
    key: "outcome-maps",
    title: `${outcomeName(mapOutcome.name)} on ${maps.panels.length === 1 ? "the map" : "the maps of the models"}`,
    caption: dots
      ? `Filled: with ${name}. Hollow: without. The other models' places are turned and scaled as a whole to lie closest to the map.`
      : `Share of individuals with ${name}, smoothed. The other models' places are turned and scaled as a whole to lie closest to the map.`,
    summary: `${capital(cases)} individuals have the outcome. ${maps.panels
      .map(
        ({ title }, k) =>
          `${title}: smoothed share ${percent(maps.spread[k][0])} to ${percent(maps.spread[k][2])} (10th to 90th percentile of individuals)`,
      )
      .join("; ")}.`,
    table: {
      columns: ["Model", "share, 10th percentile", "median", "90th percentile", "relation"],
      rows: maps.panels.map(({ title, note: relation }, k) => [
        title,
        ...maps.spread[k].map((v) => percent(v)),
        relation === "" ? NONE : capital(relation),
      ]),
    },
    width: 1112,
    draw: (canvas) => drawOutcomeMaps(maps, canvas),
  };
}
