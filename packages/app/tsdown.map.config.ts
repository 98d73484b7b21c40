import { fileURLToPath } from "node:url";
import { defineConfig } from "tsdown";

const source = (name: string) => fileURLToPath(new URL(`../${name}/src/index.ts`, import.meta.url));

/** The map alone: one ES module that needs nothing else, for pages without a bundler. */
export default defineConfig({
  entry: { map: "src/map/map.ts" },
  outDir: "dist/map",
  format: "esm",
  dts: true,
  clean: true,
  platform: "browser",
  minify: true,
  noExternal: [/.*/],
  fixedExtension: true,
  alias: { "@trajectory-maps/core": source("core"), "@trajectory-maps/report": source("report") },
});
