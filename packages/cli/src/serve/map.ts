/** The map of a model for a client to draw: courses on a lattice of places and groups; nothing of single individuals. */
import { courseReader, courseTimes, makeDecoder, placementAt, viewMarker } from "@trajectory-maps/core/models";
import type { ServedModel } from "./models.ts";
import type { MapResponse } from "./schemas.ts";

/** Places along an axis, in prior standard deviations, and times of courses. */
const AXIS = Array.from({ length: 21 }, (_, k) => (k - 10) / 4);
const NUM_TIMES = 21;

export function mapOf(served: ServedModel): MapResponse {
  const { info, model, groups, patient } = served;
  const q = model.mapDimension;
  const rows = (flat: Float64Array) => Array.from({ length: q }, (_, a) => [...flat.subarray(a * q, (a + 1) * q)]);
  return {
    model: info,
    lattice: q > 2 ? null : latticeOf(served),
    groups: (groups?.groups ?? []).map((group, g) => {
      const { letter, name, summary } = group;
      const { means, covariances } = groups!.regions;
      // Middle and spread of few tell of single members.
      const isTold = patient.groups.some((told) => told.letter === letter);
      return {
        ...{ letter, name, summary },
        center: isTold ? [...means.subarray(g * q, (g + 1) * q)] : null,
        covariance: isTold ? rows(covariances.subarray(g * q * q, (g + 1) * q * q)) : null,
        times: [...group.times],
        median: [...group.median],
        lower: [...group.lower],
        upper: [...group.upper],
      };
    }),
  };
}

function latticeOf({ model }: ServedModel): NonNullable<MapResponse["lattice"]> {
  const q = model.mapDimension;
  const places = q === 1 ? AXIS.map((x) => [x]) : AXIS.flatMap((x) => AXIS.map((y) => [x, y]));
  return {
    axes: Array.from({ length: q }, () => AXIS),
    inside: places.map((place) => (placementAt(model, place).outsideMass > 0 ? 0 : 1)),
    values: model.markers.map(({ marker }, k) => {
      const own = viewMarker(model, k);
      const times = courseTimes(own, NUM_TIMES);
      const read = courseReader(makeDecoder(own), times);
      return { marker: marker.name, times: [...times], median: places.map((place) => [...read(place).median]) };
    }),
  };
}
