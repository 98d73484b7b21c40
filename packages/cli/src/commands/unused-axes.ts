/** Axes of a map along which courses hardly change: more dimensions were asked for than the data vary in. */
import { type MarkerModel, predict, type TrajectoryModel } from "@trajectory-maps/core";
import { applyTransform } from "@trajectory-maps/core/ingest";
import { basisDomain, measurementSd, placementAt } from "@trajectory-maps/core/models";

/** An axis is unused if it moves courses by less than this share of what the first axis does, and less than the noise. */
const LEAST_SHARE = 0.1;
const NUM_TIMES = 9;

/** A warning that names the axes unused by every marker; undefined if all are used. */
export function unusedAxes(model: TrajectoryModel): string | undefined {
  const q = model.mapDimension;
  const each = model.markers.map((own) => unusedBy(model, own));
  const unused = (each[0] ?? []).filter((axis) => each.every((list) => list.includes(axis)));
  if (unused.length === 0) return undefined;
  const hardly = `${unused.join(" and ")} hardly change${unused.length === 1 ? "s" : ""} the course`;
  return `The data vary in fewer directions than the map has: ${hardly}. --dim ${q - unused.length} is enough.`;
}

/** Axes along which the courses of one marker hardly change. */
function unusedBy(model: TrajectoryModel, own: MarkerModel): string[] {
  const q = model.mapDimension;
  const [first, last] = basisDomain(own.basis);
  const times = Array.from({ length: NUM_TIMES }, (_, k) => first + ((last - first) * k) / (NUM_TIMES - 1));
  const courseAt = (axis: number, x: number) => {
    const place = Array.from({ length: q }, (_, c) => (c === axis ? x : 0));
    // Medians go through the transform unharmed, so this is the course on the model's scale.
    const { median } = predict(model, placementAt(model, place), times, { marker: own.marker.name });
    return median.map((y) => applyTransform(own.marker.transform, y));
  };
  // Root mean square of half the difference between courses at +1 and -1 on the axis.
  const effects = Array.from({ length: q }, (_, axis) => {
    const [up, down] = [courseAt(axis, 1), courseAt(axis, -1)];
    return Math.sqrt(up.reduce((sum, y, k) => sum + ((y - (down[k] ?? y)) / 2) ** 2, 0) / NUM_TIMES);
  });
  const largest = Math.max(...effects);
  return effects.flatMap((effect, axis) =>
    effect < LEAST_SHARE * largest && effect < measurementSd(own.noise) ? [`x${axis + 1}`] : [],
  );
}
