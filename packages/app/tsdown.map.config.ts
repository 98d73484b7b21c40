import { fileURLToPath } from "node:url";
import { defineConfig } from "tsdown";
import { thirdPartyNotices } from "../../scripts/notices.mjs";

const source = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const doors = ["models", "ingest", "study", "hosts"].map((name) => [
  `@trajectory-maps/core/${name}`,
  source(`core/src/doors/${name}.ts`),
]);

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
  plugins: [thirdPartyNotices()],
  fixedExtension: true,
  alias: {
    ...Object.fromEntries(doors),
    "@trajectory-maps/core": source("core/src/index.ts"),
    "@trajectory-maps/report": source("report/src/index.ts"),
  },
});
