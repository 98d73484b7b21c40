/** What a saved model says of its markers and columns, from the text of its file: how the next table is read for it. Pure, so that it can be tested. */
import type { Marker } from "@trajectory-maps/core";
import type { ReadChoice } from "../../worker/api.ts";
import type { WaitingModel } from "./fhir-choice.ts";

interface PartText {
  readonly marker?: object;
  readonly columns?: object;
}

interface ModelPart {
  readonly marker: Readonly<Record<string, unknown>>;
  readonly columns: Readonly<Record<string, unknown>>;
}

/** Markers and columns of a model file; empty where it is none: placing will say what is wrong with it. */
export function modelParts(modelText: string): readonly [ModelPart, ...ModelPart[]] {
  const read = (part: PartText | undefined) => ({ marker: { ...part?.marker }, columns: { ...part?.columns } });
  try {
    const { model } = JSON.parse(modelText) as { model?: PartText & { markers?: PartText[] } };
    // Files of version 1 have one marker, whose fields are the model's own.
    const [first, ...others] = model?.markers ?? [model];
    return [read(first), ...others.map(read)];
  } catch {
    return [read(undefined)];
  }
}

/** How a table is read for a saved model of several markers; nothing for one of one. */
export function modelChoice(modelText: string): Pick<ReadChoice, "markers" | "markerColumn"> {
  const parts = modelParts(modelText);
  if (parts.length === 1) return {};
  const markers = parts.map(({ marker, columns }) => ({
    ...(marker as Partial<Marker>),
    column: text(columns.level ?? columns.value, text(marker.name, "")),
  }));
  const markerColumn = parts[0].columns.marker;
  return { markers, ...(typeof markerColumn === "string" ? { markerColumn } : {}) };
}

/** A text, or another where it is none. */
export function text(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

/** The markers of a saved model, and from when its times are counted: "none" where they were no dates. */
export function waitingModel(modelText: string): WaitingModel {
  const parts = modelParts(modelText);
  const { dates, origin } = parts[0].columns;
  return {
    markers: parts.map(({ marker }) => marker as Partial<Marker>),
    origin: dates === true ? text(origin, "first") : "none",
  };
}
