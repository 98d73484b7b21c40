/**
 * Would a study of this design work? By simulation from a fitted map, with the design's own visits (docs/math/power.md): how well places would be known, which links
 * of an outcome with the map would be found, and how wide forecasts would be. Simulated studies are stateless pieces of work (`simulateStudy`), so
 * threads may share them, and the result does not depend on how many there are.
 */
import { LEVEL } from "../associate/outcome-test.ts";
import { basisDomain } from "../basis/bspline.ts";
import { numObservations } from "../cohort/cohort.ts";
import { checkGiven, checkNames, checkOption } from "../errors.ts";
import { resampleSeed } from "../map/clusters/stability.ts";
import { groupCenters } from "../map/clusters/ward.ts";
import { groupPlaces } from "../map/groups.ts";
import { codingOf } from "../models/covariate-model.ts";
import { markerModel } from "../models/fit.ts";
import { isMapModel, type MapModel, type TrajectoryModel } from "../models/model.ts";
import { embed } from "../models/place.ts";
import type { Placements } from "../models/placement.ts";
import { sortedQuantile } from "../numeric/select.ts";
import { normalQuantile } from "../numeric/special.ts";
import { type FittingDesign, fitDesign, type StudyDesign } from "./design.ts";
import { type DesignForecasts, type DesignPlaces, forecastsOf, placesOf } from "./design-places.ts";
import { type LinkKind, type LinkRisks, type OutcomeLink, risksOf, secondShare } from "./outcome-links.ts";
import { type PowerPoint, powerCurve, type SmallestEffect, smallestEffect } from "./power-curve.ts";
import { drawStudy, type PowerPlan, type PowerReplicate, simulateStudy } from "./power-replicate.ts";

export interface StudyPowerOptions {
  /** Mean risk of the outcome. Default 0.3. */
  readonly risk?: number;
  /** Level of the test. Default 0.05. */
  readonly level?: number;
  /** Power of the smallest effect. Default 0.8. */
  readonly power?: number;
  /** Simulated studies. Default 50. */
  readonly replicates?: number;
  /** Outcomes drawn for each effect in each of them. Default 10. */
  readonly numOutcomes?: number;
  /** "fitted" (default): each simulated study fits its own map; "known": everybody is placed on the model as it is, as with `embed`. */
  readonly map?: "fitted" | "known";
  /** Log odds ratios to be tried. Default: about what would be found, by link. */
  readonly effects?: readonly number[];
  /** Times of the forecasts. */
  readonly horizons?: readonly number[];
  readonly seed?: number;
  /** Runs one simulated study; a pool of threads can stand in. Default `simulateStudy`. */
  readonly run?: (plan: PowerPlan, seed: number) => PowerReplicate | Promise<PowerReplicate>;
  /** Above 1 all studies are handed to `run` at once, which keeps its own queue. Default 1. */
  readonly jobs?: number;
  readonly onProgress?: (done: number, of: number) => void;
}

const OPTIONS: { readonly [Name in keyof Required<StudyPowerOptions>]: true } = {
  risk: true,
  level: true,
  power: true,
  replicates: true,
  numOutcomes: true,
  map: true,
  effects: true,
  horizons: true,
  seed: true,
  run: true,
  jobs: true,
  onProgress: true,
};

/** Power for one kind of link between outcome and map. */
export interface LinkPower {
  readonly kind: LinkKind;
  /** Share of the prior variance resolved along the direction; null between groups. */
  readonly resolved: number | null;
  /** Share of the population in the second group; null along a direction. */
  readonly groupShare: number | null;
  /** Power over log odds ratios, as the study would be made. */
  readonly curve: readonly PowerPoint[];
  /** The same if the map were known; equal to `curve` where no map is fitted. */
  readonly knownCurve: readonly PowerPoint[];
  /** The smallest log odds ratio with the power asked for, and what it means; null if none of those tried has it. */
  readonly smallest: (SmallestEffect & { readonly risks: LinkRisks }) | null;
  readonly knownSmallest: SmallestEffect | null;
}

export interface StudyPower {
  readonly numIndividuals: number;
  /** Visits of an individual, on average and by quartiles. */
  readonly visits: { readonly mean: number; readonly median: number; readonly lower: number; readonly upper: number };
  readonly outside: FittingDesign["outside"];
  readonly risk: number;
  readonly level: number;
  readonly power: number;
  readonly replicates: number;
  readonly numOutcomes: number;
  readonly map: "fitted" | "known";
  readonly places: DesignPlaces;
  readonly links: readonly LinkPower[];
  readonly forecasts: DesignForecasts;
  readonly seed: number;
}

/** Individuals behind places, directions, groups and forecasts. */
const NUM_REFERENCE = 1000;
/** Effects tried, as multiples of what is found with 80% power by a test of one direction that knows which. */
const MULTIPLES = [0, 0.5, 0.7, 0.95, 1.3, 1.75, 2.4, 3.2];
/** Odds ratios above are not tried: such an outcome needs no study. */
const LARGEST = Math.log(50);

/**
 * What a study of the design would find, by simulated studies from the model.
 * @throws DtmError "option" for a model that is no map of one or two dimensions, has covariates, or knows other times; "several-markers".
 * @example
 * const { links } = await studyPower(model, { numIndividuals: 300, visits: { times: [0, 0.5, 1, 2, 3], missing: 0.2 } });
 * links[0].smallest; // the smallest log odds ratio per prior standard deviation with 80% power
 */
export async function studyPower(
  model: TrajectoryModel,
  design: StudyDesign,
  options: StudyPowerOptions = {},
): Promise<StudyPower> {
  checkGiven("studyPower", { model, design, options });
  checkNames("studyPower", options, Object.keys(OPTIONS));
  const { risk = 0.3, level = LEVEL, power = 0.8, replicates = 50, numOutcomes = 10, map = "fitted" } = options;
  const { seed = 1, run = simulateStudy, jobs = 1, onProgress } = options;
  checkNumbers({ risk, level, power, replicates, numOutcomes });
  const own = checkModel(model);
  const { design: fitting, outside } = fitDesign(design, basisDomain(markerModel(own).basis));
  const reference = drawStudy({ model: own, design: { ...fitting, numIndividuals: NUM_REFERENCE } }, seed + 0.125);
  const placements = embed(own, reference.cohort);
  const places = placesOf(placements);
  const links = linksOf(own, placements, places).map((link) => ({
    ...link,
    effects: options.effects ?? effectsFor(link, places, fitting.numIndividuals, risk, level),
  }));
  const plan: PowerPlan = { model: own, design: fitting, links, risk, level, numOutcomes, refit: map === "fitted" };
  let done = 0;
  const simulate = async (b: number) => {
    const found = await run(plan, resampleSeed(seed, b));
    onProgress?.(++done, replicates);
    return found;
  };
  const studies = Array.from({ length: replicates }, (_, b) => b);
  const found: PowerReplicate[] = [];
  if (jobs > 1) found.push(...(await Promise.all(studies.map(simulate))));
  else for (const b of studies) found.push(await simulate(b));
  const counts = Float64Array.from(placements.numObservations).sort();
  const [lower, median, upper] = [0.25, 0.5, 0.75].map((p) => sortedQuantile(counts, p));
  return {
    numIndividuals: fitting.numIndividuals,
    visits: { mean: numObservations(reference.cohort) / NUM_REFERENCE, median, lower, upper },
    outside,
    risk,
    level,
    power,
    replicates,
    numOutcomes,
    map,
    places,
    links: links.map((link, l) => linkPower(link, l, found, { places, risk, power, seed })),
    forecasts: forecastsOf(own, reference.cohort, options.horizons),
    seed,
  };
}

function linkPower(
  link: OutcomeLink,
  l: number,
  found: readonly PowerReplicate[],
  { places, risk, power, seed }: { places: DesignPlaces; risk: number; power: number; seed: number },
): LinkPower {
  const known = found.map((study) => study.known[l]);
  const fitted = found.map((study) => (study.fitted ?? study.known)[l]);
  const smallest = smallestEffect(link.effects, fitted, power, seed);
  return {
    kind: link.kind,
    resolved: resolvedAlong(link, places),
    groupShare: secondShare(link),
    curve: powerCurve(link.effects, fitted),
    knownCurve: powerCurve(link.effects, known),
    smallest: smallest && { ...smallest, risks: risksOf(link, smallest.effect, risk) },
    knownSmallest: smallestEffect(link.effects, known, power, seed),
  };
}

function resolvedAlong({ kind }: Pick<OutcomeLink, "kind">, { directions }: DesignPlaces): number | null {
  if (kind === "groups") return null;
  return directions[kind === "most-resolved" ? 0 : directions.length - 1].resolved;
}

type Link = Omit<OutcomeLink, "effects">;

/** Outcomes along the directions that the design resolves best and least, and between the two groups that it would find, parted midway between their centres. */
function linksOf(model: MapModel, placements: Placements, { directions }: DesignPlaces): Link[] {
  const q = placements.mapDimension;
  const { labels } = groupPlaces(model, placements, { numGroups: 2 });
  const centers = groupCenters(placements.location, q, labels, 2);
  const gap = Float64Array.from({ length: q }, (_, c) => centers[q + c] - centers[c]);
  const length = Math.hypot(...gap);
  const direction = gap.map((v) => v / length);
  const cut = direction.reduce((sum, v, c) => sum + (v * (centers[c] + centers[q + c])) / 2, 0);
  return [
    { kind: "most-resolved", direction: directions[0].direction, cut: null },
    ...(q > 1 ? [{ kind: "least-resolved", direction: directions[q - 1].direction, cut: null } as const] : []),
    { kind: "groups", direction, cut },
  ];
}

/** Multiples of β = (z_{1−α/2} + z_{0.8})/√(m π(1−π) var(u) R): logistic regression on a u of which a share R is seen. */
function effectsFor(link: Link, places: DesignPlaces, m: number, risk: number, level: number): number[] {
  const R = resolvedAlong(link, places) ?? places.directions[0].resolved;
  const share = secondShare(link);
  const spread = share === null ? 1 : share * (1 - share);
  const information = m * risk * (1 - risk) * spread * Math.max(R, 0.02);
  const base = (normalQuantile(1 - level / 2) + normalQuantile(0.8)) / Math.sqrt(information);
  return [...new Set(MULTIPLES.map((k) => Math.min(k * base, LARGEST)))];
}

function checkModel(model: TrajectoryModel): MapModel {
  const where = "studyPower";
  const remedy = "Fit one without: dtm fit.";
  checkOption(
    isMapModel(model) && model.mapDimension <= 2,
    where,
    "a map of one or two dimensions",
    model.kind,
    remedy,
  );
  checkOption(codingOf(model) === undefined, where, "a map without covariates", "one with covariates", remedy);
  markerModel(model);
  return model as MapModel;
}

function checkNumbers({ risk, level, power, replicates, numOutcomes }: Record<string, number>): void {
  const are = (ok: boolean, expected: string, received: number) =>
    checkOption(ok, "studyPower", expected, received, "");
  are(risk > 0 && risk < 1, "a risk between 0 and 1", risk);
  are(level > 0 && level < 0.5, "a level between 0 and 0.5", level);
  are(power > level && power < 1, "a power between the level and 1", power);
  are(Number.isInteger(replicates) && replicates >= 2, "2 simulated studies or more", replicates);
  are(Number.isInteger(numOutcomes) && numOutcomes >= 1, "an outcome or more", numOutcomes);
}
