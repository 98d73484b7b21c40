/**
 * The front door of the library: from a table to a map, places, predictions, groups, comparisons and outcomes. More is behind
 * `@trajectory-maps/core/models`, `/ingest`, `/study` and `/hosts`.
 */

export { type Association, associate } from "./associate/association.ts";
export { type Cohort, makeCohort, numIndividuals, selectIndividuals } from "./cohort/cohort.ts";
export type { Marker } from "./cohort/marker.ts";
export { splitCohort } from "./cohort/split.ts";
export { type Complaint, DtmError } from "./errors.ts";
export { compareModels } from "./evaluate/compare.ts";
export { heldOutLogLikelihood } from "./evaluate/held-out.ts";
export { type MapVerdict, mapVerdict } from "./evaluate/map-verdict.ts";
export type { Comparison } from "./evaluate/summarize-folds.ts";
export { readCohort } from "./ingest/read-cohort.ts";
export { type Groups, groupPlaces } from "./map/groups.ts";
export { type FitRecord, LIBRARY_VERSION, type MarkerModel, markerModel } from "./models/fit.ts";
export { fitDtm, resumeDtm, startDtm } from "./models/fit-models.ts";
export { fitFpca, fitLmm } from "./models/linear-models.ts";
export type { TrajectoryModel } from "./models/model.ts";
export { embed, placeIndividual } from "./models/place.ts";
export type { Placement, Placements } from "./models/placement.ts";
export { type Prediction, predict } from "./models/predict.ts";
export { predictCrossing } from "./models/predicting/crossing.ts";
export { loadModel, saveModel } from "./models/save.ts";
export { simulateCohort } from "./simulate/cohorts.ts";
export { simulateFromModel } from "./simulate/from-model.ts";
export { simulatePlaces } from "./simulate/places.ts";
