/** dtm explore [RUN|VISITS]: the explorer in the browser, served on this machine only. */

import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import type { ReadCohortOptions } from "@trajectory-maps/core/ingest";
import { codingOf } from "@trajectory-maps/core/models";
import { FileError, StoppedError } from "../exit-codes.ts";
import { checkBelongs } from "../io/belongs.ts";
import { fileExists, findBundled, isFolder, nameOf, readText } from "../io/read.ts";
import { readResult } from "../io/results.ts";
import { COVARIATES_FILE, copyOptions, MODEL_FILE, readModel, VISITS_FILE } from "../io/run-folder.ts";
import { builtExplorer, filesOf, type Served, servedFile } from "../io/served-files.ts";
import { firstSignal } from "../io/signals.ts";
import { openServer, serveFiles } from "../serve/server.ts";
import { type Command, type Options, textOption } from "./command.ts";
import { choiceOf, type StoredChoice } from "./groups.ts";
import { markersOf } from "./marker-list.ts";
import { limitsOf, wholeNumber } from "./numbers.ts";
import { COMPARE_FILE, GROUPS_FILE } from "./run-record.ts";
import { FORM_OPTIONS, formOf } from "./table-form.ts";
import { COLUMN_OPTIONS, MARKER_OPTIONS } from "./visits.ts";

/** What the page opens with; its own words for the import it would otherwise ask about. */
interface Start {
  readonly visits?: { readonly path: string; readonly name: string };
  readonly subjects?: { readonly path: string; readonly name: string };
  readonly model?: { readonly path: string };
  /** Coded covariates of a run. */
  readonly covariates?: { readonly path: string };
  /** How dtm groups made the groups of the run. */
  readonly groups?: ReturnType<typeof choiceOf>;
  /** What dtm compare wrote into the run. */
  readonly comparison?: { readonly path: string };
  /** Columns, the marker or markers, how the table is written. */
  readonly choice?: ReadCohortOptions;
  /** Whether the PBC example is served: it comes with the repository, not with the package. */
  readonly pbc?: boolean;
}

export const explore: Command = {
  name: "explore",
  description:
    "Serve the explorer (import, fit, map, outcomes, report) and print its address; --open opens it in the browser. Nothing leaves this machine.",
  arguments: [
    { name: "run", description: "folder of a run, a table of visits, or a model file for one patient", optional: true },
  ],
  options: [
    { flags: "--subjects <file>", description: "CSV with one row per individual, for outcomes" },
    ...COLUMN_OPTIONS.filter(({ flags }) => /--(id|time|value|markers|marker-column) /.test(flags)),
    ...FORM_OPTIONS,
    ...MARKER_OPTIONS,
    { flags: "--port <number>", description: "port on the loopback address (default: a free one)" },
    { flags: "--open", description: "open the address in the browser" },
  ],
  examples: [
    "dtm explore",
    "dtm explore run/ --subjects subjects.csv",
    "dtm explore visits.csv --value fvc --open",
    "dtm explore run/model.json",
    "dtm explore visits.csv --markers bili:log,albumin",
    "dtm explore visits.csv --subjects subjects.csv --origin column:onset --time-unit months",
  ],
  run: async ([path], options, { talk }) => {
    const page = builtExplorer();
    const subjects = textOption(options, "subjects");
    const { start, files } = startWith(path, subjects, options);
    const all = new Map([...filesOf(page), ...files]);
    const text = JSON.stringify(start);
    all.set("/data/start.json", { type: "application/json; charset=utf-8", bytes: () => Buffer.from(text) });
    const asked = textOption(options, "port");
    const port = asked === undefined ? 0 : wholeNumber("--port", asked, 0, 65535);
    const server = await openServer(serveFiles(all), { port });
    const stopped = firstSignal();
    // The address is the result: it is printed while the server runs.
    process.stdout.write(
      options.json === true
        ? `${JSON.stringify({ address: server.address, port: server.port })}\n`
        : `${server.address}\n`,
    );
    talk.say("Open this address in a browser on this machine; it works once. Stop with Ctrl-C.");
    if (options.open === true) openBrowser(server.address);
    const signal = await stopped;
    await server.close();
    throw new StoppedError(signal, "Stopped; nothing was written.");
  },
};

/** What is opened, and the files the page fetches for it. */
function startWith(path: string | undefined, subjects: string | undefined, options: Options) {
  const files = new Map<string, Served>();
  const serve = (name: string, from: string, type: string) => {
    files.set(name, servedFile(from, type));
  };
  const pick = (names: readonly string[]) =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = textOption(options, name);
        return value === undefined ? [] : [[name, value]];
      }),
    );
  let start: Start = {};
  if (path !== undefined && isFolder(path)) {
    const shown = readModel(path);
    serve("/data/model.json", join(path, MODEL_FILE), "application/json; charset=utf-8");
    const visits = join(path, VISITS_FILE);
    if (!fileExists(visits)) {
      throw new FileError(`${path} keeps no copy of the visits. Explore the table they were read from instead.`);
    }
    checkBelongs(path, VISITS_FILE);
    serve("/data/visits.csv", visits, "text/csv; charset=utf-8");
    const choice = copyOptions(shown.markers.map(({ marker }) => marker));
    start = { visits: { path: "data/visits.csv", name: nameOf(path) }, model: { path: "data/model.json" }, choice };
    const coded = join(path, COVARIATES_FILE);
    if (codingOf(shown) !== undefined && fileExists(coded)) {
      checkBelongs(path, COVARIATES_FILE);
      serve("/data/covariates.csv", coded, "text/csv; charset=utf-8");
      start = { ...start, covariates: { path: "data/covariates.csv" } };
    }
    const groups = readResult<StoredChoice>(path, GROUPS_FILE);
    if (groups !== undefined) start = { ...start, groups: choiceOf(groups) };
    if (readResult(path, COMPARE_FILE) !== undefined) {
      serve("/data/compare.json", join(path, COMPARE_FILE), "application/json; charset=utf-8");
      start = { ...start, comparison: { path: "data/compare.json" } };
    }
  } else if (path !== undefined && isModelFile(path)) {
    readModel(path);
    serve("/data/model.json", path, "application/json; charset=utf-8");
    start = { model: { path: "data/model.json" } };
  } else if (path !== undefined) {
    serve("/data/visits", path, "application/octet-stream");
    const { marker: name, ...rest } = pick(["marker", "unit", "timeUnit", "transform"]);
    const limits = limitsOf(options);
    const marker = { ...rest, ...(name === undefined ? {} : { name }), ...(limits === undefined ? {} : { limits }) };
    const markers = markersOf(options);
    const markerColumn = textOption(options, "markerColumn");
    const timeUnit = textOption(options, "timeUnit") ?? "";
    const choice = {
      columns: pick(["id", "time", "value"]),
      ...(markers === undefined ? { marker } : { markers: markers.map((own) => ({ ...own, timeUnit })) }),
      ...(markerColumn === undefined ? {} : { markerColumn }),
      ...formOf(options),
    };
    start = { visits: { path: "data/visits", name: nameOf(path) }, choice };
  }
  if (subjects !== undefined) {
    serve("/data/subjects", subjects, "application/octet-stream");
    start = { ...start, subjects: { path: "data/subjects", name: nameOf(subjects) } };
  }
  const [visits, individuals] = ["visits.csv", "subjects.csv"].map(findBundled);
  if (visits !== undefined && individuals !== undefined) {
    serve("/examples/pbc-visits.csv", visits, "text/csv; charset=utf-8");
    serve("/examples/pbc-subjects.csv", individuals, "text/csv; charset=utf-8");
    start = { ...start, pbc: true };
  }
  return { start, files };
}

/** Whether a file is a model and not a table in JSON: a model alone opens for one patient. */
function isModelFile(path: string): boolean {
  return /\.json$/i.test(path) && fileExists(path) && readText(path).slice(0, 200).includes('"disease-trajectory-map"');
}

/** Asks the system to open an address; if it cannot, the address stands printed. */
function openBrowser(address: string): void {
  const [command, args] =
    process.platform === "darwin"
      ? ["open", [address]]
      : process.platform === "win32"
        ? ["cmd", ["/c", "start", "", address]]
        : ["xdg-open", [address]];
  spawn(command as string, args as string[], { stdio: "ignore", detached: true })
    .on("error", () => {})
    .unref();
}
