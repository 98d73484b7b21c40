import type * as core from "@trajectory-maps/core";

/** Writes `dist/demo/pfvc.json` if it is missing or of another core. */
export function makeDemo(): Promise<void>;

/** The fit of a cohort as the text of a packed demo. */
export function packDemo(library: typeof core, cohort: core.Cohort): string;

/** Plain data with typed arrays as base64; doubles as three bytes. */
export function pack(value: unknown): unknown;
