/**
 * Rounds of a fit that another program answers, an engine such as Spark perhaps (docs/rounds.md). Of round k the fit writes `questions/00000k.json`, all
 * that shards need beside their statistics, and waits for `totals/00000k.sums`, which names the question that it answers; or for
 * `totals/00000k.failed`, which says why there is none.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Elsewhere, mapQuestion } from "@trajectory-maps/core/hosts";
import { FileError, UsageError } from "../exit-codes.ts";
import { checksumOf, readTotal, waitFor } from "./exchange.ts";
import { makeFolder } from "./make-folder.ts";
import { readText, reason } from "./read.ts";
import { writeOutputs } from "./write.ts";

/** Asks in a folder, which is new or empty, and waits so long for each answer. */
export function openQuestions(folder: string, waitSeconds: number): Elsewhere {
  const [questions, totals] = ["questions", "totals"].map((name) => join(folder, name)) as [string, string];
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    throw new UsageError(
      `--rounds: expected a new or empty folder, received ${folder}. Rounds of two fits do not mix.`,
    );
  }
  try {
    makeFolder(totals);
  } catch (error) {
    throw new FileError(`--rounds: ${folder} cannot be written: ${reason(error)}. Choose a folder that can.`);
  }
  let round = 0;
  return (name, state) => {
    const question = mapQuestion(name, state);
    if (question === undefined) return undefined;
    round++;
    const number = String(round).padStart(6, "0");
    const text = `${JSON.stringify({ format: "trajectory-maps-question", round, ...question }, withBytes)}\n`;
    writeOutputs(questions, [{ name: `${number}.json`, text }]);
    const path = join(totals, `${number}.sums`);
    const failed = join(totals, `${number}.failed`);
    const late = new FileError(`${path}: expected within ${waitSeconds} s, received nothing. Does anybody answer?`);
    waitFor([path, failed], waitSeconds, late);
    if (existsSync(failed)) throw new FileError(`${failed}: ${readText(failed).trim()}`);
    return readTotal(path, { round, what: question.work, state: checksumOf(text) });
  };
}

/** Arrays of numbers as their bytes, little-endian, in base64. */
function withBytes(_: string, value: unknown): unknown {
  if (!(value instanceof Float64Array)) return value;
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
}
