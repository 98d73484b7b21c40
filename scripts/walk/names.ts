/** Names and numbers of the groups that a page shows, against the courses and the model that it saves. */
import { applyTransform, undoTransform } from "../../packages/core/src/cohort/marker.ts";
import { markerModel, viewMarker } from "../../packages/core/src/models/fit.ts";
import type { TrajectoryModel } from "../../packages/core/src/models/model.ts";
import { measurementSd } from "../../packages/core/src/noise/noise.ts";
import { contradictions } from "../../test/name-check.ts";

/**
 * @param model of one marker, or of several whose first is shown.
 * @param courses rows of the file of group courses.
 * @param said rows of the rail's table: "A Stable high", size, seen that long, course in numbers with its rate, share.
 */
export function namesAgainstNumbers(
  model: TrajectoryModel,
  courses: readonly Readonly<Record<string, string>>[],
  said: readonly (readonly string[])[],
): string[] {
  const { marker, noise } = markerModel(viewMarker(model, 0));
  const scale = {
    to: (v: number) => applyTransform(marker.transform, v),
    back: (y: number) => undoTransform(marker.transform, y),
    noise: measurementSd(noise),
  };
  const own = courses.filter((row) => row.marker === undefined || row.marker === marker.name);
  return said.flatMap(([title = "", size = "", seen = "", course = ""]) => {
    const [letter] = title.split(" ");
    const rows = own.filter((row) => row.group === letter);
    if (rows.length === 0) return [`group "${title}" is not in the file of courses`];
    const [, summary, rate = ""] = /^(.*?)(?:, ([+−][\d.,]+%? (?:an?|per) .*))?$/.exec(course) ?? ["", course];
    const found = contradictions(
      {
        name: rows[0].name,
        summary,
        rate,
        times: rows.map((row) => Number(row.time)),
        values: rows.map((row) => Number(row.median)),
      },
      scale,
    );
    if (title.slice(letter.length + 1).toLowerCase() !== rows[0].name.toLowerCase())
      found.push(`"${title}" is saved as "${rows[0].name}"`);
    if (Number(seen.replaceAll(",", "")) > Number(size.replaceAll(",", "")))
      found.push(`${seen} of ${size} of "${title}" are seen`);
    return found;
  });
}
