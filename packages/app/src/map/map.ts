/** The public door of the map. */
export { landOfPlacements } from "./coast.ts";
export { defineTrajectoryMap } from "./element.ts";
export { mountMap } from "./mount-map.ts";
export * from "./types.ts";
