/**
 * One verdict on a map, by four lights (docs/math/evaluation.md §4):
 *   settled   the fit no longer moves places;
 *   starts    other starts found the same map, or clearly worse ones, and refits to 80% of the individuals find it again;
 *   explains  new individuals are predicted better than by a mixed model with a mean curve;
 *   covers    90% intervals of forecasts hold about 90% of what came.
 * The worst light speaks first. What has not been looked at is unknown, never good: the last two need a comparison on
 * held-out individuals. How much of the variance the map carries in-sample is no light, since the residual beside it is
 * capped; only a map that carries next to nothing is told by it.
 */
import { checkGiven } from "../errors.ts";
import type { FitRecord } from "../models/fit.ts";
import type { TrajectoryModel } from "../models/model.ts";
import { SEEN_ONCE } from "../models/prepare.ts";
import { SAME_MAP } from "../models/run.ts";
import { sortedQuantile } from "../numeric/select.ts";

export type LightState = "good" | "unknown" | "caution" | "poor";

export interface Light {
  readonly name: "settled" | "starts" | "explains" | "covers";
  readonly state: LightState;
  readonly sentence: string;
}

export interface MapVerdict {
  /** The worst of the lights. */
  readonly state: LightState;
  /** How to take the map, and that with the first reason. */
  readonly advice: string;
  readonly headline: string;
  readonly lights: readonly Light[];
}

/** What is read of a comparison (`Comparison`, or one read back from a file). */
export interface HeldOutEvidence {
  readonly differences: readonly {
    readonly model: string;
    readonly reference: string;
    readonly mean: number;
    readonly lower: number;
    readonly upper: number;
    /** In the CRPS of the next visit, below zero where the model is better. */
    readonly nextCrps?: { readonly lower: number; readonly upper: number } | null;
  }[];
  readonly models: readonly {
    readonly model: string;
    readonly coverage: { readonly p90: number };
    /** How many forecasts the coverage is of; taken as many where a file does not say. */
    readonly forecast?: { readonly count?: number };
  }[];
}

/** Median R² of the places of refits that is as good as the same map, and below which it is another one. */
const ANOTHER_MAP = 0.5;
/** Below these shares of the variance between individuals a map carries next to nothing, and little. */
const NEXT_TO_NOTHING = 0.1;
const LITTLE = 0.5;
/** Coverage of 90% intervals that is as it should be, and that is not far from it. */
const GOOD_COVERAGE = [0.85, 0.95] as const;
const FAIR_COVERAGE = [0.8, 0.975] as const;

const ORDER: readonly LightState[] = ["good", "unknown", "caution", "poor"];
const ADVICE: { readonly [state in LightState]: string } = {
  good: "The map can be read.",
  unknown: "The map has settled; whether it predicts new individuals has not been checked.",
  caution: "Read the map with care.",
  poor: "Do not draw conclusions from this map.",
};

/**
 * The verdict on a fitted model, with what a comparison on held-out individuals said of it and the agreement of refits (R² of
 * places, `MapStability.mapAgreement`), where there are any. Models without a map have the first light alone.
 * @example
 * const { state, headline, lights } = mapVerdict(model, comparison);
 */
export function mapVerdict(
  model: TrajectoryModel,
  comparison: HeldOutEvidence | null = null,
  refits: readonly number[] | null = null,
): MapVerdict {
  checkGiven("mapVerdict", { model });
  const isMap = model.kind === "dtm" || model.kind === "dtm-paper";
  const lights = isMap
    ? [settled(model.record), starts(model.record, refits), carries(model, comparison), covers(model, comparison)]
    : [settled(model.record)];
  const state = lights.reduce<LightState>(
    (worst, light) => (rank(light.state) > rank(worst) ? light.state : worst),
    "good",
  );
  const told = lights.filter((light) => light.state === state).map(({ sentence }) => sentence);
  const advice = ADVICE[state];
  const headline = state === "good" || state === "unknown" ? advice : `${advice} ${told[0]}`;
  return { state, advice, headline, lights };
}

function rank(state: LightState): number {
  return ORDER.indexOf(state);
}

function settled({ converged, verdict }: FitRecord): Light {
  return { name: "settled", state: converged ? "good" : "poor", sentence: verdict };
}

/** The worse of what starts and refits say. */
function starts(record: FitRecord, refits: readonly number[] | null): Light {
  const first = amongStarts(record);
  const known = refits?.filter(Number.isFinite) ?? [];
  if (known.length === 0) return first;
  const sorted = Float64Array.from(known).sort();
  const middle = sortedQuantile(sorted, 0.5);
  const again = `Refits to 80% of the individuals give places with R² ${middle.toFixed(2)} (median; ${sorted[0].toFixed(2)} to ${sorted[sorted.length - 1].toFixed(2)} over ${sorted.length})`;
  const state = middle >= SAME_MAP ? "good" : middle >= ANOTHER_MAP ? "caution" : "poor";
  const sentence = `${again}${state === "good" ? "." : ": the map depends on who is in the sample."}`;
  const worse = rank(state) > rank(first.state) || first.state === "unknown";
  const [told, then] = worse ? [sentence, first.sentence] : [first.sentence, sentence];
  return { name: "starts", state: worse ? state : first.state, sentence: `${told} ${then}` };
}

function amongStarts({ starts: told = [] }: FitRecord): Light {
  const light = (state: LightState, sentence: string): Light => ({ name: "starts", state, sentence });
  if (told.length < 2) return light("unknown", "The map was fitted from one start: others might find another one.");
  const [best, ...others] = told;
  const rival = others.find(({ sameMap, similarBound }) => similarBound && !sameMap);
  if (rival !== undefined) {
    return light(
      "poor",
      `The start from ${rival.name} found a different map (R² ${rival.agreement.toFixed(2)} of places) whose bound is only ${Math.max(0, best.bound - rival.bound).toFixed(1)} lower: the data do not say which is right.`,
    );
  }
  const same = others.filter(({ sameMap }) => sameMap).length;
  if (same === others.length) return light("good", `All ${told.length} starts found the same map.`);
  if (same > 0) {
    return light("good", `${same + 1} of ${told.length} starts found the same map; the others ended lower.`);
  }
  return light(
    "caution",
    `Only the start from ${best.name} found this map; the others ended on other maps, lower by ${(best.bound - others[0].bound).toFixed(1)} or more. More starts (restarts) may find a better one.`,
  );
}

/** What the map explains; where most individuals were seen once that speaks first, unless worse is known. */
function carries(model: TrajectoryModel, comparison: HeldOutEvidence | null): Light {
  const light = explains(model, comparison);
  const warning = model.record.warnings.find((text) => text.includes(SEEN_ONCE));
  if (warning === undefined || rank(light.state) >= rank("caution")) return light;
  return { ...light, state: "caution", sentence: `${warning} ${light.sentence}` };
}

function explains(model: TrajectoryModel, comparison: HeldOutEvidence | null): Light {
  const light = (state: LightState, sentence: string): Light => ({ name: "explains", state, sentence });
  const share = model.kind === "dtm" ? meanShare(model.markers) : 1;
  if (share < NEXT_TO_NOTHING) {
    return light(
      "poor",
      `The map carries ${Math.round(100 * share)}% of the variance between individuals: places say nothing.`,
    );
  }
  const difference = comparison?.differences.find(
    (d) => d.model === model.kind && (d.reference === "lmm" || d.reference === "lmm-covariates"),
  );
  if (difference === undefined && share < LITTLE) {
    const carried = `In-sample the map carries ${Math.round(100 * share)}% of the variance between individuals`;
    return light("caution", `${carried}: places explain little. Not compared with a mixed model yet.`);
  }
  if (difference === undefined) {
    return light("unknown", "Not compared with a mixed model on held-out individuals yet.");
  }
  const { mean, lower, upper, nextCrps } = difference;
  const amount = `${signed(mean)} (95% CI ${signed(lower)} to ${signed(upper)}) in held-out log-likelihood per individual`;
  // "Better" takes likelihood and forecasts.
  if (lower > 0 && nextCrps && nextCrps.lower > 0) {
    return light("caution", `The map has a higher likelihood than the mixed model, ${amount}, but worse forecasts.`);
  }
  if (lower > 0 && nextCrps && nextCrps.upper >= 0) {
    return light("good", `The map has a higher likelihood than the mixed model, ${amount}, and forecasts as good.`);
  }
  if (lower > 0) return light("good", `The map predicts new individuals better than the mixed model: ${amount}.`);
  if (upper < 0) return light("poor", `The mixed model predicts new individuals better than the map: ${amount}.`);
  return light("caution", `The map predicts new individuals no better than the mixed model: ${amount}.`);
}

/** Of several markers the mean. */
function meanShare(markers: readonly { readonly varianceShare: number }[]): number {
  return markers.reduce((sum, { varianceShare }) => sum + varianceShare, 0) / markers.length;
}

function covers({ kind }: TrajectoryModel, comparison: HeldOutEvidence | null): Light {
  const light = (state: LightState, sentence: string): Light => ({ name: "covers", state, sentence });
  const found = comparison?.models.find(({ model }) => model === kind);
  if (found === undefined) return light("unknown", "Coverage of forecasts on held-out individuals not checked yet.");
  const { p90 } = found.coverage;
  const count = found.forecast?.count ?? Number.POSITIVE_INFINITY;
  const within = ([low, high]: readonly [number, number]) => p90 >= low && p90 <= high;
  const state = within(GOOD_COVERAGE) ? "good" : within(FAIR_COVERAGE) ? "caution" : "poor";
  const hold = `90% intervals of held-out forecasts hold ${Math.round(100 * p90)}%`;
  // Of few forecasts even intervals of the right width may hold all, or much fewer than 90%.
  if (state !== "good" && Math.abs(p90 - 0.9) <= 2 * Math.sqrt((0.9 * 0.1) / count)) {
    return light("unknown", `${hold} of the ${count} values that came: too few to say more.`);
  }
  return light(state, `${hold} of the values that came.`);
}

function signed(x: number): string {
  return `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(2)}`;
}
