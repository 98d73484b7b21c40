/** Survival after a landmark, with competing events, and what changes if those who had an event went on otherwise. */
import { createHash } from "node:crypto";
import type { Cohort, Groups } from "@trajectory-maps/core";
import { readFollowUp, type SubjectsTable, visitTimes } from "@trajectory-maps/core/ingest";
import { viewMarker, viewPlacements } from "@trajectory-maps/core/models";
import {
  type DropoutSensitivity,
  dropoutSensitivity,
  type FollowUp,
  type LandmarkSurvival,
  landmarkSurvival,
} from "@trajectory-maps/core/study";
import { midSentence, outcomeName } from "@trajectory-maps/report";
import { UsageError } from "../exit-codes.ts";
import type { Pool } from "../threads/pool.ts";
import type { Context } from "./command.ts";
import { type DrawChoice, drawsOn, outcomesOf, type PlacedRun } from "./study-parts.ts";

export interface EventChoice {
  /** As typed: name:column. */
  readonly event: string;
  readonly competing?: readonly string[];
  readonly landmark?: number;
  readonly riskTimes?: readonly number[];
  readonly deltas?: readonly number[];
}

/** An event and what competes with it, read from a table of individuals, with what was asked. */
export interface StudiedEvents extends EventChoice {
  readonly main: NamedFollowUp;
  readonly others: readonly NamedFollowUp[];
}

interface NamedFollowUp {
  readonly name: string;
  readonly followUp: FollowUp;
}

/** Which event of which table survival is of: what was typed, and the SHA-256 of what was read. */
export interface EventData {
  readonly event: string;
  readonly competing: readonly string[];
  readonly sha256: string;
}

/** Survival with the sensitivity to what those with an event would have gone on to, for the first marker. */
export interface StudiedSurvival extends LandmarkSurvival {
  readonly dropout: DropoutSensitivity;
  readonly data: EventData;
}

/** Events written as name:column, read from a table: whatever is wrong with them is told before any work is done. */
export function readEvents(cohort: Cohort, table: SubjectsTable, choice: EventChoice, context: Context): StudiedEvents {
  const read = (text: string, flag: string) => {
    const at = text.lastIndexOf(":");
    if (at < 1 || at === text.length - 1) {
      throw new UsageError(
        `${flag}: expected name:column of follow-up, such as death:followup_years, received "${text}".`,
      );
    }
    const name = text.slice(0, at);
    const [outcome] = outcomesOf([name], table, cohort, context);
    if (outcome === undefined) throw new UsageError(`${flag}: expected an outcome, received "${name}".`);
    const followUp = readFollowUp(table, text.slice(at + 1), outcome.labels, cohort.ids, visitTimes(cohort));
    return { name, followUp };
  };
  const wrong = (choice.riskTimes ?? []).find((t) => !(t > 0));
  if (wrong !== undefined) throw new UsageError(`--risk-times: expected times after the landmark, received ${wrong}.`);
  const main = read(choice.event, "--event");
  return { ...choice, main, others: (choice.competing ?? []).map((text) => read(text, "--competing")) };
}

export function eventData({ event, competing = [], main, others }: StudiedEvents): EventData {
  const hash = createHash("sha256");
  for (const { followUp } of [main, ...others]) {
    hash.update(Float64Array.from(followUp.times)).update(Uint8Array.from(followUp.events));
  }
  return { event, competing, sha256: hash.digest("hex") };
}

/** Survival after a landmark. */
export async function survivalOf(
  run: PlacedRun,
  groups: Groups,
  events: StudiedEvents,
  { adjustment, ...choice }: DrawChoice,
  pool: Pool,
): Promise<StudiedSurvival> {
  const { main, others, landmark, riskTimes, deltas } = events;
  const study = { ...run, groups, ...(adjustment === undefined ? {} : { adjustment }) };
  const survival = await landmarkSurvival(study, main.name, main.followUp, landmark, {
    ...choice,
    ...drawsOn(pool),
    competing: others,
    ...(riskTimes === undefined ? {} : { riskTimes: [...riskTimes].sort((a, b) => a - b) }),
  });
  const all = [main, ...others];
  const left = Array.from(main.followUp.events, (_, i) =>
    all.some(({ followUp }) => followUp.events[i] === 1) ? 1 : 0,
  );
  const first = { model: viewMarker(run.model, 0), placements: viewPlacements(run.placements, run.model.markers, 0) };
  const who = `those with ${all.map(({ name }) => midSentence(outcomeName(name))).join(" or ")}`;
  const dropout = dropoutSensitivity({ ...first, groups }, left, who, deltas === undefined ? {} : { deltas });
  return { ...survival, dropout, data: eventData(events) };
}
