/**
 * Outcomes in sentences, for page, report and terminal alike: one sentence and one p for each outcome related to the map, one line for
 * all the others. A sentence follows its numbers: the p adjusted over outcomes (Holm) decides what is said; shares are held out; that a
 * relation holds among people seen equally often is said where that test finds it too.
 */
import { adjustedPValue, pValue, significant } from "./numbers.ts";
import { sharesOf } from "./small-cells.ts";
import type { Numbers, StudyAssociation } from "./study.ts";
import { midSentence, outcomeName } from "./words.ts";

type Tested = Pick<
  StudyAssociation["outcomes"][number],
  "outcome" | "p" | "draws" | "cases" | "controls" | "adjusted" | "contrast" | "seenEqually" | "landmark" | "caseMeans"
>;

const LEVEL = 0.05;

/** Whether an outcome is related to the map: the one test decides what is said, outlined and coloured. */
export function isRelated({ adjusted }: Pick<Tested, "adjusted">): boolean {
  return adjusted.holm < LEVEL;
}

export interface OutcomeWords {
  /** Counts below are withheld; 1 shows all. */
  readonly smallCell?: number;
  /** "year", before a time. */
  readonly timeWord?: string;
}

/** What the test of one outcome comes to. */
export function outcomeSentence(tested: Tested, words: OutcomeWords = {}): string {
  const { p, adjusted, cases, controls } = tested;
  if (!Number.isFinite(p)) return `Not tested: too few ${cases <= controls ? "with" : "without"} it.`;
  if (isRelated(tested)) return `${whereText(tested, words)}${visitsText(tested, words)}.`;
  return p < LEVEL
    ? `No relation found after adjustment (p ${adjustedPValue(adjusted.holm, p, tested.draws)}; ${pValue(p, tested.draws)} alone).`
    : `No relation found (p ${pValue(adjusted.holm)}).`;
}

function whereText({ contrast }: Tested, { smallCell = 1 }: OutcomeWords): string {
  // Held out, an area may come to nothing, or turn round.
  if (!contrast || !(contrast.side * (contrast.here.share - contrast.elsewhere.share) > 0)) {
    return "Spread differently over the map, though no single place stands out";
  }
  const { side, centre, here, elsewhere } = contrast;
  const [there, other] = sharesOf([here.cases, elsewhere.cases], [here.known, elsewhere.known], smallCell);
  const where = centre ? placeWords(centre) : "in the outlined area";
  const what = `${side > 0 ? "More common" : "Rarer"} ${where}`;
  // A bound, or one share without the other, would be no comparison.
  if (![there, other].every(({ text }) => /^[\d.]+%$/.test(text))) return `${what} (shares of few withheld)`;
  return `${what}: ${there.text} there, ${other.text} elsewhere (held out)`;
}

function visitsText({ seenEqually, landmark }: Tested, { timeWord = "time" }: OutcomeWords): string {
  const alike = seenEqually?.p ?? Number.NaN;
  if (seenEqually && !Number.isFinite(alike)) return "; the visits alone tell it";
  if (seenEqually && !(alike < LEVEL)) {
    return `; not shown among people seen equally often (p ${pValue(alike)}), so visits may have made it`;
  }
  const holds = seenEqually ? "; holds among people seen equally often" : "";
  return landmark && !(landmark.p < LEVEL)
    ? `${holds}${holds === "" ? ";" : ", but"} not shown from values up to ${timeWord} ${significant(landmark.landmark, 2)} alone (p ${pValue(landmark.p)})`
    : holds;
}

/** Within this of the middle, in prior sd, a place has no direction. */
const MIDDLE = 0.35;

/** A place on the map in words: "in the upper left". */
export function placeWords(place: Numbers): string {
  const [x, y = 0] = Array.from(place);
  if (Math.hypot(x, y) < MIDDLE) return "in the middle";
  const across = x < 0 ? "left" : "right";
  const up = y < 0 ? "lower" : "upper";
  if (Math.abs(y) < 0.5 * Math.abs(x)) return `on the ${across}`;
  return Math.abs(x) < 0.5 * Math.abs(y) ? `in the ${up} part` : `in the ${up} ${across}`;
}

/** One outcome related to the map. */
export interface OutcomeLine {
  readonly outcome: string;
  readonly name: string;
  readonly sentence: string;
  /** p, adjusted over outcomes. */
  readonly p: string;
}

/** Related outcomes a line each, in the order given, and the others in one. */
export function outcomeLines<T extends Tested>(outcomes: readonly T[], words: OutcomeWords = {}) {
  const related = outcomes.filter(isRelated).map((tested): OutcomeLine => {
    const { outcome } = tested;
    return {
      outcome,
      name: caseName(tested),
      sentence: outcomeSentence(tested, words),
      p: adjustedPValue(tested.adjusted.holm, tested.p, tested.draws),
    };
  });
  const others = outcomes.filter((tested) => !isRelated(tested));
  const names = (list: readonly T[], note: (tested: T) => string = () => "") => {
    const each = list.map((tested) => midSentence(outcomeName(tested.outcome)) + note(tested));
    return each.join(each.some((name) => /,| and /.test(name)) ? "; " : ", ");
  };
  const untested = others.filter(({ p }) => !Number.isFinite(p));
  const alone = others.filter(({ p }) => p < LEVEL);
  const none = others.filter(({ p }) => p >= LEVEL);
  const rest = [
    none.length > 0 && `No relation found: ${names(none)}.`,
    alone.length > 0 && `None after adjustment: ${names(alone, ({ p, draws }) => ` (p ${pValue(p, draws)} alone)`)}.`,
    untested.length > 0 && `Not tested, too few with or without it: ${names(untested)}.`,
  ].filter((text) => text !== false);
  return { related, rest: rest.join(" ") };
}

/** The outcome as a reader would name it, and which of two values counts where its name does not say it. */
function caseName({ outcome, caseMeans = "" }: Tested): string {
  const [, level] = / is "(.*)"$/.exec(caseMeans) ?? [];
  return level === undefined || outcome.includes("=") ? outcomeName(outcome) : `${outcomeName(outcome)} (${level})`;
}

/** How the lines are to be read, for every place that shows them. */
export function outcomeNote(outcomes: readonly Tested[]): string {
  const tested = outcomes.filter(({ p }) => Number.isFinite(p)).length;
  const many = tested > 1 ? ` p is adjusted over ${tested} outcomes (Holm).` : "";
  const shares = outcomes.some(({ contrast }) => contrast)
    ? " Held out: each person is counted by an area that the others have drawn."
    : "";
  const visits = outcomes.some(({ seenEqually }) => seenEqually)
    ? " Seen equally often: the same test beside number, first and last time of visits."
    : "";
  return `One test for each outcome: are those with and without it spread differently over the map?${many}${shares}${visits}`;
}
