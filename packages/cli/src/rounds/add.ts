/** The one who adds the sums of all places, round by round, until each has its model. */
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { CommandResult } from "../commands/command.ts";
import { FileError } from "../exit-codes.ts";
import { readAgreement } from "../io/agreement.ts";
import { openAdding } from "../io/exchange.ts";
import { fileExists, readText } from "../io/read.ts";
import { writeOutputs } from "../io/write.ts";
import { counted, line } from "../print/words.ts";

const POLL_MS = 10;

/** Adds rounds as they come, until every place has its model or nothing comes for so many seconds. */
export async function addPlaces(folder: string, waitSeconds: number): Promise<CommandResult> {
  const { agreement, checksum } = readAgreement(folder);
  const { places } = agreement;
  const add = openAdding(folder, checksum, places);
  let last = 0;
  let until = Date.now() + 1000 * waitSeconds;
  for (;;) {
    const { rounds, missing } = add();
    const without = places.filter((name) => !fileExists(modelPath(folder, name)));
    if (without.length === 0) return finished(folder, places, rounds);
    if (rounds > last) until = Date.now() + 1000 * waitSeconds;
    last = rounds;
    if (Date.now() >= until) return waiting(rounds, missing, without);
    await setTimeout(POLL_MS);
  }
}

function waiting(rounds: number, missing: readonly string[], without: readonly string[]): CommandResult {
  // Places that have their model give no sums any more; so the others have all the totals they need.
  const done = missing.length > without.length;
  const waitsFor = done ? without : missing;
  const what = done ? "the model" : `sums of round ${rounds + 1}`;
  const text = [
    line("Added", counted(rounds, "round")),
    line("Waits", `for ${what} of ${waitsFor.join(", ")}. Run this command again once there is more.`),
  ].join("\n");
  return { text, json: { done: false, rounds, waitsFor } };
}

/** Keeps the model that a place ended with, for the one who adds to compare. */
export function keepModel(folder: string, name: string, text: string): void {
  writeOutputs(join(folder, "models"), [{ name: `${name}.json`, text }]);
}

function modelPath(folder: string, name: string): string {
  return join(folder, "models", `${name}.json`);
}

/** All places must have ended with the same bytes. */
function finished(folder: string, places: readonly string[], rounds: number): CommandResult {
  const texts = places.map((name) => readText(modelPath(folder, name)));
  const other = texts.findIndex((text) => text !== texts[0]);
  if (other >= 0) {
    throw new FileError(
      `${folder}: expected one model at all places, received another at ${places[other]} than at ${places[0]}. They ran different versions of this program or of Node.`,
    );
  }
  const [path] = writeOutputs(folder, [{ name: "model.json", text: texts[0]! }]);
  const text = [
    line("Added", `${counted(rounds, "round")} of ${counted(places.length, "place")}, which ended with the same model`),
    line("Written", path!),
  ].join("\n");
  return { text, json: { done: true, rounds, model: path } };
}
