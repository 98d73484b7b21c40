/** What changes if those who left went on otherwise than the model says, for a terminal. */
import type { DropoutSensitivity } from "@trajectory-maps/core/study";
import { AFTER_DEATH, capital, deltaText, deltaUnit, shiftSentence, tippingSentences } from "@trajectory-maps/report";
import { table } from "./table.ts";
import { line, significant, whole } from "./words.ts";

/** Medians and mean forecasts of the groups, delta by delta, and where two groups meet. */
export function dropoutPage(dropout: DropoutSensitivity): string {
  const { groups, rows, at, marker, numLeft, numIndividuals, who } = dropout;
  const unit = marker.timeUnit && ` ${marker.timeUnit}`;
  return [
    line("Dropout", AFTER_DEATH),
    line(
      "",
      `${shiftSentence(dropout)} ${capital(who)} are ${whole(numLeft)} of ${whole(numIndividuals)} individuals. ` +
        `Below: median and mean forecast of each group at ${significant(at)}${unit}` +
        `${marker.unit && `, ${marker.unit}`}.`,
    ),
    "",
    table(
      [`delta (${deltaUnit(dropout)})`, ...groups.flatMap(({ letter }) => [`${letter} median`, `${letter} mean`])],
      [
        ...rows.map(({ delta, groups: shown }) => [
          deltaText(delta),
          ...shown.flatMap(({ median, forecast }) => [significant(median), significant(forecast)]),
        ]),
        [
          "left by then",
          ...groups.flatMap(({ numLeft: n, numMembers }) => [`${whole(n)} of ${whole(numMembers)}`, ""]),
        ],
      ],
    ),
    "",
    ...tippingSentences(dropout).map((sentence, k) => line(k === 0 ? "Tipping" : "", sentence)),
  ].join("\n");
}
