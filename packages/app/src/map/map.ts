/** The public door of the map. */
export * from "./types.ts";
