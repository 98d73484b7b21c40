/** Score tests of covariates as a table in a terminal. */
import type { CovariateTest } from "@trajectory-maps/core/study";
import { showP } from "./results.ts";
import { table } from "./table.ts";
import { counted, line, whole } from "./words.ts";

/** A row for each column of a covariate, p-values in the first of them. */
export function covariatesPage(tests: readonly CovariateTest[]): string {
  const tested = tests.filter(({ untested }) => untested === null);
  const rows = tested.flatMap(({ covariate, numIndividuals, leftOut, columns, p, chiSquareP, adjusted }) =>
    columns.map(({ compared, length, angle }, k) => [
      k === 0 ? covariate : "",
      compared,
      k === 0 ? whole(numIndividuals) : "",
      k === 0 ? whole(leftOut) : "",
      length.toFixed(2),
      angle === null ? "-" : `${angle.toFixed(0)}°`,
      ...(k === 0 ? [p, chiSquareP, adjusted.holm, adjusted.bh].map(showP) : ["", "", "", ""]),
    ]),
  );
  const draws = tested[0]?.draws ?? 0;
  return [
    line(
      "Tested",
      `p: does it move places on the map (score test, ${whole(draws)} draws; beside it by χ²)? No refit; number, length and spacing of ` +
        "visits may differ. Shift: how far apart known places are on average, in standard deviations of the map, for the step of a " +
        "number that is compared, about a standard deviation, or between levels; few visits draw it towards 0. Angle: its direction, from the first axis towards " +
        `the second. Holm, BH: p adjusted over ${counted(tested.length, "covariate")}`,
    ),
    "",
    table(["Covariate", "compared", "individuals", "without it", "shift", "angle", "p", "χ² p", "Holm", "BH"], rows),
    ...tests.flatMap(({ covariate, untested }) =>
      untested === null ? [] : ["", line("Untested", `${covariate}: ${untested}`)],
    ),
  ].join("\n");
}
