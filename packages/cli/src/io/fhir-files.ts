/** Files of FHIR resources: one, or all of a folder. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { FhirSource } from "@trajectory-maps/core/fhir";
import { FileError } from "../exit-codes.ts";
import { isFolder, nameOf, readBlocks } from "./read.ts";

/** Ends of names of files that may hold resources. */
const ENDS = /\.(?:ndjson|jsonl|json)(?:\.gz)?$/i;

/** The file, or those of the folder by their names, each read when it is its turn; "-" is standard input. */
export function fhirFiles(path: string): Iterable<FhirSource> {
  if (path === "-" || !isFolder(path)) return [{ name: nameOf(path), bytes: readBlocks(path) }];
  const names = readdirSync(path)
    .filter((name) => ENDS.test(name))
    .sort();
  if (names.length === 0) {
    throw new FileError(`${path} holds no files of FHIR resources (.ndjson, .jsonl, .json, plain or .gz).`);
  }
  return (function* () {
    for (const name of names) yield { name, bytes: readBlocks(join(path, name)) };
  })();
}
