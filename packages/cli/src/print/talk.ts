/**
 * Talk: everything that is not a result, on standard error. Progress is a bar on a terminal and a plain line now and
 * then elsewhere; --quiet silences all but errors. Colours obey NO_COLOR and FORCE_COLOR (picocolors). Programs get the
 * same as one JSON event a line (--progress json).
 */
import process from "node:process";
import type { FitProgress } from "@trajectory-maps/core/models";
import { SingleBar } from "cli-progress";
import colors from "picocolors";
import { plain } from "./plain.ts";
import { wrap } from "./words.ts";

export interface Talk {
  say(text: string): void;
  warn(text: string): void;
  fail(text: string): void;
  /** What must be said even to those who want quiet: how to go on after a stop. */
  insist(text: string): void;
  /** Shows the progress of one piece of work until it returns, or until its promise settles. */
  during<T>(title: string, work: (onProgress: (progress: FitProgress) => void) => T): T;
}

/** Where talk goes; a test gives its own. */
export interface TalkStream {
  readonly isTTY?: boolean;
  /** Width of a terminal: talk is broken between words there. */
  readonly columns?: number;
  write(text: string): unknown;
}

/** For people, or as JSON events for programs. */
export type TalkForm = "auto" | "json";

const PLAIN_EVERY_MS = 3000;
const EVENT_EVERY_MS = 100;
const TITLE_WIDTH = 38;

export interface TalkOptions {
  readonly quiet: boolean;
  readonly form?: TalkForm;
  readonly stream?: TalkStream;
  readonly color?: boolean;
}

export function createTalk(options: TalkOptions): Talk {
  const stream = options.stream ?? process.stderr;
  if (options.form === "json") return eventTalk(stream, options.quiet);
  const onTerminal = stream === process.stderr && process.stderr.isTTY && process.env.CI === undefined;
  const paint = colors.createColors(options.color ?? (colors.isColorSupported && stream.isTTY === true));
  // Lines said while a bar stands: its end takes the cursor back to where it began, so they are written again.
  let aside: string[] | undefined;
  const line = (text: string) => {
    aside?.push(text);
    // A bar may stand on this line; it is drawn again below.
    stream.write(`${onTerminal ? "\r\u001b[K" : ""}${text}\n`);
  };
  const say = (text: string) => {
    if (!options.quiet) line(text);
  };
  const overBar = (title: string): Meter => {
    const meter = bar(title);
    aside ??= [];
    const stop = () => {
      meter.stop();
      const said = aside ?? [];
      aside = undefined;
      if (said.length > 0) stream.write("\u001b[J");
      said.forEach(line);
    };
    return { update: meter.update, stop };
  };
  const fitted = (text: string) => {
    const { columns } = stream;
    if (stream.isTTY !== true || columns === undefined) return text;
    return text
      .split("\n")
      .map((part) => wrap(part, columns, ""))
      .join("\n");
  };
  const headed = (head: string, colour: (head: string) => string, text: string) =>
    `${colour(head)}${fitted(`${head} ${plain(text)}`).slice(head.length)}`;
  return {
    say: (text) => say(fitted(plain(text))),
    warn: (text) => say(headed("warning:", paint.yellow, text)),
    fail: (text) => line(headed("error:", paint.red, text)),
    // Holds a command to copy, which no line end may cut.
    insist: (text) => line(plain(text)),
    during: (title, work) => {
      const began = Date.now();
      const meter = options.quiet ? silent() : onTerminal ? overBar(title) : plainLines(title, say);
      const done = () => say(`${paint.dim(title.padEnd(TITLE_WIDTH))} ${seconds(Date.now() - began)}`);
      return metered(work, meter, done);
    },
  };
}

/** Talk as events, one JSON object a line: start, progress, end, note, warning, error. */
function eventTalk(stream: TalkStream, quiet: boolean): Talk {
  const emit = (event: string, fields: object) => stream.write(`${JSON.stringify({ event, ...fields })}\n`);
  const unlessQuiet = (event: string, fields: object) => {
    if (!quiet) emit(event, fields);
  };
  return {
    say: (text) => unlessQuiet("note", { text }),
    warn: (text) => unlessQuiet("warning", { text }),
    fail: (text) => emit("error", { text }),
    insist: (text) => emit("note", { text }),
    during: (title, work) => {
      const began = Date.now();
      const used = process.cpuUsage();
      let last = 0;
      unlessQuiet("start", { title });
      const update = ({ stage, iteration, maxIterations, value }: FitProgress) => {
        if (Date.now() - last < EVENT_EVERY_MS) return;
        last = Date.now();
        unlessQuiet("progress", {
          title,
          stage,
          iteration,
          maxIterations,
          value: Number.isFinite(value) ? value : null,
        });
      };
      const done = () => {
        const { user, system } = process.cpuUsage(used);
        const cpuMilliseconds = Math.round((user + system) / 1000);
        unlessQuiet("end", { title, milliseconds: Date.now() - began, cpuMilliseconds });
      };
      return metered(work, { update, stop: () => {} }, done);
    },
  };
}

/** Runs the work with its meter; `done` is called if it did not fail. */
function metered<T>(work: (onProgress: (progress: FitProgress) => void) => T, meter: Meter, done: () => void): T {
  let result: T;
  try {
    result = work(meter.update);
  } catch (error) {
    meter.stop();
    throw error;
  }
  if (!(result instanceof Promise)) {
    meter.stop();
    done();
    return result;
  }
  return result.then(
    (value) => {
      meter.stop();
      done();
      return value;
    },
    (error) => {
      meter.stop();
      throw error;
    },
  ) as T;
}

interface Meter {
  readonly update: (progress: FitProgress) => void;
  readonly stop: () => void;
}

function silent(): Meter {
  return { update: () => {}, stop: () => {} };
}

function bar(title: string): Meter {
  const single = new SingleBar({
    format: `${title.padEnd(TITLE_WIDTH)} {bar} {stage} {value}/{total}  {height}`,
    barsize: 20,
    // A program stopped by a signal could not give the cursor back.
    hideCursor: false,
    clearOnComplete: true,
    // Signals are heard by the program itself, which keeps the work.
    gracefulExit: false,
    stopOnComplete: false,
    stream: process.stderr,
    fps: 10,
  });
  single.start(1, 0, { stage: "", height: "" });
  return {
    update: ({ stage, iteration, maxIterations, value }) => {
      single.setTotal(Math.max(maxIterations, 1));
      single.update(Math.min(iteration, maxIterations), { stage, height: heightOf(value) });
    },
    stop: () => single.stop(),
  };
}

function plainLines(title: string, say: (text: string) => void): Meter {
  let last = Date.now();
  return {
    update: ({ stage, iteration, maxIterations, value }) => {
      if (Date.now() - last < PLAIN_EVERY_MS) return;
      last = Date.now();
      say([`${title}: ${stage}`, `${iteration}/${maxIterations}`, heightOf(value)].filter((t) => t !== "").join(", "));
    },
    stop: () => {},
  };
}

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(milliseconds < 9950 ? 1 : 0)} s`;
}

/** The log-likelihood or bound; nothing where the work has none. */
function heightOf(value: number): string {
  return Number.isFinite(value) ? value.toFixed(2) : "";
}
