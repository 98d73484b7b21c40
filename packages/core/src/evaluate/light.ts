/** One part of the light of trust on a map, the evidence it is read from, and which of two states is worse. (map-verdict.ts) */
export type LightState = "good" | "unknown" | "caution" | "poor";

/** One part of the light, with where its evidence is: the step of the explorer and the command that show it. */
export interface Light {
  readonly name: "settled" | "starts" | "explains" | "covers";
  /** What would be good: "Starts and refits agree"; and whether it is so, in a word or two. */
  readonly title: string;
  readonly answer: string;
  readonly state: LightState;
  /** The reason in a few words, as it stands after "Read with care:". */
  readonly brief: string;
  readonly sentence: string;
  readonly evidence: { readonly view: "fit" | "models"; readonly command: string };
}

/** What is read of a comparison (`Comparison`, or one read back from a file). */
export interface HeldOutEvidence {
  readonly differences: readonly {
    readonly model: string;
    readonly reference: string;
    readonly mean: number;
    readonly lower: number;
    readonly upper: number;
    /** In the CRPS of the next visit, below zero where the model is better. */
    readonly nextCrps?: { readonly lower: number; readonly upper: number } | null;
  }[];
  readonly models: readonly {
    readonly model: string;
    readonly coverage: { readonly p90: number };
    /** How many forecasts the coverage is of; taken as many where a file does not say. */
    readonly forecast?: { readonly count?: number };
    /** The same of next visits, by how many were known. */
    readonly nextVisit?: { readonly byKnown?: readonly KnownClass[] };
  }[];
}

/** Next visits of those of whom `from` to `to` were known, and the share of them inside 90% bands. */
export interface KnownClass {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly p90: number;
}

/** The answer where nothing was looked at, and the command of the part would tell. */
export const NOT_KNOWN_YET = "not known yet";

/** A part of the light without what its name says already; the answer where it is not that of its state. */
export type Judged = Pick<Light, "state" | "brief" | "sentence"> & { readonly answer?: string };

/** Worst last. */
const ORDER: readonly LightState[] = ["good", "unknown", "caution", "poor"];

export function worseOf(a: LightState, b: LightState): LightState {
  return ORDER.indexOf(b) > ORDER.indexOf(a) ? b : a;
}

export function percent(share: number): string {
  return `${share > 0 && share < 0.01 ? "under 1" : Math.round(100 * share)}%`;
}
