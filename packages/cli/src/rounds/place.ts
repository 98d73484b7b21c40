/** One place of a spread fit, from its statistics to its run. */
import { type NodeCells, planText, spreadShards } from "@trajectory-maps/core/hosts";
import type { CommandResult, Context, Options } from "../commands/command.ts";
import { fitRead, STATISTICS_OUTPUTS } from "../commands/fit-statistics.ts";
import { FileError, UsageError } from "../exit-codes.ts";
import { type Agreement, readAgreement } from "../io/agreement.ts";
import { checksumOf, type Exchanged, openExchange, type Pending, WaitingForTotal } from "../io/exchange.ts";
import type { ReadStatistics } from "../io/statistics-file.ts";
import { checkOutputs } from "../io/write.ts";
import { table } from "../print/table.ts";
import { counted, line, whole } from "../print/words.ts";
import { keepModel } from "./add.ts";
import { checkCells, exposureOf, exposureText, safeRestarts } from "./exposed.ts";

export interface Place {
  /** Where sums are exchanged. */
  readonly folder: string;
  readonly name: string;
  readonly read: ReadStatistics;
  readonly source: string;
  /** Folder of the run. */
  readonly out: string;
  readonly waitSeconds: number;
  /** The fewest individuals to take part with, whatever was agreed on. */
  readonly leastIndividuals: number;
  /** Whether to hand out sums from which a single individual could be read off. */
  readonly allowExposed: boolean;
  /** Say what would leave next, and hand out nothing. */
  readonly preview: boolean;
  readonly options: Options;
  readonly context: Context;
}

/** Takes part in the fit as far as the totals go. */
export async function runPlace(place: Place): Promise<CommandResult> {
  const { folder, name, read, source, out, waitSeconds, allowExposed, preview, options, context } = place;
  const { agreement, checksum } = readAgreement(folder);
  checkPlace(place, agreement);
  if (!preview) checkOutputs(out, STATISTICS_OUTPUTS, options.force === true);
  const { exchange, exchanged } = openExchange({
    ...{ folder, agreement: checksum, place: name, waitSeconds, onlyLook: preview },
    data: checksumOf(...read.digests),
  });
  const spread = { place: agreement.places.indexOf(name), numPlaces: agreement.places.length };
  // Node sums are looked at just before they are exchanged.
  let cells: NodeCells | null = null;
  const watched = {
    inspect: (seen: NodeCells) => {
      cells = seen;
      if (!preview && !allowExposed) checkCells(seen, name);
    },
    exchange: (pairs: Float64Array, what: string, state?: string) => {
      const sums = exchange(pairs, what, state);
      cells = null;
      return sums;
    },
  };
  try {
    const result = await fitRead({
      ...{ read, source, folder: out, options, context },
      asked: { ...agreement.choice, schedule: "batch" },
      spread: (host) => spreadShards(spread, { ...watched, ...(host && { host }) }),
      onModel: (text) => keepModel(folder, name, text),
    });
    return {
      ...result,
      text: `${result.text}\n\n${exchangedTable(exchanged)}`,
      json: { ...(result.json as object), done: true, exchanged },
    };
  } catch (error) {
    if (!(error instanceof WaitingForTotal)) throw error;
    return preview ? previewOf(place, error.pending, cells) : waiting(error.pending);
  }
}

function waiting({ round, path }: Pending): CommandResult {
  const text = [
    line("Given", `${path}, the sums of round ${round}`),
    line("Waits", "for the total of all places. Run this command again once it is there."),
  ].join("\n");
  return { text, json: { done: false, round, sums: path } };
}

/** What would leave next. */
function previewOf({ name, read }: Place, pending: Pending, cells: NodeCells | null): CommandResult {
  const { round, what, bytes, path } = pending;
  const individuals = read.ids.length;
  const exposure = cells === null ? null : exposureOf(cells);
  const text = [
    line("Leaves", `round ${round} of ${name}: ${what}`),
    line("", `sums over ${counted(individuals, "individual")}, ${whole(bytes)} bytes; no rows, ids or times of visits`),
    ...(exposure === null ? [] : [line("Nodes", exposureText(exposure))]),
    line("", `Nothing was written; a round would write ${path}.`),
  ].join("\n");
  return { text, json: { place: name, round, what, bytes, individuals, exposure } };
}

function checkPlace(place: Place, { places, plan, leastIndividuals, choice }: Agreement): void {
  const { name, read, allowExposed } = place;
  if (!places.includes(name)) {
    throw new UsageError(`Expected one of the places ${places.join(", ")}, received ${name}.`);
  }
  if (planText({ ...read.plan, warnings: [] }) !== planText({ ...plan, warnings: [] })) {
    throw new FileError(
      `${name}: expected statistics in the basis, centre and noise that were agreed on, received others. Take them with: dtm statistics VISITS --like FOLDER/agreement.json.`,
    );
  }
  // An agreement comes from others, who may have changed it.
  const least = Math.max(place.leastIndividuals, leastIndividuals);
  if (read.ids.length < least) {
    throw new UsageError(
      `${name}: expected ${least} individuals or more${least > place.leastIndividuals ? ", as agreed" : ""}, received ${read.ids.length}. Nothing left.`,
    );
  }
  // Without a number, a fit would take one from random places too.
  if (!allowExposed) safeRestarts(choice.restarts ?? 2);
}

/** Rounds and bytes of what was exchanged. */
function exchangedTable(exchanged: readonly Exchanged[]): string {
  const total = (of: (own: Exchanged) => number) => exchanged.reduce((sum, own) => sum + of(own), 0);
  const all = { what: "in all", rounds: total((own) => own.rounds), bytes: total((own) => own.bytes) };
  return table(
    ["Sums given of", "rounds", "bytes"],
    [...exchanged, all].map(({ what, rounds, bytes }) => [what, whole(rounds), whole(bytes)]),
  );
}
