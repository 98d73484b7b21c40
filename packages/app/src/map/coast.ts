/** The land of a map. Of a large cohort it takes longer to find than all else of a first drawing. */
import type { Placements } from "@trajectory-maps/core";
import {
  boxAround,
  HUGE,
  type Land,
  type LandOptions,
  landOf,
  SAMPLE,
  sampled,
  smoothPlaces,
} from "@trajectory-maps/report";
import { flatPlaces, planeOf } from "./plane.ts";

/** Water around places in which land may still rise. */
const SHELF = 0.6;

/** The land of placements on the first two axes, as a map finds it that is not told: what `MapOptions.land` takes. */
export function landOfPlacements(placements: Placements): Land {
  return coastOf(flatPlaces(placements, planeOf(placements.mapDimension)), placements.numObservations);
}

/**
 * The land of places [m,2]; of very many places that of a sample, counted for all: its line would not differ by a px.
 */
export function coastOf(places: Float64Array, visits: Int32Array, coast: LandOptions = {}): Land {
  const m = places.length / 2;
  const box = boxAround(places, SHELF);
  if (m <= HUGE) return landOf(places, visits, box, coast);
  const used = sampled(m, SAMPLE);
  const scale = m / used.length;
  const some = new Float64Array(2 * used.length);
  used.forEach((i, k) => {
    some[2 * k] = places[2 * i];
    some[2 * k + 1] = places[2 * i + 1];
  });
  const { individuals = 1.3, smoothing } = coast;
  const land = landOf(
    some,
    used.map((i) => visits[i]),
    box,
    { smoothing, individuals: individuals / scale },
  );
  const values = land.density.values.map((v) => v * scale);
  return { ...land, level: land.level * scale, density: { ...land.density, values } };
}

/** The land with the density of everyone. */
export function exactLand(land: Land, places: Float64Array, visits: Int32Array, coast: LandOptions): Land {
  const m = places.length / 2;
  if (m <= HUGE) return land;
  const used = Array.from({ length: m }, (_, i) => i).filter((i) => visits[i] >= 2);
  return { ...land, density: smoothPlaces(places, used, land.density.box, coast.smoothing ?? 0.17) };
}
