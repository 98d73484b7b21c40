import { defineConfig } from "tsdown";
import map from "./tsdown.map.config.ts";

/** The map with the reader of model files as one classic script, for the htmlwidget of the R package (scripts/build-r.mjs). */
export default defineConfig({
  ...map,
  entry: { "trajectory-map": "src/widget/widget.ts" },
  outDir: "../../r/trajectorymaps/inst/htmlwidgets/lib/trajectory-map",
  format: "iife",
  globalName: "TrajectoryMap",
  dts: false,
});
