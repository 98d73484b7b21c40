/** Parquet files: written beside their place one group of rows after the other, those of individuals readable by their owner alone, and moved there when whole. */
import { chmodSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { type ColumnSource, fileWriter, ParquetWriter } from "hyparquet-writer";
import { FileError } from "../exit-codes.ts";
import { makeFolder } from "./make-folder.ts";
import { reason } from "./read.ts";
import { syncFile } from "./transaction.ts";
import { temporaryFor } from "./write.ts";

type Form = Omit<ConstructorParameters<typeof ParquetWriter>[0], "writer" | "createdBy">;

/** Writes the columns of each group, which holds at most so many rows. */
export async function writeParquetFile(
  path: string,
  form: Form,
  groups: Iterable<ColumnSource[]>,
  rowGroupSize: number,
  isPrivate = true,
): Promise<void> {
  const temporary = temporaryFor(path);
  try {
    makeFolder(dirname(path));
    const file = fileWriter(temporary);
    if (isPrivate) chmodSync(temporary, 0o600);
    const writer = new ParquetWriter({ ...form, writer: file, createdBy: "trajectory-maps" });
    for (const columnData of groups) await writer.write({ columnData, rowGroupSize });
    await writer.finish();
    syncFile(temporary);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new FileError(`${path} cannot be written: ${reason(error)}. Existing files were not changed.`);
  }
}
