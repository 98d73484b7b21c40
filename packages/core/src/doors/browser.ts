/** Everything behind all doors, for the one file that pages without a bundler load. */

export * from "../index.ts";
export * from "./hosts.ts";
export * from "./ingest.ts";
export * from "./models.ts";
export * from "./study.ts";
