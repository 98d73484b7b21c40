/**
 * Folders made one by one: Node's own recursive mkdir tries for ever where a folder that is there takes no new one and says that it is not
 * there (ENOENT), as /proc does.
 */
import { existsSync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { codeOf } from "./read.ts";

/** Makes a folder and those it is in, as far as they are missing; gives the outermost that was made. */
export function makeFolder(path: string): string | undefined {
  let made: string | undefined;
  for (const folder of missingFolders(resolve(path))) {
    try {
      mkdirSync(folder);
      made ??= folder;
    } catch (error) {
      // Another process made it in this moment.
      if (codeOf(error) !== "EEXIST") throw error;
    }
  }
  return made;
}

/** The folders of a path that are not there, from the outermost. */
function missingFolders(path: string): string[] {
  if (existsSync(path)) return [];
  return [...(dirname(path) === path ? [] : missingFolders(dirname(path))), path];
}
