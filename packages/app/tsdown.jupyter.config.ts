import { defineConfig } from "tsdown";
import map from "./tsdown.map.config.ts";

/** The map with the reader of model files as one ES module, for the widget of the Python package (scripts/build-python.mjs). */
export default defineConfig({
  ...map,
  entry: { "trajectory-map": "src/widget/jupyter.ts" },
  outDir: "../../python/trajectory-maps/src/trajectory_maps/static",
  dts: false,
});
