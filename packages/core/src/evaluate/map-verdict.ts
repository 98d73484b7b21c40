/**
 * The one light of trust on a map, by four parts (docs/math/evaluation.md §4):
 *   settled   the fit no longer moves places;
 *   starts    other starts found the same map, or clearly worse ones, and refits to 80% of the individuals find it again;
 *   explains  new individuals are predicted better than by a mixed model with a mean curve;
 *   covers    90% bands of forecasts, as they are given by default, hold 88 to 92% of what came.
 * The worst part speaks, in words that page, report and command line share. What has not been looked at is unknown, never
 * good: the last two need a comparison on held-out individuals (or, for bands, a calibration). Before there is one, a map is
 * told to be of noise where places account for no more of the variance than chance gives (`chanceShare`).
 */
import { checkModel, type FitRecord } from "../models/fit.ts";
import { isMapModel, type TrajectoryModel } from "../models/model.ts";
import { SAME_MAP } from "../models/run.ts";
import { sortedQuantile } from "../numeric/select.ts";
import { COVERS_TITLE, covers } from "./covers.ts";
import { carries, NOTHING } from "./explains.ts";
import { type HeldOutEvidence, type Judged, type Light, type LightState, NOT_KNOWN_YET, worseOf } from "./light.ts";

export type LightColour = "green" | "amber" | "grey";

export interface MapVerdict {
  readonly colour: LightColour;
  /** The worst of the parts. */
  readonly state: LightState;
  /** How to take the map: "Reliable map", "Read with care" or "Do not read". */
  readonly advice: string;
  /** Why, in a few words; empty where there is nothing to say. */
  readonly reason: string;
  /** Both: "Read with care: starts disagree". */
  readonly words: string;
  /** The same with the sentence behind it. */
  readonly headline: string;
  readonly lights: readonly Light[];
}

/** Median R² of the places of refits that is as good as the same map, and below which it is another one. */
const ANOTHER_MAP = 0.5;
/** Which part gives the reason where several are as bad. */
const FIRST_SAID: readonly Light["name"][] = ["settled", "explains", "starts", "covers"];

const COLOURS: { readonly [state in LightState]: LightColour } = {
  good: "green",
  unknown: "amber",
  caution: "amber",
  poor: "grey",
};
const ADVICE: { readonly [colour in LightColour]: string } = {
  green: "Reliable map",
  amber: "Read with care",
  grey: "Do not read",
};
const EVIDENCE: { readonly [name in Light["name"]]: Light["evidence"] } = {
  settled: { view: "fit", command: "dtm fit" },
  starts: { view: "fit", command: "dtm fit --restarts 2; dtm groups RUN" },
  explains: { view: "models", command: "dtm compare RUN" },
  covers: { view: "models", command: "dtm compare RUN" },
};
const TITLES: { readonly [name in Light["name"]]: string } = {
  settled: "Settled",
  starts: "Starts and refits agree",
  explains: "Explains more than a mixed model",
  covers: COVERS_TITLE,
};
const ANSWERS: { readonly [state in LightState]: string } = {
  good: "yes",
  unknown: NOT_KNOWN_YET,
  caution: "with care",
  poor: "no",
};

/**
 * The light of a fitted model, with what a comparison on held-out individuals said of it and the agreement of refits (R² of
 * places, `MapStability.mapAgreement`), where there are any; a calibration is part of the model. Models without a map have the
 * first part alone.
 * @example
 * const { colour, words, lights } = mapVerdict(model, comparison); // "amber", "Read with care: starts disagree"
 */
export function mapVerdict(
  model: TrajectoryModel,
  comparison: HeldOutEvidence | null = null,
  refits: readonly number[] | null = null,
): MapVerdict {
  checkModel("mapVerdict", model);
  const light = (name: Light["name"], judged: Judged): Light => ({
    ...{ name, title: TITLES[name], answer: ANSWERS[judged.state], evidence: EVIDENCE[name] },
    ...judged,
  });
  const isMap = isMapModel(model);
  const lights = [light("settled", settled(model.record, isMap))];
  if (isMap) {
    lights.push(
      light("starts", starts(model.record, refits)),
      light("explains", carries(model, comparison)),
      light("covers", covers(model, comparison)),
    );
  }
  const state = lights.reduce<LightState>((worst, own) => worseOf(worst, own.state), "good");
  const worst = lights.filter((own) => own.state === state);
  const first = FIRST_SAID.flatMap((name) => worst.filter((own) => own.name === name))[0];
  const colour = COLOURS[state];
  const advice = !isMap && colour === "green" ? "Settled" : ADVICE[colour];
  const reason = colour === "green" ? "" : first.brief;
  const words = reason === "" ? advice : `${advice}: ${reason}`;
  const headline = reason === "" ? `${words}.` : `${words}. ${first.sentence}`;
  return { colour, state, advice, reason, words, headline, lights };
}

/** The verdict of a comparison beside the light of its map: that a map explains nothing stands in the sentence too, whatever scores better. */
export function verdictOnMap(verdict: string, { lights }: Pick<MapVerdict, "lights">): string {
  const isNothing = lights.some(({ name, state }) => name === "explains" && state === "poor");
  return isNothing && !verdict.includes(NOTHING) ? `${verdict} The map ${NOTHING}: do not read it.` : verdict;
}

/** How a fit ended, in a word. */
export type FitEnd = "Settled" | "Not settled" | "Stopped";

/** The end of a fit, as its own verdict says it; stopped is one whose noise was at its lower limit. */
export function fitEnd({ converged, verdict }: Pick<FitRecord, "converged" | "verdict">): FitEnd {
  if (converged) return "Settled";
  return /noise at its lower limit/.test(verdict) ? "Stopped" : "Not settled";
}

/** How the fit ended; of a model without a map as its record says it, since it ends by its likelihood and not by places. */
function settled(record: FitRecord, isMap: boolean): Judged {
  const end = fitEnd(record);
  const sentence = record.verdict;
  if (end === "Settled" && !isMap) return { state: "good", brief: "settled", sentence };
  if (end === "Settled") {
    const { iterations } = record;
    const passes = iterations === 1 ? "1 pass" : `${iterations} passes`;
    return { state: "good", brief: "settled", sentence: `After ${passes} places hardly move any more.` };
  }
  if (end === "Not settled") return { state: "caution", brief: "the fit has not settled", sentence };
  return { state: "poor", brief: "no map fits these data best", sentence };
}

/** The worse of what starts and refits say; refits have as many starts as the fit, so that after one start they cannot make it good. */
function starts(record: FitRecord, refits: readonly number[] | null): Judged {
  const first = amongStarts(record);
  const known = refits?.filter(Number.isFinite) ?? [];
  if (known.length === 0) return first;
  const sorted = Float64Array.from(known).sort();
  const middle = sortedQuantile(sorted, 0.5);
  const again = `Refits to 80% of the individuals give places with R² ${middle.toFixed(2)} (median; ${sorted[0].toFixed(2)} to ${sorted[sorted.length - 1].toFixed(2)} over ${sorted.length})`;
  const state = middle >= SAME_MAP ? "good" : middle >= ANOTHER_MAP ? "caution" : "poor";
  const sentence = `${again}${state === "good" ? "." : ": the map depends on who is in the sample."}`;
  const isWorse = first.state === "unknown" ? state === "good" : worseOf(first.state, state) !== state;
  if (isWorse) {
    return { ...first, sentence: `${first.sentence} ${sentence}` };
  }
  const brief = state === "good" ? "refits agree" : "refits disagree";
  return { state, brief, sentence: `${sentence} ${first.sentence}` };
}

function endedElsewhere(others: readonly unknown[]): string {
  return others.length === 1 ? "the other one ended on another map," : "the others ended on other maps,";
}

function amongStarts({ starts: told = [] }: FitRecord): Judged {
  if (told.length < 2) {
    const sentence = "The map was fitted from one start: others might find another one. Not checked yet.";
    return { state: "unknown", brief: "one start only", sentence };
  }
  const [best, ...others] = told;
  const rival = others.find(({ sameMap, similarBound }) => similarBound && !sameMap);
  if (rival !== undefined) {
    return {
      state: "caution",
      brief: "starts disagree",
      sentence: `The start from ${rival.name} found a different map (R² ${rival.agreement.toFixed(2)} of places) whose bound is only ${Math.max(0, best.bound - rival.bound).toFixed(1)} lower: the data do not say which is right.`,
    };
  }
  const same = others.filter(({ sameMap }) => sameMap).length;
  const agree = { state: "good", brief: "starts agree" } as const;
  if (same === others.length)
    return { ...agree, sentence: `${told.length === 2 ? "Both" : `All ${told.length}`} starts found the same map.` };
  if (same > 0) {
    const rest = same === others.length - 1 ? "the other one" : "the others";
    return { ...agree, sentence: `${same + 1} of ${told.length} starts found the same map; ${rest} ended lower.` };
  }
  return {
    state: "caution",
    brief: "starts disagree",
    sentence: `Only the start from ${best.name} found this map; ${endedElsewhere(others)} lower by ${(best.bound - others[0].bound).toFixed(1)}${others.length === 1 ? "" : " or more"}. More starts (restarts) may find a better one.`,
  };
}
