/** The summary of a fit, as `dtm fit` prints it and `dtm summary` again. */
import type { Cohort, MapVerdict } from "@trajectory-maps/core";
import type { SharingVerdict } from "@trajectory-maps/core/study";
import { effectsPage } from "./covariate-effects.ts";
import { sharingPage } from "./sharing.ts";
import {
  cohortSummary,
  courseTables,
  type FittedModel,
  mapPicture,
  mapSummary,
  modelTable,
  noiseSummary,
  type ScoredFit,
} from "./summary.ts";

export interface FitPage {
  readonly cohort: Cohort;
  readonly fitted: FittedModel;
  readonly baselines: readonly ScoredFit[];
  /** What to be careful with in effects of covariates. */
  readonly cautions: readonly string[];
  readonly sharing?: SharingVerdict | undefined;
  /** Of a run, with the evidence that it has; default what the fit alone says. */
  readonly verdict?: MapVerdict;
}

/** Cohort, models, noise, map, places, courses, covariates and markers, each a paragraph. */
export function fitPage({ cohort, fitted, baselines, cautions, sharing, verdict }: FitPage): string {
  const { model, placements } = fitted;
  const others = baselines.filter((baseline) => baseline.model.kind !== model.kind);
  return [
    cohortSummary(cohort),
    modelTable([...others, fitted], placements.ids.length),
    noiseSummary(model),
    mapSummary(model, verdict),
    mapPicture(fitted),
    courseTables(fitted, cohort),
    effectsPage(model, cautions),
    sharing === undefined ? "" : sharingPage(sharing),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}
