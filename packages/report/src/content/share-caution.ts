/** What crude shares of an outcome by group leave out: how long the members of each group were seen. */

import { sortedQuantile } from "@trajectory-maps/core/ingest";
import { fixed } from "../numbers.ts";
import { midSentence, outcomeName } from "../words.ts";
import type { Context } from "./context.ts";

/** A sentence for the caption of shares by group; empty where none are shown. */
export function shareCaution({ study, groups, mapOutcome, timeWord, smallCell }: Context): string {
  if (mapOutcome === undefined || study.groups === undefined || groups.length < 2) return "";
  const { labels } = study.groups;
  const last = study.placements?.lastTime;
  const medians = groups.flatMap(({ group, letter }) => {
    const times = last?.filter((_, i) => labels[i] === group).sort();
    return times === undefined || times.length < smallCell ? [] : [{ letter, time: sortedQuantile(times, 0.5) }];
  });
  const ordered = [...medians].sort((a, b) => a.time - b.time);
  const [first, end] = [ordered[0], ordered[ordered.length - 1]];
  const seen =
    first === undefined || end.time === first.time
      ? ""
      : ` (median last visit from ${timeWord} ${fixed(first.time, 1)} in ${first.letter} to ${fixed(end.time, 1)} in ${end.letter})`;
  const instead = study.survival === undefined ? "" : "; the curves from the landmark on allow for that";
  return ` Shares with ${midSentence(outcomeName(mapOutcome.name))} are crude: groups were seen for unequal lengths of time${seen}, which shares do not allow for${instead}.`;
}
