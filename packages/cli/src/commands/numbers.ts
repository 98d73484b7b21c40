/** Options that are numbers. */
import { availableParallelism } from "node:os";
import type { Limits } from "@trajectory-maps/core/ingest";
import { UsageError } from "../exit-codes.ts";
import { type Options, textOption } from "./command.ts";

/** A whole number from its text, or a UsageError that names the option. */
export function wholeNumber(
  option: string,
  text: string,
  least = Number.MIN_SAFE_INTEGER,
  most = Number.MAX_SAFE_INTEGER,
): number {
  const value = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value) || value < least || value > most) {
    const lower = least === Number.MIN_SAFE_INTEGER ? "" : ` of at least ${least}`;
    const range = most === Number.MAX_SAFE_INTEGER ? lower : ` from ${least} to ${most}`;
    throw new UsageError(`${option}: expected a whole number${range}, received "${text}".`);
  }
  return value;
}

/** A number in decimal digits, as cells of tables are written: no 0x10, no Infinity. */
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A finite number from its text, or a UsageError that names the option. */
export function realNumber(option: string, text: string): number {
  const value = DECIMAL.test(text.trim()) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) throw new UsageError(`${option}: expected a number, received "${text}".`);
  return value;
}

/** A finite number above 0. */
export function positiveNumber(option: string, text: string): number {
  const value = realNumber(option, text);
  if (!(value > 0)) throw new UsageError(`${option}: expected a number above 0, received "${text}".`);
  return value;
}

export function seedOf(options: Options): number {
  return wholeNumber("--seed", textOption(options, "seed") ?? "1");
}

/** 1, 2 or 3. */
export function dimensionOf(options: Options): 1 | 2 | 3 {
  const dim = wholeNumber("--dim", textOption(options, "dim") ?? "2", 1);
  if (dim === 1 || dim === 2 || dim === 3) return dim;
  throw new UsageError(`--dim: expected 1, 2 or 3, received ${dim}.`);
}

export function meanOf(options: Options): "scalar" | "spline" {
  return textOption(options, "mean") === "spline" ? "spline" : "scalar";
}

export function jobsOf(options: Options): number {
  const text = textOption(options, "jobs");
  return text === undefined ? availableParallelism() : wholeNumber("--jobs", text, 1);
}

/** The limits of the marker, if some are given: two numbers with a comma between, either of which may be left out. */
export function limitsOf(options: Options): Limits | undefined {
  const text = textOption(options, "limits");
  if (text === undefined) return undefined;
  const ends = text.split(",").map((part) => (part.trim() === "" ? null : realNumber("--limits", part)));
  const [low, high] = ends;
  if (ends.length !== 2 || low === undefined || high === undefined || (low ?? -Infinity) >= (high ?? Infinity)) {
    throw new UsageError(`--limits: expected lowest,highest such as "0,30" or "0,", received "${text}".`);
  }
  return [low, high];
}

const MAX_TIMES = 100_000;

/** Times from "a:b:step" (both ends included) or a list with commas. */
export function timesOf(option: string, text: string): Float64Array {
  const parts = text.split(":");
  if (parts.length === 1) return Float64Array.from(text.split(","), (part) => realNumber(option, part));
  const [from, to, step] = parts.map((part) => realNumber(option, part));
  if (parts.length !== 3 || from === undefined || to === undefined || step === undefined || !(step > 0) || to < from) {
    throw new UsageError(`${option}: expected from:to:step with a step above 0, or a list, received "${text}".`);
  }
  // A hair more than the quotient, so that 0:10:0.1 ends at 10 whatever rounding does.
  const count = Math.floor((to - from) / step + 1e-9) + 1;
  if (count > MAX_TIMES) throw new UsageError(`${option}: expected at most ${MAX_TIMES} times, received ${count}.`);
  return Float64Array.from({ length: count }, (_, k) => from + k * step);
}
