/** Results that earlier commands wrote into a run. */
import { join } from "node:path";
import { FileError } from "../exit-codes.ts";
import { fileExists, readText } from "./read.ts";

/** The JSON of a result, or undefined if the run has none; its writer vouches for its shape. */
export function readResult<T>(folder: string, name: string): T | undefined {
  const path = join(folder, name);
  if (!fileExists(path)) return undefined;
  try {
    return JSON.parse(readText(path)) as T;
  } catch {
    throw new FileError(
      `${path}: expected JSON written by this program, received another text. Remove it and try again.`,
    );
  }
}
