import { defineConfig } from "tsdown";
import { thirdPartyNotices } from "../../scripts/notices.mjs";

/** What is a development dependency is bundled: who installs this package gets the core and nothing else. */
export default defineConfig({
  entry: ["src/index.ts"],
  format: "esm",
  dts: true,
  clean: true,
  platform: "browser",
  fixedExtension: true,
  plugins: [thirdPartyNotices()],
});
