/** Maps and courses of the second marker and on: the figures of a study of one marker, drawn for each. */
import type { Figure } from "../figures/figure.ts";
import type { Study } from "../study.ts";
import { contextOf } from "./context.ts";
import { groupFigures } from "./group-figures.ts";
import { mapFigures } from "./map-figures.ts";

/** Keys of the figures of marker k, from 1 for the second. */
export function markerFigureKeys(k: number): readonly [map: string, groups: string] {
  return [`map-${k + 1}`, `groups-${k + 1}`];
}

/** Figures of the second marker and on; none where there is one. */
export function markerFigures(study: Study): Figure[] {
  return (study.several?.markers ?? []).slice(1).flatMap(({ cohort: { marker } }, j) => {
    const [map, groups] = markerFigureKeys(j + 1);
    const context = contextOf(markerStudy(study, j + 1));
    const named = (figure: Figure, key: string): Figure => ({
      ...figure,
      key,
      title: `${figure.title}: ${marker.name}`,
    });
    return [
      ...mapFigures(context).flatMap((figure) => (figure.key === "map" ? [named(figure, map)] : [])),
      ...groupFigures(context).flatMap((figure) => (figure.key === "groups" ? [named(figure, groups)] : [])),
    ];
  });
}

/** The study as if marker k were its only one: same places and groups, the marker's own courses. */
function markerStudy(study: Study, k: number): Study {
  const { several: _, outcomes: __, covariates: ____, groups, ...rest } = study;
  const own = study.several?.markers[k];
  if (own === undefined) return rest;
  return {
    ...rest,
    ...own,
    ...(groups === undefined
      ? {}
      : {
          groups: {
            ...groups,
            // Parts of groups are told by the first marker's courses.
            groups: groups.groups.map(({ parts: ___, ...group }) => ({ ...group, ...group.markers?.[k] })),
          },
        }),
  };
}
