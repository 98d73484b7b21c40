/** The verdict on the map of a study, by all that the study holds: fit, comparison, refits. */
import { type FitRecord, type MapVerdict, mapVerdict } from "@trajectory-maps/core";
import type { Study } from "../study.ts";

/** The verdict; undefined without a model. `record` stands for the model's own where the study has a later one. */
export function studyVerdict(
  { model, comparison, groups }: Pick<Study, "model" | "comparison" | "groups">,
  record: FitRecord | undefined,
): MapVerdict | undefined {
  if (model === undefined) return undefined;
  return mapVerdict({ ...model, record: record ?? model.record }, comparison, groups?.stability?.mapAgreement);
}
