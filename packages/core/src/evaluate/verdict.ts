/**
 * The verdict of a comparison in one sentence: the map against the reference (the linear mixed model where it takes part),
 * and every other model that was asked for against whichever of the two is to be used. "Better" is said only where the
 * held-out log-likelihood and the CRPS of the next visit both win; where they part, the sentence says so. "As well" means that
 * the 95% intervals of both paired differences hold zero; it is no proof that there is none.   (docs/math/evaluation.md §3)
 */
import type { ComparedModel, ModelDifference, PairedDifference } from "./compared-models.ts";

const NAMES: Readonly<Record<ComparedModel, { readonly name: string; readonly plural: boolean }>> = {
  population: { name: "the population's mean curve (population)", plural: false },
  locf: { name: "the last value carried forward (locf)", plural: false },
  constant: { name: "a constant level (constant)", plural: false },
  line: { name: "straight lines (line)", plural: true },
  lmm: { name: "the linear mixed model", plural: false },
  "lmm-covariates": { name: "the linear mixed model with the same covariates (lmm-covariates)", plural: false },
  "lmm-paper": { name: "the linear mixed model as published (lmm-paper)", plural: false },
  fpca: { name: "principal components (fpca)", plural: true },
  "fpca-covariates": { name: "principal components with the same covariates (fpca-covariates)", plural: true },
  dtm: { name: "the map (dtm)", plural: false },
  "dtm-plain": { name: "the map without covariates (dtm-plain)", plural: false },
  "dtm-paper": { name: "the map as published (dtm-paper)", plural: false },
  classes: { name: "latent classes (classes)", plural: true },
  lcmm: { name: "latent classes with random effects (lcmm)", plural: true },
};

/** Paired difference of two of the models compared. */
export type Difference = (model: ComparedModel, other: ComparedModel) => ModelDifference;

/** 1 where the interval says that the model is better, −1 worse, 0 where it holds zero. */
type Sign = 1 | 0 | -1;

function likelihoodSign({ lower, upper }: ModelDifference): Sign {
  return lower > 0 ? 1 : upper < 0 ? -1 : 0;
}

/** Of the CRPS of the next visit, smaller being better; the likelihood decides alone where nobody has a second visit. */
function forecastSign(difference: ModelDifference): Sign {
  const { nextCrps } = difference;
  if (nextCrps === null) return likelihoodSign(difference);
  return nextCrps.upper < 0 ? 1 : nextCrps.lower > 0 ? -1 : 0;
}

/** Whether a model is to be preferred: one score wins and the other does not lose. */
function isPreferred(difference: ModelDifference): boolean {
  const [likelihood, forecast] = [likelihoodSign(difference), forecastSign(difference)];
  return likelihood + forecast > 0;
}

/** One sentence; it may say that a simpler model is enough. */
export function verdictOf(models: readonly ComparedModel[], reference: ComparedModel, difference: Difference): string {
  const others = models.filter((model) => model !== reference);
  if (others.length === 0) return `Only ${reference} was scored: nothing to compare.`;
  const maps = others.filter((model) => model === "dtm" || model === "dtm-paper");
  const best = (maps.length > 0 ? maps : others)
    .map((model) => difference(model, reference))
    .reduce((a, b) => (b.mean > a.mean ? b : a));
  const chosen = isPreferred(best) ? best.model : reference;
  const rest = others.filter((model) => model !== best.model);
  return `${headline(best)}${restText(
    rest.map((model) => difference(model, chosen)),
    NAMES[chosen].name,
  )}.`;
}

/** The map, or the best of the others, against the reference. */
function headline(best: ModelDifference): string {
  const own = NAMES[best.model];
  const other = NAMES[best.reference];
  const [likelihood, forecast] = [likelihoodSign(best), forecastSign(best)];
  const amounts = `log-likelihood ${higher(best)}${crpsText(best.nextCrps)}`;
  if (likelihood === 0 && forecast === 0) {
    return `${capital(other.name)} ${verb("suffice", other.plural)}: ${own.name} ${own.plural ? "have" : "has"} a ${amounts}, which could be chance`;
  }
  if (likelihood + forecast === 2) {
    return `${capital(own.name)} ${verb("predict", own.plural)} new individuals better than ${other.name}: ${amounts}`;
  }
  if (likelihood <= 0 && forecast <= 0) {
    return `${capital(other.name)} ${verb("predict", other.plural)} new individuals better than ${own.name}: use ${other.plural ? "them" : "it"} (${own.name}: ${amounts})`;
  }
  // Likelihood and forecasts part.
  const does = [
    likelihood === 1 ? "a higher" : likelihood === 0 ? "no higher" : "a lower",
    forecast === 1 ? "better" : forecast === 0 ? "no better" : "worse",
  ];
  const has = own.plural ? "have" : "has";
  const advice = forecast === -1 ? `; for forecasts use ${other.name}` : "";
  return `${capital(own.name)} ${has} ${does[0]} likelihood than ${other.name} for new individuals but ${does[1]} forecasts of their next visits: ${amounts}${advice}`;
}

/**
 * The other models against the one to be used: those that do better first, then those whose scores part, then those that
 * do as well, then the rest.
 */
function restText(rest: readonly ModelDifference[], chosen: string): string {
  const signs = rest.map((d) => ({ d, likelihood: likelihoodSign(d), forecast: forecastSign(d) }));
  const where = (holds: (likelihood: Sign, forecast: Sign) => boolean) =>
    signs.filter(({ likelihood, forecast }) => holds(likelihood, forecast)).map(({ d }) => d);
  const better = where((l, f) => l === 1 && f === 1);
  const likelier = where((l, f) => l === 1 && f < 1);
  const forecasting = where((l, f) => l < 1 && f === 1);
  const equal = where((l, f) => l === 0 && f === 0);
  const worse = where((l, f) => l < 1 && f < 1 && l + f < 0);
  const crps = (d: ModelDifference) => crpsText(d.nextCrps).slice(2);
  const parts = [
    ...(better.length === 0 ? [] : [`but ${list(better, (d) => `by ${amount(d)}`)} ${does(better)} better still`]),
    ...(likelier.length === 0
      ? []
      : [`${list(likelier, (d) => `by ${amount(d)}`)} ${has(likelier)} a higher likelihood, but no better forecasts`]),
    ...(forecasting.length === 0
      ? []
      : [
          `but ${list(forecasting, crps)} ${forecasting.length > 1 || NAMES[forecasting[0].model].plural ? "forecast" : "forecasts"} next visits better`,
        ]),
    ...(equal.length === 0
      ? []
      : [`${list(equal, (d) => `difference ${brief(d)}`)} ${does(equal)} as well as ${chosen}`]),
    ...(worse.length === 0 ? [] : [`${list(worse)} ${does(worse)} worse than ${chosen}`]),
  ];
  return parts.map((part) => `; ${part}`).join("");
}

function verb(word: string, plural: boolean): string {
  return plural ? word : `${word}s`;
}

function does(models: readonly ModelDifference[]): string {
  return models.length > 1 || NAMES[models[0].model].plural ? "do" : "does";
}

function has(models: readonly ModelDifference[]): string {
  return models.length > 1 || NAMES[models[0].model].plural ? "have" : "has";
}

function list(models: readonly ModelDifference[], detail?: (d: ModelDifference) => string): string {
  const words = models.map((d) => `${NAMES[d.model].name}${detail === undefined ? "" : `, ${detail(d)},`}`);
  return words.length === 1
    ? words[0]
    : `${words.slice(0, -1).join(detail ? " " : ", ")} and ${words[words.length - 1]}`;
}

/** "higher by 0.25 per individual (95% CI …)", or lower: the sign is in the words, so the interval is turned with them. */
function higher(difference: ModelDifference): string {
  return `${difference.mean < 0 ? "lower" : "higher"} by ${amount(difference)}`;
}

function amount(difference: PairedDifference): string {
  const { mean, lower, upper } = inWords(difference);
  return `${decimals(mean)} per individual (95% CI ${decimals(lower)} to ${decimals(upper)})`;
}

/** ", CRPS of the next visit lower by 0.0012 (95% CI …)", with two digits that count. */
function crpsText(crps: PairedDifference | null): string {
  if (crps === null) return "";
  const { mean, lower, upper } = inWords(crps);
  const size = Math.max(Math.abs(lower), Math.abs(upper));
  const places = size > 0 ? Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(size)))) : 2;
  const show = (x: number) => decimals(x, places);
  return `, CRPS of the next visit ${crps.mean < 0 ? "lower" : "higher"} by ${show(mean)} (95% CI ${show(lower)} to ${show(upper)})`;
}

function inWords({ mean, lower, upper }: PairedDifference): { mean: number; lower: number; upper: number } {
  return mean < 0 ? { mean: -mean, lower: -upper, upper: -lower } : { mean, lower, upper };
}

/** Decimals with a true minus, and none before a zero. */
function decimals(x: number, places = 2): string {
  const text = x.toFixed(places);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "\u2212");
}

function brief({ mean, lower, upper }: ModelDifference): string {
  return `${decimals(mean)} (${decimals(lower)} to ${decimals(upper)})`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
