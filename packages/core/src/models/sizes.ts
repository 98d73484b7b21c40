/** Numbers of individuals at which fits go other ways, unless told otherwise; and which map a choice of options means. */

/** Above this many individuals maps are fitted by minibatches. */
export const MANY_INDIVIDUALS = 50_000;

/** Individuals of the random sample on which minibatches begin, in cohorts of twice as many or more. */
export const MAP_SAMPLE = 65_536;

/**
 * Linear models: above the first number of individuals, the second is enough for a start and for a comparison; a pass of several markers is
 * dearer.
 */
export const LINEAR_SAMPLES = {
  one: { many: 50_000, enough: 20_000 },
  several: { many: 8_000, enough: 4_000 },
} as const;

/** Above this many individuals a map has one start. */
const MANY_STARTS = 5_000;

/** Further starts of a map. */
export function usualRestarts(numIndividuals: number): number {
  return numIndividuals > MANY_STARTS ? 0 : 2;
}

/** Whether a map is the published one: by its kind, or because it has three dimensions. */
export function isPublished({
  kind = "dtm",
  mapDimension,
}: {
  readonly kind?: string;
  readonly mapDimension?: number;
}) {
  return kind === "dtm-paper" || (kind === "dtm" && mapDimension === 3);
}
