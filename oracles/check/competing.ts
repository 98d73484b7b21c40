/** The part of fixtures/r/survival.json about competing events: Aalen–Johansen curves with intervals, group by group. */
import { type AalenJohansen, aalenJohansen } from "../../packages/core/src/survival/aalen-johansen.ts";
import type { IntervalType } from "../../packages/core/src/survival/kaplan-meier.ts";
import { type Check, compare, compareKnown, type WithNull } from "./checker.ts";

interface BandOfCauses {
  readonly lower: readonly WithNull[];
  readonly upper: readonly WithNull[];
}

export interface CompetingCase {
  readonly name: string;
  readonly time: readonly number[];
  readonly cause: readonly number[];
  readonly group: readonly number[];
  readonly causes: number;
  readonly curves: readonly {
    readonly group: number;
    readonly time: readonly number[];
    readonly at_risk: readonly number[];
    readonly survival: readonly number[];
    /** One column for each cause. */
    readonly incidence: readonly (readonly number[])[];
    readonly standard_error: readonly (readonly number[])[];
    readonly log_log: BandOfCauses;
    readonly log: BandOfCauses;
    readonly plain: BandOfCauses;
  }[];
}

/** Checks one case. */
export function checkCompeting(c: CompetingCase, tolerance: number): Check[] {
  return c.curves.flatMap((fixture) => {
    const path = `${c.name}: incidence in group ${fixture.group}`;
    const mine = <T>(x: readonly T[]) => x.filter((_, i) => c.group[i] === fixture.group);
    const curvesWith = (interval: IntervalType) =>
      aalenJohansen({ times: mine(c.time), causes: mine(c.cause) }, c.causes, { interval });
    const curves = curvesWith("log-log");
    const column = <T>(rows: readonly (readonly T[])[], k: number) => rows.map((row) => row[k]);
    const band = (own: AalenJohansen, expected: BandOfCauses, k: number): Check[] =>
      (["lower", "upper"] as const).map((end) =>
        compareKnown(
          `${path}: ${own.interval} ${end} of cause ${k + 1}`,
          own.causes[k][end],
          // R has a band of no width where a plain curve is still at 0; ours has none.
          column(expected[end], k).map((v, j) => (fixture.incidence[j][k] % 1 === 0 ? null : v)),
          tolerance,
        ),
      );
    return [
      compare(`${path}: time`, curves.times, fixture.time, 0),
      compare(`${path}: at risk`, curves.atRisk, fixture.at_risk, 0),
      compare(`${path}: without any`, curves.survival, fixture.survival, tolerance),
      ...curves.causes.flatMap(({ incidence, standardErrors }, k) => [
        compare(`${path}: of cause ${k + 1}`, incidence, column(fixture.incidence, k), tolerance),
        compare(`${path}: its standard error`, standardErrors, column(fixture.standard_error, k), tolerance),
        ...band(curves, fixture.log_log, k),
        ...band(curvesWith("log"), fixture.log, k),
        ...band(curvesWith("plain"), fixture.plain, k),
      ]),
    ];
  });
}
