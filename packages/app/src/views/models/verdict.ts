/** What a comparison comes to, in the words of the page; it may say that the simpler model is enough. */
import type { ComparedModel, Comparison } from "@trajectory-maps/core";
import { fixed, interval } from "../../lib/numbers.ts";
import { MODEL_NAMES } from "./names.ts";

const COUNTS = ["", "", "two", "three", "four", "five", "six", "seven"];
const isMap = (model: ComparedModel) => model === "dtm" || model === "dtm-paper";

/** One or two sentences about the best map, or about the best model if no map took part. */
export function verdictSentence({ models, differences, verdict }: Comparison): string {
  const maps = differences.filter(({ model }) => isMap(model));
  const candidates = maps.length > 0 ? maps : differences;
  if (candidates.length === 0) return verdict;
  const best = candidates.reduce((a, b) => (b.mean > a.mean ? b : a));
  const name = lower(MODEL_NAMES[best.model]);
  const reference = lower(MODEL_NAMES[best.reference]);
  const amount = `difference ${fixed(best.mean, 2)}, 95% CI ${interval(best.lower, best.upper, 2)}`;
  const reading = isMap(best.model) ? " Use the map for reading, not because it fits better." : "";
  if (best.lower > 0) {
    return `The ${name} predicts held-out individuals better than the ${reference} (${amount}).`;
  }
  if (best.upper < 0) {
    const aid = isMap(best.model) ? " The map is a reading aid for this cohort." : "";
    return `The ${reference} predicts better here (${amount}).${aid}`;
  }
  const allTie = differences.every((d) => d.lower <= 0 && d.upper >= 0);
  const who = allTie ? `The ${COUNTS[models.length] ?? models.length} models` : `The ${name} and the ${reference}`;
  return `${who} predict held-out individuals equally well (${amount}).${reading}`;
}

/** A name inside a sentence; letters that stand for words stay large. */
function lower(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}
