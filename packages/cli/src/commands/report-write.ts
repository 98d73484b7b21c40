/** Where the report and its figures are written. */
import { dirname, isAbsolute, posix, relative, resolve, sep } from "node:path";
import { REPORT_FILES } from "../io/run-folder.ts";
import { type OutputFile, writeOutputs } from "../io/write.ts";
import type { Context } from "./command.ts";
import { writeResults } from "./run-record.ts";

/** Writes the page and its figures, as one change where they lie in one folder; returns their paths. */
export function writeReport(
  run: string,
  out: string,
  page: OutputFile,
  figureFolder: string | undefined,
  figures: readonly OutputFile[],
  context: Context,
): string[] {
  const folder = dirname(out);
  const isOne = figureFolder !== undefined && isWithin(folder, figureFolder);
  const prefix = isOne ? relative(folder, figureFolder).replaceAll("\\", "/") : "";
  const inside = isOne ? figures.map((figure) => ({ ...figure, name: posix.join(prefix, figure.name) })) : [];
  const paths =
    resolve(folder) === resolve(run)
      ? writeResults(folder, isOwnName(page.name) ? "report" : undefined, [page, ...inside], context)
      : writeOutputs(folder, [page, ...inside]);
  return figureFolder === undefined || isOne ? paths : [...paths, ...writeOutputs(figureFolder, figures)];
}

/** Whether it is the report that a study of the run has. */
const isOwnName = (name: string) => Object.values<string>(REPORT_FILES).includes(name);

/** Whether a path lies in a folder, or is it. */
export function isWithin(folder: string, path: string): boolean {
  const inner = relative(folder, path);
  return inner !== ".." && !inner.startsWith(`..${sep}`) && !isAbsolute(inner);
}
