/** What is asked of a value in a what-if that the other visits contradict, in plain words. */
import type { SuspectValue } from "@trajectory-maps/core/study";
import type { MarkerWords } from "./words.ts";

/** Of the value that most probably is wrong; empty if none is. */
export function doubtSentence(
  suspects: readonly SuspectValue[],
  words: Pick<MarkerWords, "when" | "exact" | "value">,
): string {
  const [most] = [...suspects].sort((a, b) => b.probability - a.probability);
  if (most === undefined) return "";
  const { time, value, expected } = most;
  return `${words.exact(value)} at ${words.when(time)} is far from what the other visits let expect there, about ${words.value(expected)}.`;
}
