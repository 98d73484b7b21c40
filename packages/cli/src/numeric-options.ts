/**
 * Options that are numbers, checked before any work is done: a wrong one is refused in a moment, not after a fit, and none asks for more work
 * than anybody can mean. What depends on the data or the command is checked by the command besides.
 */
import { COMMON_OPTIONS, type Command, type Options } from "./commands/command.ts";
import { realNumber, wholeNumber } from "./commands/numbers.ts";
import { UsageError } from "./exit-codes.ts";
import { flagOf, longName } from "./option-names.ts";

/** What may be given: a whole number or any, from `least` to `most`, or a word instead. */
interface Range {
  readonly whole?: true;
  readonly least?: number;
  readonly most?: number;
  readonly word?: string;
}

/** What an option takes, as its flags name it, where that is a number. */
const NUMBER_NAMES = ["number", "share", "seconds", "value", "time", "sd", "rate"];

const from = (least: number, most: number): Range => ({ whole: true, least, most });
const SHARE: Range = { least: 0, most: 1 };
const ANY: Range = {};

/** By long name; the widest range that any command takes. */
const RANGES: Readonly<Record<string, Range>> = {
  ...{
    seed: { whole: true },
    jobs: from(1, 1024),
    port: from(0, 65_535),
    queue: from(1, 10_000),
    wait: from(0, 1e9),
    checkpoint: { least: 0.001, most: 1e9 },
  },
  ...{ dim: from(1, 3), basis: from(2, 1000), degree: from(1, 3), restarts: from(0, 1000), tolerance: { least: 0 } },
  ...{ folds: from(0, 1000), repeats: from(1, 1000), sensitivityFolds: from(0, 1000), stability: from(0, 10_000) },
  ...{ draws: from(99, 1e7), replicates: from(10, 1e6), smallCell: from(1, 1e6) },
  ...{
    individuals: { least: 1, most: 1e12 },
    visits: { least: 1, most: 1e6 },
    markers: { least: 1, most: 1000 },
    numMarkers: from(1, 1000),
  },
  ...{ groups: { ...from(1, 1000), word: "auto" }, least: from(2, 1e9), shards: from(1, 1e6), shard: from(0, 1e6) },
  ...{ skipLine: from(1, 1e12), yearPivot: from(0, 99), level: SHARE, risk: SHARE, missing: SHARE, tail: SHARE },
  ...{ shift: { least: 0 }, jitter: { least: 0 }, dropout: { least: 0 } },
  ...{ threshold: ANY, from: ANY, landmark: ANY },
};

/** The numbers that a command takes: long name, flag and range. */
export function numberOptions({ options }: Pick<Command, "options">) {
  return [...options, ...COMMON_OPTIONS].flatMap((option) => {
    const taken = /[<[]([a-z]+)[\]>]/.exec(option.flags)?.[1] ?? "";
    const name = longName(option);
    return NUMBER_NAMES.includes(taken) ? [{ name, flag: flagOf(option), range: RANGES[name] }] : [];
  });
}

/** Refuses numbers that cannot be meant. */
export function checkNumbers(command: Pick<Command, "options">, given: Options): void {
  for (const { name, flag, range } of numberOptions(command)) {
    const texts = given[name];
    for (const text of Array.isArray(texts) ? (texts as readonly string[]) : [texts]) {
      if (typeof text !== "string" || range === undefined || text === range.word) continue;
      const { whole, least = Number.MIN_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER } = range;
      if (whole === true) {
        wholeNumber(flag, text, least, most);
        continue;
      }
      const value = realNumber(flag, text);
      if (value < (range.least ?? -Infinity) || value > (range.most ?? Infinity)) {
        const upper =
          range.most === undefined ? ` of at least ${range.least}` : ` from ${range.least} to ${range.most}`;
        throw new UsageError(`${flag}: expected a number${upper}, received "${text}".`);
      }
    }
  }
}
