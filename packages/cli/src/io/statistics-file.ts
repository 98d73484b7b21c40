/**
 * Files of statistics (docs/statistics-file.md): Parquet with one row for each shard of individuals, numbers packed as bytes, and what all
 * shards share as JSON in the file's metadata. Shards are read one by one, so that a file needs no memory beyond what a fit keeps.
 */
import { chmodSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import {
  buildStatistics,
  type CohortStatistics,
  packShard,
  planText,
  readPlan,
  type StatisticsPlan,
  shardBlocks,
  shardColumns,
} from "@trajectory-maps/core/hosts";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { fileWriter, ParquetWriter } from "hyparquet-writer";
import { FileError } from "../exit-codes.ts";
import { reason } from "./read.ts";

const PLAN_KEY = "trajectory-maps";
const CODEC = "UNCOMPRESSED";

/** Writes the statistics of a cohort; returns how many shards there are. */
export async function writeStatistics(
  path: string,
  plan: StatisticsPlan,
  ids: readonly string[],
  statistics: CohortStatistics,
): Promise<number> {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  const names = shardColumns(plan);
  const required = { repetition_type: "REQUIRED" } as const;
  const blocks = shardBlocks(ids.length);
  try {
    const file = fileWriter(temporary);
    chmodSync(temporary, 0o600);
    const writer = new ParquetWriter({
      writer: file,
      schema: [
        { name: "root", num_children: 3 + names.length },
        { name: "shard", type: "INT32", ...required },
        { name: "individuals", type: "INT32", ...required },
        { name: "ids", type: "BYTE_ARRAY", converted_type: "UTF8", ...required },
        ...names.map((name) => ({ name, type: "BYTE_ARRAY", ...required }) as const),
      ],
      codec: CODEC,
      statistics: false,
      kvMetadata: [{ key: PLAN_KEY, value: planText(plan) }],
      createdBy: "trajectory-maps",
    });
    for (const [shard, block] of blocks.entries()) {
      const packed = packShard(statistics, ids, plan, block);
      const columnData = [
        { name: "shard", data: [shard] },
        { name: "individuals", data: [packed.ids.length] },
        { name: "ids", data: [JSON.stringify(packed.ids)] },
        ...names.map((name) => ({ name, data: [packed.bytes[name]!] })),
      ].map((column) => ({ ...column, encoding: "PLAIN" }) as const);
      await writer.write({ columnData, rowGroupSize: 1 });
    }
    await writer.finish();
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new FileError(`${path} cannot be written: ${reason(error)}. Existing files were not changed.`);
  }
  return blocks.length;
}

/** Statistics of a cohort from a file or several. */
export interface ReadStatistics {
  readonly plan: StatisticsPlan;
  readonly ids: readonly string[];
  readonly statistics: CohortStatistics;
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

/** The plan of a file. */
export async function readStatisticsPlan(path: string): Promise<StatisticsPlan> {
  return (await openStatistics(path)).plan;
}

/** Reads files of one plan, one after the other. */
export async function readStatistics(paths: readonly string[]): Promise<ReadStatistics> {
  const files = [];
  for (const path of paths) files.push(await openStatistics(path));
  const [first] = files;
  if (first === undefined) throw new FileError("Name a file of statistics, or a folder of them.");
  const { plan } = first;
  const text = planText({ ...plan, warnings: [] });
  for (const other of files) {
    if (planText({ ...other.plan, warnings: [] }) === text) continue;
    throw new FileError(
      `${other.path}: expected statistics in the basis, centre and noise of ${first.path}, received others. Take them with: dtm statistics VISITS --like ${first.path}.`,
    );
  }
  const numIndividuals = files.reduce((sum, { individuals }) => sum + individuals.reduce((a, b) => a + b, 0), 0);
  const builder = buildStatistics(plan, numIndividuals, (bytes) => new SharedArrayBuffer(bytes));
  for (const { path, individuals, read } of files) {
    for (let row = 0; row < individuals.length; row++) {
      const { ids, ...bytes } = await read(row);
      builder.add({ ids: listOf(ids, path), bytes: bytes as Record<string, Uint8Array> }, path);
    }
  }
  const { ids, statistics } = builder.finish();
  checkIds(ids);
  const warnings = [...new Set(files.flatMap((file) => file.plan.warnings))];
  return { plan: { ...plan, warnings }, ids, statistics };
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

/** The same individual in two shards would count twice. */
function checkIds(ids: readonly string[]): void {
  const seen = new Set(ids);
  if (seen.size === ids.length) return;
  throw new FileError(
    `Statistics: expected every individual in one shard, received ${ids.length - seen.size} ids again. Make shards by individual.`,
  );
}

async function openStatistics(path: string) {
  try {
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    const text = metadata.key_value_metadata?.find(({ key }) => key === PLAN_KEY)?.value;
    const plan = readPlan(text ?? "", path);
    const columns = ["ids", ...shardColumns(plan)];
    const counted = await parquetReadObjects({ file, metadata, columns: ["individuals"] });
    const individuals = counted.map((row) => Number(row.individuals));
    const read = async (row: number) => {
      const [found] = await parquetReadObjects({
        file,
        metadata,
        columns,
        rowStart: row,
        rowEnd: row + 1,
        utf8: false,
      });
      return found ?? {};
    };
    return { path, plan, individuals, read };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "bad-statistics") throw error;
    throw new FileError(`${path} cannot be read as statistics: ${reason(error)}.`);
  }
}
