/**
 * Statistics of a cohort as shards of bytes, for files and for other engines (docs/statistics-file.md): what all shards share, as JSON,
 * and for each marker columns of little-endian numbers, individuals in their order. Put together, individuals stand in the order of a
 * cohort, by id, whichever shards they came in: a fit of the shards is the fit of the cohort. 148 bytes an individual and marker for the default basis and white noise or levels.
 */
import type { Basis } from "../../basis/bspline.ts";
import {
  type BasisStatistics,
  basisStatistics,
  type CohortStatistics,
  numVisits,
  pooledGram,
} from "../../basis/statistics.ts";
import { bandIndices } from "../../basis/visit-columns.ts";
import { type Cohort, compareText } from "../../cohort/cohort.ts";
import type { Marker } from "../../cohort/marker.ts";
import { markerCohort } from "../../cohort/several-markers.ts";
import { DtmError } from "../../errors.ts";
import type { Noise } from "../../noise/noise.ts";
import type { ColumnNames } from "../fit.ts";
import { canonicalJson } from "./canonical-json.ts";
import { planSchema, STATISTICS_FORMAT } from "./file-schema.ts";

/** What all shards of a cohort share. */
export interface StatisticsPlan {
  readonly format: typeof STATISTICS_FORMAT;
  readonly formatVersion: 1;
  readonly markers: readonly PlanMarker[];
  /** What a fit is to warn of. */
  readonly warnings: readonly string[];
}

interface PlanMarker extends Pick<BasisStatistics, "basis" | "noise" | "center"> {
  readonly marker: Marker;
  readonly columns?: ColumnNames;
}

/** The plan of statistics that a cohort has. */
export function statisticsPlan(
  statistics: CohortStatistics,
  markers: readonly Marker[],
  columns: readonly ColumnNames[],
  warnings: readonly string[],
): StatisticsPlan {
  return {
    format: STATISTICS_FORMAT,
    formatVersion: 1,
    markers: statistics.map(({ basis, noise, center }, k) => ({
      marker: markers[k],
      ...(columns[k] && { columns: columns[k] }),
      ...{ basis, noise, center },
    })),
    warnings,
  };
}

/** Statistics of a cohort with the markers of a plan, in its basis, centre and noise. */
export function plannedStatistics({ markers }: StatisticsPlan, cohort: Cohort): CohortStatistics {
  return markers.map(({ basis, center, noise }, k) =>
    basisStatistics(markerCohort(cohort, k), basis, { center, noise }),
  );
}

/** A plan as text. */
export function planText(plan: StatisticsPlan): string {
  return canonicalJson(plan);
}

/**
 * A plan from text.
 * @throws DtmError "bad-statistics" for any other text.
 */
export function readPlan(text: string, file: string): StatisticsPlan {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  const read = planSchema.safeParse(json);
  if (read.success) return read.data;
  throw badFile(file, "the plan that `dtm statistics` writes", read.error.issues[0]?.message ?? "other text");
}

function badFile(file: string, expected: string, received: string): DtmError {
  return new DtmError(
    "bad-statistics",
    `${file}: expected ${expected}, received ${received}. Write it with \`dtm statistics\`, or as docs/statistics-file.md says.`,
  );
}

interface ShardColumn {
  readonly name: "gram" | "cross" | "sumSquares" | "visits" | "logDets" | "counts";
  /** Entries per individual. */
  readonly width: number;
}

/** Columns of one marker in a shard; those are left out that follow from the others. */
function columnsOf({ basis, noise }: PlanMarker): ShardColumn[] {
  const columns: ShardColumn[] = [
    { name: "gram", width: bandOf(basis, noise).numBand },
    { name: "cross", width: basis.numBasis },
    { name: "sumSquares", width: 1 },
    { name: "visits", width: 1 },
  ];
  if (noise.correlation !== undefined || noise.limits !== undefined) columns.push({ name: "logDets", width: 1 });
  if (noise.limits !== undefined) columns.push({ name: "counts", width: 1 });
  return columns;
}

/** Entries of G that are kept: a band, or all where visits are correlated. */
function bandOf({ numBasis: d, degree }: Basis, { correlation }: Noise) {
  return bandIndices(d, correlation === undefined ? degree : d - 1);
}

/** Name of a column of marker k in a file. */
function columnName(name: string, k: number): string {
  return `${name}_${k + 1}`;
}

/** Names of the columns of bytes of a plan. */
export function shardColumns({ markers }: StatisticsPlan): string[] {
  return markers.flatMap((marker, k) => [
    ...columnsOf(marker).map(({ name }) => columnName(name, k)),
    ...(needsDesign(marker) ? [columnName("design", k)] : []),
  ]);
}

/** Ḡ follows from G where it is B'B. */
function needsDesign({ noise }: PlanMarker): boolean {
  return noise.correlation !== undefined || noise.limits !== undefined;
}

/** One shard: ids, and bytes by the name of their column. */
export interface StatisticsShard {
  readonly ids: readonly string[];
  readonly bytes: { readonly [column: string]: Uint8Array };
}

/** Individuals from..to−1 of a cohort's statistics as a shard. */
export function packShard(
  statistics: CohortStatistics,
  ids: readonly string[],
  { markers }: StatisticsPlan,
  { from, to }: { readonly from: number; readonly to: number },
): StatisticsShard {
  const bytes: Record<string, Uint8Array> = {};
  statistics.forEach((own, k) => {
    for (const { name, width } of columnsOf(markers[k])) {
      bytes[columnName(name, k)] = bytesOf(own[name].subarray(from * width, to * width));
    }
    // The whole cohort's Σ B'B stands in its first shard.
    if (needsDesign(markers[k])) {
      const total = numVisits(own);
      bytes[columnName("design", k)] = bytesOf(own.averageGram.map((v) => (from === 0 && total > 0 ? v * total : 0)));
    }
  });
  return { ids: ids.slice(from, to), bytes };
}

function bytesOf(column: Float64Array | Int32Array): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength).slice();
}

/** A cohort's statistics put together from shards. */
export interface StatisticsBuilder {
  add(shard: StatisticsShard, file: string): void;
  finish(): { readonly ids: string[]; readonly statistics: CohortStatistics };
}

/** A builder for `numIndividuals` individuals; `buffer` gives memory, shared memory for threads perhaps. */
export function buildStatistics(
  plan: StatisticsPlan,
  numIndividuals: number,
  buffer: (bytes: number) => ArrayBufferLike = (bytes) => new ArrayBuffer(bytes),
): StatisticsBuilder {
  const ids: string[] = [];
  const floats = (length: number) => new Float64Array(buffer(8 * length));
  const parts = plan.markers.map((marker) => ({
    columns: columnsOf(marker).map(({ name, width }) => {
      const length = numIndividuals * width;
      const values = name === "visits" ? new Int32Array(buffer(4 * length)) : floats(length);
      return { name, width, values };
    }),
    designs: [] as { readonly first: string; readonly sums: Float64Array }[],
  }));
  return {
    add: (shard, file) => {
      const at = ids.length;
      const n = shard.ids.length;
      if (at + n > numIndividuals) throw badFile(file, `${numIndividuals} individuals`, `at least ${at + n}`);
      parts.forEach(({ columns, designs }, k) => {
        for (const { name, width, values } of columns) {
          const bytes = shard.bytes[columnName(name, k)];
          const target = values.subarray(at * width, (at + n) * width);
          if (!(bytes instanceof Uint8Array) || bytes.byteLength !== target.byteLength) {
            throw badFile(
              file,
              `${target.byteLength} bytes of ${columnName(name, k)} for ${n} individuals`,
              bytes instanceof Uint8Array ? String(bytes.byteLength) : "no such column, or an empty cell",
            );
          }
          new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(bytes);
        }
        const more = shard.bytes[columnName("design", k)];
        if (more === undefined || n === 0) return;
        const expected = 8 * plan.markers[k].basis.numBasis ** 2;
        if (more.byteLength !== expected) {
          throw badFile(file, `${expected} bytes of ${columnName("design", k)}`, String(more.byteLength));
        }
        designs.push({ first: shard.ids[0], sums: new Float64Array(more.slice().buffer) });
      });
      for (const id of shard.ids) ids.push(id);
    },
    finish: () => {
      const m = ids.length;
      if (m !== numIndividuals) throw badFile("statistics", `${numIndividuals} individuals`, String(m));
      const order = orderOfIds(ids);
      if (order !== undefined) {
        for (const { columns } of parts) for (const { values, width } of columns) takeInOrder(values, width, order);
        const before = ids.slice();
        order.forEach((from, i) => {
          ids[i] = before[from];
        });
      }
      return { ids, statistics: plan.markers.map((marker, k) => finished(marker, parts[k], m, floats)) };
    },
  };
}

/** Who comes at each place in the order of a cohort; undefined if everybody is there already. */
function orderOfIds(ids: readonly string[]): Int32Array | undefined {
  if (ids.every((id, i) => i === 0 || compareText(ids[i - 1], id) < 0)) return undefined;
  return Int32Array.from(ids, (_, i) => i).sort((a, b) => compareText(ids[a], ids[b]) || a - b);
}

/** Rows of a column in another order, in place: row i becomes what row order[i] was, cycle by cycle. */
function takeInOrder(values: Float64Array | Int32Array, width: number, order: Int32Array): void {
  const done = new Uint8Array(order.length);
  for (let start = 0; start < order.length; start++) {
    if (done[start] === 1) continue;
    const first = values.slice(start * width, (start + 1) * width);
    let to = start;
    for (let from = order[to]; from !== start; to = from, from = order[to]) {
      values.copyWithin(to * width, from * width, (from + 1) * width);
      done[to] = 1;
    }
    values.set(first, to * width);
    done[to] = 1;
  }
}

interface MarkerParts {
  readonly columns: readonly { readonly name: string; readonly values: Float64Array | Int32Array }[];
  /** Σ B'B of each shard, with its first id: they are added in the order of these. */
  readonly designs: { readonly first: string; readonly sums: Float64Array }[];
}

function finished(
  marker: PlanMarker,
  { columns, designs }: MarkerParts,
  m: number,
  floats: (length: number) => Float64Array,
): BasisStatistics {
  const { basis, noise, center } = marker;
  const { numBand, bandRow, bandColumn } = bandOf(basis, noise);
  const found = Object.fromEntries(columns.map(({ name, values }) => [name, values])) as Pick<
    BasisStatistics,
    "gram" | "cross" | "sumSquares" | "visits"
  > &
    Partial<Pick<BasisStatistics, "logDets" | "counts">>;
  for (const [name, values] of Object.entries(found)) {
    const wrong = values.findIndex((v) => !Number.isFinite(v) || (name === "visits" && v < 0));
    if (wrong >= 0)
      throw badFile("statistics", `finite numbers of ${name}, visits of 0 or more`, String(values[wrong]));
  }
  const total = numVisits(found);
  const counts = found.counts ?? floats(m);
  if (found.counts === undefined) counts.set(found.visits);
  const own = {
    ...{ basis, noise, center, numIndividuals: m },
    ...{ numBand, bandRow, bandColumn },
    ...{ ...found, counts, logDets: found.logDets ?? floats(m) },
    numObservations: found.counts === undefined ? total : counts.reduce((sum, n) => sum + n, 0),
  } as Omit<BasisStatistics, "averageGram">;
  const design = new Float64Array(basis.numBasis ** 2);
  for (const { sums } of designs.sort((a, b) => compareText(a.first, b.first))) {
    for (let e = 0; e < design.length; e++) design[e] += sums[e];
  }
  const averageGram = (needsDesign(marker) ? design : pooledGram(own)).map((v) => v / total);
  return { ...own, averageGram };
}
