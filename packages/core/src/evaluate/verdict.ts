/**
 * The verdict of a comparison in one sentence: the map against the reference (the linear mixed model where it takes part),
 * and every other model that was asked for against whichever of the two is to be used. "As well" means that the 95%
 * interval of the paired difference holds zero; it is no proof that there is none.   (docs/math/evaluation.md §3)
 */
import type { ComparedModel, ModelDifference } from "./compared-models.ts";

const NAMES: Readonly<Record<ComparedModel, { readonly name: string; readonly plural: boolean }>> = {
  constant: { name: "a constant level (constant)", plural: false },
  line: { name: "straight lines (line)", plural: true },
  lmm: { name: "the linear mixed model", plural: false },
  fpca: { name: "principal components (fpca)", plural: true },
  dtm: { name: "the map (dtm)", plural: false },
  "dtm-paper": { name: "the map as published (dtm-paper)", plural: false },
  classes: { name: "latent classes (classes)", plural: true },
};

/** Paired difference of two of the models compared. */
export type Difference = (model: ComparedModel, other: ComparedModel) => ModelDifference;

/** One sentence; it may say that a simpler model is enough. */
export function verdictOf(models: readonly ComparedModel[], reference: ComparedModel, difference: Difference): string {
  const others = models.filter((model) => model !== reference);
  if (others.length === 0) return `Only ${reference} was scored: nothing to compare.`;
  const maps = others.filter((model) => model === "dtm" || model === "dtm-paper");
  const best = (maps.length > 0 ? maps : others)
    .map((model) => difference(model, reference))
    .reduce((a, b) => (b.mean > a.mean ? b : a));
  const chosen = best.lower > 0 ? best.model : reference;
  const rest = others.filter((model) => model !== best.model);
  return `${headline(best)}${restText(
    rest.map((model) => difference(model, chosen)),
    NAMES[chosen].name,
  )}.`;
}

/** The map, or the best of the others, against the reference. */
function headline(best: ModelDifference): string {
  const { name } = NAMES[best.model];
  const other = NAMES[best.reference];
  const verb = (word: string, plural: boolean) => (plural ? word : `${word}s`);
  if (best.lower > 0) {
    const does = verb("predict", NAMES[best.model].plural);
    return `${capital(name)} ${does} new individuals better than ${other.name}: log-likelihood higher by ${amount(best)}`;
  }
  if (best.upper < 0) {
    const does = verb("predict", other.plural);
    return `${capital(other.name)} ${does} new individuals better than ${name}, by ${amount(best)}: use ${other.plural ? "them" : "it"}`;
  }
  const does = NAMES[best.model].plural ? "differ" : "differs";
  return `${capital(other.name)} ${verb("suffice", other.plural)}: ${name} ${does} by ${amount(best)}, which could be chance`;
}

/** The other models against the one to be used: those that do better first, then those that do as well, then the rest. */
function restText(rest: readonly ModelDifference[], chosen: string): string {
  const better = rest.filter(({ lower }) => lower > 0);
  const equal = rest.filter(({ lower, upper }) => lower <= 0 && upper >= 0);
  const worse = rest.filter(({ upper }) => upper < 0);
  const parts = [
    ...(better.length === 0 ? [] : [`but ${list(better, (d) => `by ${amount(d)}`)} ${does(better)} better still`]),
    ...(equal.length === 0
      ? []
      : [`${list(equal, (d) => `difference ${brief(d)}`)} ${does(equal)} as well as ${chosen}`]),
    ...(worse.length === 0 ? [] : [`${list(worse)} ${does(worse)} worse than ${chosen}`]),
  ];
  return parts.map((part) => `; ${part}`).join("");
}

function does(models: readonly ModelDifference[]): string {
  return models.length > 1 || NAMES[models[0].model].plural ? "do" : "does";
}

function list(models: readonly ModelDifference[], detail?: (d: ModelDifference) => string): string {
  const words = models.map((d) => `${NAMES[d.model].name}${detail === undefined ? "" : `, ${detail(d)},`}`);
  return words.length === 1
    ? words[0]
    : `${words.slice(0, -1).join(detail ? " " : ", ")} and ${words[words.length - 1]}`;
}

/** "Better by": the sign is in the words, so the interval is turned with them. */
function amount({ mean, lower, upper }: ModelDifference): string {
  const turn = upper < 0 ? -1 : 1;
  const [low, high] = turn > 0 ? [lower, upper] : [-upper, -lower];
  return `${decimals(turn * mean)} per individual (95% CI ${decimals(low)} to ${decimals(high)})`;
}

/** Two decimals with a true minus, and none before a zero. */
function decimals(x: number): string {
  return x
    .toFixed(2)
    .replace(/^-(0\.00)$/, "$1")
    .replace("-", "\u2212");
}

function brief({ mean, lower, upper }: ModelDifference): string {
  return `${decimals(mean)} (${decimals(lower)} to ${decimals(upper)})`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
