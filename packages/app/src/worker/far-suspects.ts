/** Values that look wrong by the courses of everybody and are told of the table too: each is to be looked up once. */
import type { Cohort } from "@trajectory-maps/core";
import { isFarValue } from "@trajectory-maps/core/ingest";
import type { SuspectValue } from "@trajectory-maps/core/study";
import type { Suspect } from "./reading-types.ts";

/** Which of the values that look wrong are among those that the table is told to have far from the others. */
export function markFar({ ids, markers }: Cohort, found: readonly SuspectValue[]): Suspect[] {
  const told = markers.map((series) =>
    found.some(({ marker }) => marker === series.marker.name) ? isFarValue(series) : () => false,
  );
  return found.map((suspect) => {
    const k = markers.findIndex(({ marker }) => marker.name === suspect.marker);
    const { offsets, times, values } = markers[k];
    const i = ids.indexOf(suspect.id);
    let isFar = false;
    for (let j = offsets[i]; j < offsets[i + 1]; j++) {
      isFar ||= times[j] === suspect.time && values[j] === suspect.value && told[k](j);
    }
    return { ...suspect, isFar };
  });
}
