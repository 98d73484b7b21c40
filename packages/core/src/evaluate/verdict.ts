/**
 * The verdict of a comparison in one sentence: the map against the reference (the linear mixed model where it takes part),
 * and every other model that was asked for against whichever of the two is to be used. "Better" is said only where the
 * held-out log-likelihood and the CRPS of the next visit both win, "worse" where both lose; else the sentence names the score that
 * tells, and of the other that nothing is shown. "As well" means that the 95% intervals of both paired differences hold zero; it
 * is no proof that there is none.   (docs/math/evaluation.md §3)
 */
import { decimals } from "../numeric/decimals.ts";
import type { ComparedModel, ModelDifference, PairedDifference } from "./compared-models.ts";
import { digitsFor, forecastSign, likelihoodSign, type Sign } from "./difference-words.ts";

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
    return `${capital(other.name)} ${verb("suffice", other.plural)}: ${own.name} ${have(own)} a ${amounts}, which could be chance`;
  }
  if (likelihood + forecast === 2) {
    return `${capital(own.name)} ${verb("predict", own.plural)} new individuals better than ${other.name}: ${amounts}`;
  }
  if (likelihood <= 0 && forecast <= 0) {
    const does =
      likelihood + forecast === -2
        ? `${verb("predict", other.plural)} new individuals better than ${own.name}`
        : likelihood === -1
          ? `${have(other)} a higher likelihood for new individuals than ${own.name}`
          : `${verb("forecast", other.plural)} next visits of new individuals better than ${own.name}`;
    return `${capital(other.name)} ${does}: use ${other.plural ? "them" : "it"} (${own.name}: ${amounts})`;
  }
  if (likelihood === 0) {
    return `${capital(own.name)} ${verb("forecast", own.plural)} next visits of new individuals better than ${other.name}, but no gain in likelihood is shown: ${amounts}`;
  }
  const forecasts = "forecasts of their next visits";
  const but =
    forecast === 0 ? `no gain in ${forecasts} is shown` : `${forecast === 1 ? "better" : "worse"} ${forecasts}`;
  const advice = forecast === -1 ? `; for forecasts use ${other.name}` : "";
  return `${capital(own.name)} ${have(own)} a ${likelihood === 1 ? "higher" : "lower"} likelihood than ${other.name} for new individuals, but ${but}: ${amounts}${advice}`;
}

/** What is said of other models by the signs of both scores, in the order in which it is said. */
const REST: readonly {
  readonly holds: (likelihood: Sign, forecast: Sign) => boolean;
  readonly said: (models: readonly ModelDifference[], chosen: string) => string;
}[] = [
  {
    holds: (l, f) => l === 1 && f === 1,
    said: (models) => `but ${list(models, byAmount)} ${does(models)} better still`,
  },
  {
    holds: (l, f) => l === 1 && f === 0,
    said: (models) => `${list(models, byAmount)} ${has(models)} a higher likelihood, but no gain in forecasts is shown`,
  },
  {
    holds: (l, f) => l === 1 && f === -1,
    said: (models) => `${list(models, byAmount)} ${has(models)} a higher likelihood, but worse forecasts`,
  },
  {
    holds: (l, f) => l < 1 && f === 1,
    said: (models) => `but ${list(models, byCrps)} ${verb("forecast", isPlural(models))} next visits better`,
  },
  {
    holds: (l, f) => l === 0 && f === 0,
    said: (models, chosen) => `${list(models, (d) => `difference ${brief(d)}`)} ${does(models)} as well as ${chosen}`,
  },
  {
    holds: (l, f) => l === -1 && f === 0,
    said: (models, chosen) =>
      `${list(models, byAmount)} ${has(models)} a lower likelihood than ${chosen}, but no loss in forecasts is shown`,
  },
  {
    holds: (l, f) => l === 0 && f === -1,
    said: (models, chosen) =>
      `${list(models, byCrps)} ${verb("forecast", isPlural(models))} next visits worse than ${chosen}, but no loss in likelihood is shown`,
  },
  {
    holds: (l, f) => l === -1 && f === -1,
    said: (models, chosen) =>
      `${list(models)} ${does(models)} worse than ${chosen} in likelihood${models.some((d) => d.nextCrps !== null) ? " and CRPS" : ""}`,
  },
];

/** The other models against the one to be used. */
function restText(rest: readonly ModelDifference[], chosen: string): string {
  const signs = rest.map((d) => ({ d, likelihood: likelihoodSign(d), forecast: forecastSign(d) }));
  return REST.map(({ holds, said }) => {
    const models = signs.filter(({ likelihood, forecast }) => holds(likelihood, forecast)).map(({ d }) => d);
    return models.length === 0 ? "" : `; ${said(models, chosen)}`;
  }).join("");
}

function byAmount(difference: ModelDifference): string {
  return `by ${amount(difference)}`;
}

function byCrps(difference: ModelDifference): string {
  return crpsText(difference.nextCrps).slice(2);
}

function verb(word: string, plural: boolean): string {
  return plural ? word : `${word}s`;
}

function isPlural(models: readonly ModelDifference[]): boolean {
  return models.length > 1 || NAMES[models[0].model].plural;
}

function does(models: readonly ModelDifference[]): string {
  return isPlural(models) ? "do" : "does";
}

function has(models: readonly ModelDifference[]): string {
  return have({ plural: isPlural(models) });
}

function have({ plural }: { readonly plural: boolean }): string {
  return plural ? "have" : "has";
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
  const show = (x: number) => decimals(x, digitsFor({ lower, upper }));
  return `${show(mean)} per individual (95% CI ${show(lower)} to ${show(upper)})`;
}

/** ", CRPS of the next visit lower by 0.0012 (95% CI …)", with two digits that count. */
function crpsText(crps: PairedDifference | null): string {
  if (crps === null) return "";
  const { mean, lower, upper } = inWords(crps);
  const size = Math.max(Math.abs(lower), Math.abs(upper));
  const places = size > 0 ? Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(size)))) : 2;
  const show = (x: number) => decimals(x, digitsFor({ lower, upper }, places));
  return `, CRPS of the next visit ${crps.mean < 0 ? "lower" : "higher"} by ${show(mean)} (95% CI ${show(lower)} to ${show(upper)})`;
}

function inWords({ mean, lower, upper }: PairedDifference): { mean: number; lower: number; upper: number } {
  return mean < 0 ? { mean: -mean, lower: -upper, upper: -lower } : { mean, lower, upper };
}

function brief({ mean, lower, upper }: ModelDifference): string {
  const show = (x: number) => decimals(x, digitsFor({ lower, upper }));
  return `${show(mean)} (${show(lower)} to ${show(upper)})`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
