import type * as core from "@trajectory-maps/core";

/** Seed of the demonstration's cohort. */
export const DEMO_SEED: number;

/** Writes `dist/demo/pfvc.json` if it is missing or of another core. */
export function makeDemo(): Promise<void>;

/** What the demonstration's light of trust rests on. */
export interface DemoEvidence {
  readonly comparison: core.Comparison;
  readonly starts: NonNullable<core.TrajectoryModel["record"]["starts"]>;
}

/** Models compared on held-out individuals of the demonstration, and what further starts came to. */
export function findEvidence(library: typeof core, cohort?: core.Cohort): DemoEvidence;

/** The fit of a cohort as the text of a packed demo, with what is known of how far to trust it. */
export function packDemo(library: typeof core, cohort: core.Cohort, evidence?: DemoEvidence): string;

/** Plain data with typed arrays as base64; doubles as three bytes. */
export function pack(value: unknown): unknown;
