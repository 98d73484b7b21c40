/** Survival after a landmark, with competing events, and what changes if those who had an event went on otherwise. */
import type { Groups } from "@trajectory-maps/core";
import { readFollowUp, type SubjectsTable, visitTimes } from "@trajectory-maps/core/ingest";
import { viewMarker, viewPlacements } from "@trajectory-maps/core/models";
import {
  type DropoutSensitivity,
  dropoutSensitivity,
  type LandmarkSurvival,
  landmarkSurvival,
} from "@trajectory-maps/core/study";
import { midSentence, outcomeName } from "@trajectory-maps/report";
import { UsageError } from "../exit-codes.ts";
import type { Pool } from "../threads/pool.ts";
import type { Context } from "./command.ts";
import { type DrawChoice, drawsOn, outcomesOf, type PlacedRun } from "./study-parts.ts";

export interface EventChoice extends DrawChoice {
  /** As typed: name:column. */
  readonly event: string;
  readonly competing?: readonly string[];
  readonly landmark?: number;
  readonly riskTimes?: readonly number[];
  readonly deltas?: readonly number[];
}

/** Survival with the sensitivity to what those with an event would have gone on to, for the first marker. */
export interface StudiedSurvival extends LandmarkSurvival {
  readonly dropout: DropoutSensitivity;
}

/** Survival after a landmark for events written as name:column. */
export async function survivalOf(
  run: PlacedRun,
  groups: Groups,
  table: SubjectsTable,
  { event, competing = [], landmark, riskTimes, deltas, adjustment, ...choice }: EventChoice,
  pool: Pool,
  context: Context,
): Promise<StudiedSurvival> {
  const read = (text: string, flag: string) => {
    const at = text.lastIndexOf(":");
    if (at < 1 || at === text.length - 1) {
      throw new UsageError(
        `${flag}: expected name:column of follow-up, such as death:followup_years, received "${text}".`,
      );
    }
    const name = text.slice(0, at);
    const [outcome] = outcomesOf([name], table, run.cohort, context);
    if (outcome === undefined) throw new UsageError(`${flag}: expected an outcome, received "${name}".`);
    const visits = visitTimes(run.cohort);
    return { name, followUp: readFollowUp(table, text.slice(at + 1), outcome.labels, run.placements.ids, visits) };
  };
  const main = read(event, "--event");
  const others = competing.map((text) => read(text, "--competing"));
  const wrong = (riskTimes ?? []).find((t) => !(t > 0));
  if (wrong !== undefined) throw new UsageError(`--risk-times: expected times after the landmark, received ${wrong}.`);
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
  return { ...survival, dropout };
}
