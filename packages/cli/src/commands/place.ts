/** One place of a spread fit, from its statistics to its run; and the one who adds. */
import { setTimeout } from "node:timers/promises";
import { type NodeCells, planText, spreadShards } from "@trajectory-maps/core/hosts";
import { FileError, UsageError } from "../exit-codes.ts";
import { type Agreement, readAgreement } from "../io/agreement.ts";
import {
  addRounds,
  type Exchanged,
  hasTotal,
  keepModel,
  modelOf,
  openExchange,
  roundsGiven,
  WaitingForTotals,
} from "../io/exchange.ts";
import type { ReadStatistics } from "../io/statistics-file.ts";
import { checkOutputs, writeOutputs } from "../io/write.ts";
import { table } from "../print/table.ts";
import { counted, line } from "../print/words.ts";
import type { CommandResult, Context, Options } from "./command.ts";
import { fitRead, STATISTICS_OUTPUTS } from "./fit-statistics.ts";

/** A node whose sums are those of one individual: it carries this share of them, and is there with this probability. */
const CARRIES = 0.9;
const CERTAIN = 0.5;

export interface Place {
  /** Where sums are exchanged. */
  readonly folder: string;
  readonly name: string;
  readonly read: ReadStatistics;
  readonly source: string;
  /** Folder of the run. */
  readonly out: string;
  readonly waitSeconds: number;
  /** Whether to hand out sums from which a single individual could be solved. */
  readonly allowExposed: boolean;
  /** Say what would leave next, and hand out nothing. */
  readonly preview: boolean;
  readonly options: Options;
  readonly context: Context;
}

class Preview extends Error {}

/** Takes part in the fit as far as the totals go. */
export async function runPlace(place: Place): Promise<CommandResult> {
  const { folder, name, read, source, out, options, context, preview } = place;
  const { agreement, checksum } = readAgreement(folder);
  checkPlace(place, agreement);
  const index = agreement.places.indexOf(name);
  const spread = { place: index, numPlaces: agreement.places.length };
  const exchange = openExchange(folder, checksum, name, place.waitSeconds);
  const left: Leaving = { round: 0, what: "", numbers: 0, cells: null };
  const watched = {
    inspect: (cells: NodeCells) => {
      left.cells = cells;
      if (!preview && !place.allowExposed) checkCells(cells, name);
    },
    exchange: (pairs: Float64Array, what: string, state?: string) => {
      Object.assign(left, { round: left.round + 1, what, numbers: pairs.length });
      if (what !== "map") left.cells = null;
      if (preview && !hasTotal(folder, left.round)) throw new Preview();
      return exchange.exchange(pairs, what, state);
    },
  };
  checkOutputs(out, STATISTICS_OUTPUTS, options.force === true);
  try {
    const result = await fitRead({
      ...{ read, source, folder: out, options, context },
      asked: { ...agreement.choice, schedule: "batch" },
      spread: (host) => spreadShards(spread, { ...watched, ...(host && { host }) }),
      onModel: (text) => keepModel(folder, name, text),
    });
    return {
      ...result,
      text: `${result.text}\n\n${exchangedTable(exchange.exchanged)}`,
      json: { ...(result.json as object), done: true, exchanged: exchange.exchanged },
    };
  } catch (error) {
    if (error instanceof Preview) return previewOf(left, name, read.ids.length);
    if (!(error instanceof WaitingForTotals)) throw error;
    const text = line("Waiting", `${error.message} Run this command again once the sums of all places are added.`);
    return { text, json: { done: false, round: error.round } };
  }
}

/** What leaves next. */
interface Leaving {
  round: number;
  what: string;
  numbers: number;
  cells: NodeCells | null;
}

function previewOf({ round, what, numbers, cells }: Leaving, name: string, individuals: number): CommandResult {
  const exposed = cells === null ? null : exposedNodes(cells);
  const crowd = cells === null ? null : smallestCrowd(cells);
  const text = [
    line("Leaves", `round ${round} of ${name}: sums over ${counted(individuals, "individual")}, ${what}`),
    line("", `${counted(numbers, "number")}, ${8 * numbers} bytes; no rows, no ids, no times of visits`),
    ...(crowd === null
      ? []
      : [
          line(
            "Cells",
            `in ${crowd.nodes} of ${cells!.people.length} nodes one individual carries more than ${100 * CARRIES} % of the sums; in ${exposed} of them it is more likely there than elsewhere`,
          ),
        ]),
    line("", "Nothing was written."),
  ].join("\n");
  return { text, json: { place: name, round, what, numbers, bytes: 8 * numbers, individuals, exposed, ...crowd } };
}

function smallestCrowd({ people, largest }: NodeCells) {
  return { nodes: people.reduce((sum, n, g) => sum + (largest[g]! > CARRIES * n ? 1 : 0), 0) };
}

/** Nodes from whose sums an individual could be solved. */
function exposedNodes({ people, largest }: NodeCells): number {
  return people.reduce((sum, n, g) => sum + (largest[g]! > CERTAIN && largest[g]! > CARRIES * n ? 1 : 0), 0);
}

function checkCells(cells: NodeCells, name: string): void {
  const exposed = exposedNodes(cells);
  if (exposed === 0) return;
  throw new UsageError(
    `${name}: expected sums over several individuals at every node of the map, received ${counted(exposed, "node")} where nearly all is of one individual, whose statistics could be read off (docs/privacy.md). Nothing left. Take part with more individuals, or hand them out with --allow-exposed.`,
  );
}

function checkPlace({ name, read }: Place, { places, plan, leastIndividuals }: Agreement): void {
  if (!places.includes(name)) {
    throw new UsageError(`Expected one of the places ${places.join(", ")}, received ${name}.`);
  }
  if (planText({ ...read.plan, warnings: [] }) !== planText({ ...plan, warnings: [] })) {
    throw new FileError(
      `${name}: expected statistics in the basis, centre and noise that were agreed on, received others. Take them with: dtm statistics VISITS --like FOLDER/agreement.json.`,
    );
  }
  if (read.ids.length < leastIndividuals) {
    throw new UsageError(
      `${name}: expected ${leastIndividuals} individuals or more, as agreed, received ${read.ids.length}. Nothing left.`,
    );
  }
}

/** Rounds and bytes of what was exchanged. */
function exchangedTable(exchanged: readonly Exchanged[]): string {
  const rows = exchanged.map(({ what, rounds, numbers }) => [what, String(rounds), String(8 * numbers)]);
  const total = (of: (own: Exchanged) => number) => String(exchanged.reduce((sum, own) => sum + of(own), 0));
  return table(
    ["Sums given of", "rounds", "bytes"],
    [...rows, ["in all", total((own) => own.rounds), total((own) => 8 * own.numbers)]],
  );
}

/** Adds rounds as they come, until every place has its model or nothing comes for so many seconds. */
export async function addPlaces(folder: string, waitSeconds: number): Promise<CommandResult> {
  const { agreement, checksum } = readAgreement(folder);
  const { places } = agreement;
  let rounds = 0;
  let until = Date.now() + 1000 * waitSeconds;
  for (;;) {
    const added = addRounds(folder, checksum, places);
    if (added > rounds) until = Date.now() + 1000 * waitSeconds;
    rounds = added;
    const missing = places.filter((name) => modelOf(folder, name) === undefined);
    if (missing.length === 0) return finished(folder, places, rounds);
    if (Date.now() >= until) {
      const waited = places.filter((name) => roundsGiven(folder, name) <= rounds);
      const text = line(
        "Added",
        `${counted(rounds, "round")}; waits for ${waited.length > 0 ? waited.join(", ") : "models"}`,
      );
      return { text, json: { done: false, rounds, waitsFor: waited } };
    }
    await setTimeout(10);
  }
}

/** All places must have ended with the same bytes. */
function finished(folder: string, places: readonly string[], rounds: number): CommandResult {
  const texts = places.map((name) => modelOf(folder, name)!);
  const other = texts.findIndex((text) => text !== texts[0]);
  if (other >= 0) {
    throw new FileError(
      `${folder}: expected one model at all places, received another at ${places[other]} than at ${places[0]}. They ran different versions of this program or of Node.`,
    );
  }
  const [path = ""] = writeOutputs(folder, [{ name: "model.json", text: texts[0]! }]);
  const text = [
    line("Added", `${counted(rounds, "round")} of ${counted(places.length, "place")}, which ended with the same model`),
    line("Written", path),
  ].join("\n");
  return { text, json: { done: true, rounds, model: path } };
}
