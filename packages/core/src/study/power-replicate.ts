/**
 * One simulated study of a design: places from the prior, values from the model, then the study as it would be analysed. A map is fitted to its own values,
 * everybody is placed on it, and outcomes that go with the true places are tested on whole posteriors, several outcomes for each effect: one fit serves them all. The same outcomes are tested on
 * the map that the values came from, as if it were known. (docs/math/power.md §3)
 */

import { LEAST } from "../associate/outcome-test.ts";
import { testKernel } from "../associate/place-features.ts";
import { posteriorFeatures } from "../associate/posterior-features.ts";
import { approximateP, scoreOf } from "../associate/score-test.ts";
import { basisDomain } from "../basis/bspline.ts";
import { markerModel } from "../models/fit.ts";
import type { MapModel } from "../models/model.ts";
import { createRandom } from "../numeric/random.ts";
import { simulateFromModel } from "../simulate/from-model.ts";
import { drawVisits, type StudyDesign } from "./design.ts";
import { drawOutcome, interceptOf, linkScores, type OutcomeLink } from "./outcome-links.ts";
import { refitLike } from "./refit.ts";

/** What all simulated studies share; plain data. */
export interface PowerPlan {
  readonly model: MapModel;
  readonly design: StudyDesign;
  readonly links: readonly OutcomeLink[];
  /** Mean risk of the outcome. */
  readonly risk: number;
  /** Level of the test. */
  readonly level: number;
  /** Outcomes drawn for each effect. */
  readonly numOutcomes: number;
  /** Whether a map is fitted to each study. */
  readonly refit: boolean;
}

/** Shares of the outcomes that are found, by link and effect. */
export interface PowerReplicate {
  readonly known: readonly (readonly number[])[];
  /** Null where no map was fitted. */
  readonly fitted: readonly (readonly number[])[] | null;
}

/** A cohort of the design with values from the model, and the true places [m,q]. */
export function drawStudy({ model, design }: Pick<PowerPlan, "model" | "design">, seed: number) {
  const { basis, marker } = markerModel(model);
  const visits = drawVisits(design, marker, basisDomain(basis), seed);
  return simulateFromModel(model, visits, { seed: seed + 0.25 });
}

/** The shares of one simulated study; the same seed gives the same. */
export function simulateStudy(plan: PowerPlan, seed: number): PowerReplicate {
  const { model, links, risk, level, numOutcomes, refit } = plan;
  const { cohort, locations } = drawStudy(plan, seed);
  const q = model.mapDimension;
  // One start: others reach the same map on such cohorts, at three times the cost.
  const maps = refit ? [model, refitLike(model, cohort, { seed: 1, coarse: true, restarts: 0 })] : [model];
  const features = maps.map((map) => posteriorFeatures(map, cohort, [testKernel(q)])[0].rows);
  const random = createRandom(seed + 0.5);
  const found = maps.map(() => links.map(({ effects }) => effects.map(() => 0)));
  for (const [l, link] of links.entries()) {
    const scores = linkScores(link, locations);
    for (const [e, effect] of link.effects.entries()) {
      const intercept = interceptOf(link, effect, risk);
      for (let d = 0; d < numOutcomes; d++) {
        const labels = drawOutcome(scores, intercept, effect, random);
        const cases = labels.reduce((sum, label) => sum + label, 0);
        // Not tested is not found.
        if (Math.min(cases, labels.length - cases) < LEAST) continue;
        for (const [k, rows] of features.entries()) {
          if (approximateP(scoreOf(rows, labels)) <= level) found[k][l][e]++;
        }
      }
    }
  }
  const [known, fitted = null] = found.map((map) => map.map((counts) => counts.map((count) => count / numOutcomes)));
  return { known, fitted };
}
