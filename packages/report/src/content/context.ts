/** A study with its defaults filled in and what several parts need worked out once. */

import { type FitRecord, type MapVerdict, mapVerdict, markerModel, type TrajectoryModel } from "@trajectory-maps/core";
import { measurementSd } from "@trajectory-maps/core/models";
import { decimalsFor, timeWord } from "../numbers.ts";
import { cellsOf } from "../small-cells.ts";
import type { Study, StudyGroup, StudyOutcome } from "../study.ts";

export interface Context {
  readonly study: Study;
  readonly smallCell: number;
  readonly individualLevel: "none" | "places";
  readonly record?: FitRecord;
  /** The verdict on the map, with what the comparison and refits said. */
  readonly verdict?: MapVerdict;
  readonly groups: readonly StudyGroup[];
  /** Sizes of the groups as they may be shown. */
  readonly sizes: readonly string[];
  /** Individuals by number of visits (classes of the cohort's summary) as they may be shown. */
  readonly visitCells: readonly string[];
  /** Outcome shown on the maps and under the groups. */
  readonly mapOutcome?: StudyOutcome;
  /** "year" or the like. */
  readonly timeWord: string;
  /** Decimals of values of the marker. */
  readonly decimals: number;
}

export function contextOf(study: Study): Context {
  const { options = {}, model, cohort } = study;
  const noise = model === undefined ? cohort.value.sd / 5 : measurementSd(markerModel(model).noise);
  const identity = cohort.marker.transform === "identity";
  const record = study.record ?? model?.record;
  const mapOutcome = pickOutcome(study);
  const smallCell = Math.max(1, options.smallCell ?? 11);
  const verdict = model === undefined || record === undefined ? undefined : verdictOf(study, model, record);
  const groups = namedGroups(study.groups?.groups ?? [], verdict);
  return {
    study,
    smallCell,
    individualLevel: options.individualLevel ?? "none",
    ...(record === undefined ? {} : { record }),
    ...(verdict === undefined ? {} : { verdict }),
    groups,
    sizes: cellsOf(
      groups.map((group) => group.size),
      smallCell,
    ),
    visitCells: visitCells(cohort.visitClasses, smallCell),
    ...(mapOutcome === undefined ? {} : { mapOutcome }),
    timeWord: timeWord(cohort.marker.timeUnit),
    // On a transformed scale noise is relative; two digits serve.
    decimals: identity ? decimalsFor(noise) : decimalsFor(Math.max(1e-9, cohort.value.quantiles[2]) / 10),
  };
}

/** The verdict on the map; of several markers by all of them. */
function verdictOf({ several, comparison, groups }: Study, model: TrajectoryModel, record: FitRecord): MapVerdict {
  const markers = several?.markers.flatMap((own) => own.model?.markers ?? []) ?? model.markers;
  const whole = { ...model, markers, record } as TrajectoryModel;
  return mapVerdict(whole, several?.comparison ?? comparison, groups?.stability?.mapAgreement);
}

/** Groups of a map that should not be read are regions of noise: letters stand for their names. */
function namedGroups<G extends { readonly letter: string; readonly name: string }>(
  groups: readonly G[],
  verdict: MapVerdict | undefined,
): readonly G[] {
  return verdict?.colour === "grey" ? groups.map((group) => ({ ...group, name: `group ${group.letter}` })) : groups;
}

/** Up to three visits, and more: how many have four or more is told with the groups, so both totals are known. */
function visitCells(classes: ArrayLike<number>, smallCell: number): string[] {
  const counts = Array.from(classes);
  return [...cellsOf(counts.slice(0, 3), smallCell), ...cellsOf(counts.slice(3), smallCell)];
}

/** The outcome asked for, else the one with the smallest p-value, else the first. */
function pickOutcome({ outcomes = [], association, options = {} }: Study): StudyOutcome | undefined {
  const byName = (name: string | undefined) => outcomes.find((outcome) => outcome.name === name);
  const asked = byName(options.mapOutcome);
  if (asked !== undefined) return asked;
  const tested = [...(association?.outcomes ?? [])].sort(
    (a, b) =>
      (Number.isFinite(a.p) ? a.p : 2) - (Number.isFinite(b.p) ? b.p : 2) ||
      b.effect.auc.value - a.effect.auc.value ||
      (a.outcome < b.outcome ? -1 : 1),
  );
  return byName(tested.find(({ outcome }) => byName(outcome) !== undefined)?.outcome) ?? outcomes[0];
}
