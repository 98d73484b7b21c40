/** FHIR R4: Observations as a cohort, Patients and Conditions as a table of its individuals. */

export type { PartialDates } from "../fhir/days.ts";
export { type FhirListing, type ListedCode, type ListedCondition, listFhirCodes } from "../fhir/list-codes.ts";
export { PERIOD_RULES, type PeriodRule, USUAL_STATUS } from "../fhir/observations.ts";
export { type FhirMarker, type ReadFhir, type ReadFhirOptions, readFhir } from "../fhir/read-fhir.ts";
export type { FhirSource } from "../fhir/resources.ts";
export { doneWords, type ToldCode, type ToldLine, toldWords } from "../fhir/told.ts";
