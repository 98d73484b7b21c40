/**
 * Bringing a map to the picture of another one: a refit, another model or another year of the same cohort is turned and
 * mirrored so that individuals they share lie as close as possible (Procrustes). Only the orientation changes.
 */
import { DtmError } from "../errors.ts";
import { multiply } from "../numeric/matrix.ts";
import { type Alignment, procrustes } from "../numeric/procrustes.ts";
import type { TrajectoryModel } from "./model.ts";
import type { Placements } from "./placement.ts";

type Places = Pick<Placements, "ids" | "location" | "mapDimension">;

export interface AlignedModel<M extends TrajectoryModel> {
  /** The model with its orientation turned towards the reference. */
  readonly model: M;
  /** How well the two maps agree on the individuals they share. */
  readonly alignment: Alignment;
  readonly numShared: number;
}

/** Turns `model`, whose individuals are placed at `own`, towards the places `reference` of another map. */
export function alignModel<M extends TrajectoryModel>(model: M, own: Places, reference: Places): AlignedModel<M> {
  const q = model.mapDimension;
  if (own.mapDimension !== q || reference.mapDimension !== q) {
    throw new DtmError(
      "shape",
      `alignModel: expected places in ${q} dimensions, received ${own.mapDimension} and ${reference.mapDimension}.`,
    );
  }
  const position = new Map(reference.ids.map((id, i) => [id, i]));
  const from: number[] = [];
  const to: number[] = [];
  own.ids.forEach((id, i) => {
    const j = position.get(id);
    if (j === undefined) return;
    for (let c = 0; c < q; c++) {
      from.push(own.location[i * q + c]);
      to.push(reference.location[j * q + c]);
    }
  });
  const numShared = from.length / q;
  if (numShared <= q) {
    throw new DtmError(
      "too-few-shared",
      `alignModel: expected more than ${q} individuals on both maps, received ${numShared}. Place the same individuals on both.`,
    );
  }
  const alignment = procrustes(Float64Array.from(from), Float64Array.from(to), numShared, q);
  // Shown places are rows x'Q; the turned ones x'QR.
  const orientation = multiply(model.orientation, alignment.rotation, q, q, q);
  return { model: { ...model, orientation }, alignment, numShared };
}
