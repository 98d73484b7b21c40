/** What a study says of risks and of those who left, as `associate --json`; files of older versions lack all of it. */
import type { DropoutSensitivity, LandmarkSurvival } from "@trajectory-maps/core/study";
import type { Numbers } from "./study.ts";

/** Curves of the event and of competing events in one group; numbers may be null in JSON where there is none. */
export interface StudyIncidence {
  readonly group: number;
  readonly numIndividuals: number;
  readonly times: Numbers;
  readonly atRisk: Numbers;
  /** Cause by cause, the event first. */
  readonly causes: readonly {
    readonly numEvents: number;
    readonly incidence: Numbers;
    readonly lower: Numbers;
    readonly upper: Numbers;
  }[];
}

export interface StudyRisk
  extends Partial<Pick<LandmarkSurvival, "proportionalHazards" | "pooledCox" | "riskTimes" | "risk">> {
  readonly competing?: {
    readonly names: readonly string[];
    readonly numEvents: readonly number[];
    readonly curves: readonly StudyIncidence[];
  } | null;
  /** If those with an event had gone on otherwise than the model says. */
  readonly dropout?: DropoutSensitivity;
}
