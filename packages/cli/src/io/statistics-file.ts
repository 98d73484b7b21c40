/**
 * Files of statistics (docs/statistics-file.md): Parquet with one row for each shard of individuals, numbers packed as bytes, and what all
 * shards share as JSON in the file's metadata, or in every row where an engine such as Spark wrote it, which has no say in metadata. One group
 * of rows is read at a time, so that a file needs little memory beyond what a fit keeps.
 */
import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import {
  buildStatistics,
  type CohortStatistics,
  joinStatistics,
  packShard,
  planText,
  readPlan,
  type StatisticsPlan,
  shardBlocks,
  shardColumns,
} from "@trajectory-maps/core/hosts";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, type RowGroup } from "hyparquet";
import { FileError } from "../exit-codes.ts";
import { AGREEMENT, readAgreement } from "./agreement.ts";
import { writeParquetFile } from "./parquet-file.ts";
import { reason } from "./read.ts";

const PLAN_KEY = "trajectory-maps";
const PLAN_COLUMN = "plan";
const CODEC = "UNCOMPRESSED";

/** Writes the statistics of a cohort; returns how many shards there are. */
export async function writeStatistics(
  path: string,
  plan: StatisticsPlan,
  ids: readonly string[],
  statistics: CohortStatistics,
): Promise<number> {
  const names = shardColumns(plan);
  const required = { repetition_type: "REQUIRED" } as const;
  const blocks = shardBlocks(ids.length);
  const schema = [
    { name: "root", num_children: 3 + names.length },
    { name: "shard", type: "INT32", ...required } as const,
    { name: "individuals", type: "INT32", ...required } as const,
    { name: "ids", type: "BYTE_ARRAY", converted_type: "UTF8", ...required } as const,
    ...names.map((name) => ({ name, type: "BYTE_ARRAY", ...required }) as const),
  ];
  const kvMetadata = [{ key: PLAN_KEY, value: planText(plan) }];
  function* shards() {
    for (const [shard, block] of blocks.entries()) {
      const packed = packShard(statistics, ids, plan, block);
      yield [
        { name: "shard", data: [shard] },
        { name: "individuals", data: [packed.ids.length] },
        { name: "ids", data: [JSON.stringify(packed.ids)] },
        ...names.map((name) => ({ name, data: [packed.bytes[name]!] })),
      ].map((column) => ({ ...column, encoding: "PLAIN" }) as const);
    }
  }
  await writeParquetFile(path, { schema, codec: CODEC, statistics: false, kvMetadata }, shards(), 1);
  return blocks.length;
}

/** Statistics of a cohort. */
export interface TakenStatistics {
  readonly plan: StatisticsPlan;
  readonly ids: readonly string[];
  readonly statistics: CohortStatistics;
}

/** The same from a file or several. */
export interface ReadStatistics extends TakenStatistics {
  /** SHA-256 of each row, one after the other. */
  readonly digests: readonly string[];
}

/** Files of statistics: those of a folder in the order of their names, or those of a list with commas. */
export function statisticsFiles(list: string): string[] {
  return list.split(",").flatMap((path) => {
    if (path === "") throw new FileError(`${list}: expected names of files between commas, received an empty one.`);
    try {
      if (!statSync(path).isDirectory()) return [path];
    } catch (error) {
      throw new FileError(`${path} cannot be read: ${reason(error)}.`);
    }
    const files = readdirSync(path).filter((name) => name.endsWith(".parquet"));
    if (files.length === 0) throw new FileError(`${path}: expected files of statistics (*.parquet), received none.`);
    return files.sort().map((name) => join(path, name));
  });
}

/** The plan of a file, of a folder of them, or of what several places have agreed on. */
export async function readStatisticsPlan(path: string): Promise<StatisticsPlan> {
  if (basename(path) === AGREEMENT) return readAgreement(dirname(path)).agreement.plan;
  for (const file of statisticsFiles(path)) {
    const { plan } = await openStatistics(file, { rows: [] });
    if (plan !== undefined) return plan;
  }
  throw new FileError(`${path}: expected shards of individuals, received none.`);
}

/** Rows of files: shards from..to−1 of each, of so many that the file had, with the SHA-256 of each. */
export interface StatisticsRows {
  readonly file: string;
  readonly from: number;
  readonly to: number;
  readonly of: number;
  readonly digests: readonly string[];
}

/** The rows of files of one plan, each by itself; of those that an engine wrote again one. */
export async function statisticsRows(paths: readonly string[]): Promise<StatisticsRows[]> {
  const again = paths.find((path, k) => paths.indexOf(path) < k);
  if (again !== undefined) throw new FileError(`${again}: expected each file of statistics once, received it twice.`);
  const held: HeldRows = { rows: [] };
  const found = [];
  for (const file of paths) {
    const { rows } = await openStatistics(file, held);
    found.push(...rows.map((row, from) => ({ ...row, file, from, to: from + 1, of: rows.length })));
  }
  for (const { path, plan } of found) checkPlan(path, plan, found[0]!.path, found[0]!.plan);
  const known = [];
  const keys = [];
  for (const { path, file, from, to, of, read } of await eachOnce(found)) {
    const cells = await read();
    known.push({ file, from, to, of, digests: [digestOf(cells)] });
    keys.push(BigUint64Array.from(listOf(cells.ids, path), keyOfId));
  }
  checkKeys(keys);
  return known;
}

/** Reads files of one plan, or some rows of them, their shards one after the other. */
export async function readStatistics(given: readonly (string | StatisticsRows)[]): Promise<ReadStatistics> {
  const held: HeldRows = { rows: [] };
  const found: ShardRow[] = [];
  const planned = new Map<ShardRow, string>();
  for (const one of given) {
    const { file, from, to } = typeof one === "string" ? { file: one, from: 0, to: undefined } : one;
    const { rows } = await openStatistics(file, held);
    const taken = rows.slice(from, to);
    if (typeof one !== "string") {
      if (rows.length !== one.of) throw notAsPlanned(file);
      taken.forEach((row, k) => {
        planned.set(row, one.digests[k] ?? "");
      });
    }
    found.push(...taken);
  }
  const [first] = found;
  if (first === undefined) throw new FileError("Statistics: expected shards of individuals, received none.");
  const { plan } = first;
  for (const other of found) checkPlan(other.path, other.plan, first.path, plan);
  const rows = await eachOnce(found);
  const numIndividuals = rows.reduce((sum, { individuals }) => sum + individuals, 0);
  const builder = buildStatistics(plan, numIndividuals, (bytes) => new SharedArrayBuffer(bytes));
  const digests = [];
  for (const row of rows) {
    const { path, read } = row;
    const cells = await read();
    const digest = digestOf(cells);
    if ((planned.get(row) ?? digest) !== digest) throw notAsPlanned(path);
    digests.push(digest);
    const { ids, ...bytes } = cells;
    builder.add({ ids: listOf(ids, path), bytes: bytes as Record<string, Uint8Array> }, path);
  }
  const { ids, statistics } = builder.finish();
  checkOnce(ids);
  const warnings = [...new Set(found.flatMap((row) => row.plan.warnings))];
  return { plan: { ...plan, warnings }, ids, statistics, digests };
}

/** Reads files of one plan as parts: individuals by file, in each by id. */
export async function readStatisticsByFile(paths: readonly string[]): Promise<ReadStatistics> {
  const parts = [];
  for (const path of paths) parts.push(await readStatistics([path]));
  const [first] = parts;
  if (first === undefined) throw new FileError("Statistics: expected shards of individuals, received none.");
  parts.forEach(({ plan }, k) => {
    checkPlan(paths[k]!, plan, paths[0]!, first.plan);
  });
  const ids = parts.flatMap((part) => part.ids);
  checkOnce(ids.slice().sort());
  const warnings = [...new Set(parts.flatMap(({ plan }) => plan.warnings))];
  const statistics = joinStatistics(parts.map((part) => part.statistics));
  return { plan: { ...first.plan, warnings }, ids, statistics, digests: parts.flatMap((part) => part.digests) };
}

function notAsPlanned(path: string): FileError {
  return new FileError(
    `${path}: expected the statistics that the jobs were planned for, received others: the file was written again since. Plan anew, in another folder.`,
  );
}

/** Refuses statistics of another plan. */
function checkPlan(path: string, plan: StatisticsPlan, firstPath: string, first: StatisticsPlan): void {
  if (plan === first || planText({ ...plan, warnings: [] }) === planText({ ...first, warnings: [] })) return;
  throw new FileError(
    `${path}: expected statistics in the basis, centre and noise of ${firstPath}, received others, perhaps of an earlier run. Remove them, or take them with: dtm statistics VISITS --like ${firstPath}.`,
  );
}

/** One row of a file. */
interface ShardRow {
  readonly path: string;
  readonly plan: StatisticsPlan;
  /** Whether the row says its plan itself: then its number is its key among the rows of the folder. */
  readonly ofEngine: boolean;
  readonly shard: number;
  readonly individuals: number;
  read(): Promise<Record<string, unknown>>;
}

/** Rows without those of engines that were written again. */
async function eachOnce<Row extends ShardRow>(rows: readonly Row[]): Promise<Row[]> {
  const keyOf = ({ path, shard }: ShardRow) => `${dirname(path)}\n${shard}`;
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const key of rows.filter((row) => row.ofEngine).map(keyOf)) (seen.has(key) ? repeated : seen).add(key);
  const known = new Map<string, { readonly path: string; readonly digest: string }>();
  const kept: Row[] = [];
  for (const row of rows) {
    const key = keyOf(row);
    if (row.ofEngine && repeated.has(key)) {
      const digest = digestOf(await row.read());
      const before = known.get(key);
      if (before?.digest === digest) continue;
      if (before !== undefined) {
        throw new FileError(
          `${row.path}: expected shard ${row.shard} once, received another one in ${before.path}: one of them is of an earlier run. Remove it, or write all shards anew to an empty folder.`,
        );
      }
      known.set(key, { path: row.path, digest });
    }
    kept.push(row);
  }
  return kept;
}

function digestOf(cells: Record<string, unknown>): string {
  const hash = createHash("sha256");
  for (const cell of Object.values(cells)) hash.update(cell instanceof Uint8Array ? cell : String(cell)).update("\n");
  return hash.digest("hex");
}

/** The ids of a shard. */
function listOf(text: unknown, path: string): string[] {
  try {
    const list: unknown = JSON.parse(text as string);
    if (Array.isArray(list) && list.every((id) => typeof id === "string")) return list as string[];
  } catch {
    // Told below.
  }
  throw new FileError(`${path}: expected ids as a JSON list of texts in every row, received something else.`);
}

/** 64 bits of the SHA-256 of an id: eight bytes each, where all ids would not fit into memory. */
function keyOfId(id: string): bigint {
  return createHash("sha256").update(id).digest().readBigUInt64LE();
}

/** The same for ids of shards that are never in one place. */
function checkKeys(shards: readonly BigUint64Array[]): void {
  const keys = new BigUint64Array(shards.reduce((sum, shard) => sum + shard.length, 0));
  let at = 0;
  for (const shard of shards) {
    keys.set(shard, at);
    at += shard.length;
  }
  checkOnce(keys.sort());
}

/** The same individual in two shards would count twice. In order, since a set holds 2^24 texts at most. */
function checkOnce(inOrder: ArrayLike<string | bigint>): void {
  let again = 0;
  for (let i = 1; i < inOrder.length; i++) if (inOrder[i] === inOrder[i - 1]) again++;
  if (again === 0) return;
  throw new FileError(
    `Statistics: expected every individual in one shard, received ${again} ids again. Make shards by individual.`,
  );
}

/** The group of rows that was read last: to read one row of a group is to read all of it. */
interface HeldRows {
  group?: RowGroup;
  rows: Record<string, unknown>[];
}

async function openStatistics(path: string, held: HeldRows): Promise<{ plan?: StatisticsPlan; rows: ShardRow[] }> {
  try {
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    const text = metadata.key_value_metadata?.find(({ key }) => key === PLAN_KEY)?.value;
    const ofEngine = text === undefined && metadata.schema.some(({ name }) => name === PLAN_COLUMN);
    const plans = new Map<unknown, StatisticsPlan>();
    const planOf = (written: unknown) => {
      const plan = plans.get(written) ?? readPlan(typeof written === "string" ? written : "", path);
      plans.set(written, plan);
      return plan;
    };
    const columns = ["shard", "individuals", ...(ofEngine ? [PLAN_COLUMN] : [])];
    const plan = ofEngine ? undefined : planOf(text);
    const heads = await parquetReadObjects({ file, metadata, columns });
    const groups = metadata.row_groups.flatMap((group) => Array.from({ length: Number(group.num_rows) }, () => group));
    const rows = heads.map((head, row) => {
      const own = plan ?? planOf(head[PLAN_COLUMN]);
      const group = groups[row]!;
      const from = groups.indexOf(group);
      const read = async () => {
        if (held.group !== group) {
          const columns = ["ids", ...shardColumns(own)];
          const range = { rowStart: from, rowEnd: from + Number(group.num_rows) };
          held.rows = await parquetReadObjects({ file, metadata, columns, ...range, utf8: false });
          held.group = group;
        }
        return held.rows[row - from] ?? {};
      };
      return { path, plan: own, ofEngine, shard: Number(head.shard), individuals: Number(head.individuals), read };
    });
    const [first] = rows;
    return { rows, ...(plan && { plan }), ...(first && { plan: first.plan }) };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "bad-statistics") throw error;
    throw new FileError(`${path} cannot be read as statistics: ${reason(error)}.`);
  }
}
