/** The quality of a cohort as a page of text. */
import {
  applyTransform,
  type CohortQuality,
  type FiveNumbers,
  limitWords,
  type MarkersQuality,
} from "@trajectory-maps/core/ingest";
import type { SuspectValue } from "@trajectory-maps/core/study";
import { table } from "./table.ts";
import { chance, counted, percent, significant, whole } from "./words.ts";

const TITLE = 12;
const SHADES = [" ", "·", "+", "o", "O", "@"];
const BLOCKS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const line = (title: string, text: string) => `${title.padEnd(TITLE)}${text}`;

export function qualityPage(quality: CohortQuality): string {
  const { marker, individuals, observations, rows, rowsLeftOut, values } = quality;
  const unit = marker.unit && ` ${marker.unit}`;
  const time = marker.timeUnit && ` ${marker.timeUnit}`;
  const lines = [
    line("Cohort", `${counted(individuals, "individual")}, ${counted(observations, "observation")} of ${marker.name}`),
    line("Rows", `${whole(rows)} in the file, ${whole(rowsLeftOut)} left out`),
    line(
      "Visits",
      `${middle(quality.visits)} per individual; ${whole(quality.singleVisit)} with a single visit (${percent(quality.singleVisit / individuals)})`,
    ),
    line(
      "Times",
      `${significant(quality.firstTime)} to ${significant(quality.lastTime)}${time}; ${counted(quality.distinctTimes, "distinct time")}`,
    ),
    line(
      "Spans",
      quality.spans === null
        ? "no individual has two visits"
        : `${middle(quality.spans)}${time} from first to last visit`,
    ),
    line("Gaps", quality.gaps === null ? "none" : `${middle(quality.gaps)}${time} between consecutive visits`),
    line(
      "Values",
      `mean ${significant(values.mean)}, sd ${significant(values.sd)}, ${middle(values.quantiles)}${unit}`,
    ),
    line("", histogramLine(quality)),
    ...limitLine(quality),
  ];
  return [lines.join("\n"), visitTable(quality), findings(quality), design(quality)].join("\n\n");
}

/** How many values are only known to lie below or above a limit. */
function limitLine({ limits, observations }: CohortQuality): string[] {
  if (limits.length === 0) return [];
  const count = limits.reduce((sum, limit) => sum + limit.count, 0);
  const words = `${counted(count, "value")} below or above a limit (${percent(count / observations)})`;
  return [line("Limits", `${words}: ${limitWords(limits, significant)}; counted above with the limit`)];
}

/** A page of all markers together and one of each. */
export function markersPage(quality: MarkersQuality): string {
  const { individuals, observations, rows, rowsLeftOut, markers, lacking, warnings } = quality;
  const lines = [
    line(
      "Cohort",
      `${counted(individuals, "individual")}, ${counted(observations, "observation")} of ${markers.length} markers`,
    ),
    line("Rows", `${whole(rows)} in the file, ${whole(rowsLeftOut)} left out`),
    ...warnings.map(({ code, received, remedy }) => line("Note", `${received}. ${remedy} [${code}]`)),
  ];
  const each = markers.map((own, k) => [
    own.marker.name,
    own.marker.transform,
    own.marker.unit,
    whole(own.individuals),
    whole(lacking[k] ?? 0),
    whole(own.observations),
    significant(own.visits[2]),
  ]);
  const header = ["marker", "transform", "unit", "individuals", "lacking it", "values", "median per individual"];
  const pages = markers.map((own) => `${own.marker.name.toUpperCase()}\n${qualityPage(own)}`);
  return [lines.join("\n"), table(header, each), ...pages].join("\n\n");
}

/** Suspect values written out at most. */
const SUSPECTS_SHOWN = 10;

/** A value that is probably wrong; with its marker where there are several. */
function suspectText({ id, marker, time, value, expected, probability }: SuspectValue, several: boolean): string {
  const what = several ? `${marker} ${significant(value)}` : significant(value);
  return `${id}, time ${significant(time)}, ${what}, expected about ${significant(expected)}, P ${chance(probability)}`;
}

/** How many of them each individual has. */
export function countById(suspects: readonly SuspectValue[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { id } of suspects) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

/** What to warn of where values of individuals that are placed are probably wrong. */
export function suspectWarning(suspects: readonly SuspectValue[], several: boolean): string {
  const ordered = [...suspects].sort((a, b) => b.probability - a.probability);
  const shown = ordered.slice(0, SUSPECTS_SHOWN).map((suspect) => suspectText(suspect, several));
  const more = suspects.length > SUSPECTS_SHOWN ? `; and ${suspects.length - SUSPECTS_SHOWN} more` : "";
  return `${counted(suspects.length, "value")} probably wrong, but used as given, so that places and forecasts of these individuals are not to be trusted: ${shown.join("; ")}${more}. Look them up and correct them.`;
}

/** Values that are probably wrong, most probable first, ten at most and a count. */
export function suspectLines(suspects: readonly SuspectValue[] | null): string {
  if (suspects === null) return line("Suspect", "not looked for in so many individuals");
  if (suspects.length === 0) return line("Suspect", "no value is probably wrong");
  const ordered = [...suspects].sort((a, b) => b.probability - a.probability);
  const several = new Set(suspects.map(({ marker }) => marker)).size > 1;
  const shown = ordered.slice(0, SUSPECTS_SHOWN).map((suspect) => line("", suspectText(suspect, several)));
  const more = suspects.length > SUSPECTS_SHOWN ? [line("", `and ${suspects.length - SUSPECTS_SHOWN} more`)] : [];
  const head = `${counted(suspects.length, "value")} probably wrong, judged by the individual's others; nothing was removed`;
  return [line("Suspect", head), ...shown, ...more].join("\n");
}

/** "median 5 (IQR 3-9, range 1-16)". */
function middle([least, low, median, high, most]: FiveNumbers): string {
  return `median ${significant(median)} (IQR ${significant(low)}-${significant(high)}, range ${significant(least)}-${significant(most)})`;
}

function visitTable({ visitClasses, individuals }: CohortQuality): string {
  const names = ["1", "2", "3", "4-5", "6-8", "9+"];
  const rows = [
    ["individuals", ...visitClasses.map(whole)],
    ["share", ...visitClasses.map((n) => percent(n / individuals))],
  ];
  return table(["visits", ...names], rows);
}

function findings({ findings: found, warnings }: CohortQuality): string {
  const kinds: [string, number, one: string, many: string][] = [
    ["Missing", found.missing, "row without a value, left out", "rows without a value, left out"],
    ["Repeated", found.duplicates, "exact repeat of another row", "exact repeats of another row"],
    [
      "Same time",
      found.sameTime,
      "further value at the same time, kept as a repeated measurement",
      "further values at the same time, kept as repeated measurements",
    ],
    [
      "Codes",
      found.suspectedCodes,
      "value that looks like a code for missing data",
      "values that look like codes for missing data",
    ],
    [
      "Outliers",
      found.outliers,
      "value far from the individual's others or from all others",
      "values far from the individual's others or from all others",
    ],
    ["Early", found.negativeTimes, "time below 0", "times below 0"],
  ];
  const lines = kinds.map(([title, n, one, many]) =>
    line(title, n === 0 ? "none" : `${whole(n)} ${n === 1 ? one : many}`),
  );
  const shown = new Set([
    "missing-value",
    "duplicate-rows",
    "same-time",
    "suspected-missing-code",
    "outlier",
    "negative-time",
  ]);
  for (const { code, received, remedy } of warnings) {
    if (!shown.has(code)) lines.push(line("Note", `${received}. ${remedy} [${code}]`));
  }
  return lines.join("\n");
}

/** Which pairs of times are seen in the same individuals, time upwards and to the right. */
function design({ design: { edges, counts, covered }, individuals, marker }: CohortQuality): string {
  const n = edges.length - 1;
  const shade = (c: number) => {
    if (c === 0) return " ";
    const share = c / individuals;
    return SHADES[share < 0.01 ? 1 : share < 0.05 ? 2 : share < 0.15 ? 3 : share < 0.3 ? 4 : 5] ?? "@";
  };
  const rows = Array.from({ length: n }, (_, r) => {
    const a = n - 1 - r;
    const label = r % 3 === 0 ? significant(edges[a + 1] ?? 0) : "";
    const cells = Array.from({ length: n }, (_, b) => shade(counts[a * n + b] ?? 0).repeat(2)).join(" ");
    return `${label.padStart(TITLE - 2)} |${cells.trimEnd()}`;
  });
  const width = 3 * n - 1;
  const axis = `${significant(edges[0] ?? 0)}${significant(edges[n] ?? 0).padStart(width - significant(edges[0] ?? 0).length)}`;
  const unit = marker.timeUnit === "" ? "time" : marker.timeUnit;
  return [
    line(
      "Design",
      `pairs of times (${unit}) seen in the same individual; ${percent(covered)} of all pairs are covered`,
    ),
    line("", "share of individuals:  · under 1%   + 1-5%   o 5-15%   O 15-30%   @ 30% or more"),
    ...rows,
    `${" ".repeat(TITLE - 1)}+${"-".repeat(width)}`,
    `${" ".repeat(TITLE)}${axis}`,
  ].join("\n");
}

/** Bars with the ends of their bins, and the scale on which bins are equal where it is not the marker's own. */
function histogramLine({ histogram: { edges, counts }, marker: { transform } }: CohortQuality): string {
  const scaled = transform !== "identity" && edges.every((edge) => Number.isFinite(applyTransform(transform, edge)));
  const ends = `${significant(edges[0] ?? 0)} to ${significant(edges[edges.length - 1] ?? 0)}`;
  return `${bars(counts)}  ${ends}${scaled ? `, ${transform} scale` : ""}`;
}

function bars(counts: readonly number[]): string {
  const most = Math.max(...counts, 1);
  return counts.map((c) => (c === 0 ? " " : (BLOCKS[Math.min(7, Math.floor((8 * c) / (most + 1e-9)))] ?? ""))).join("");
}
