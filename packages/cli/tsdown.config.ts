import { defineConfig } from "tsdown";
import { thirdPartyNotices } from "../../scripts/notices.mjs";

export default defineConfig({
  // The thread program stands beside the main one, which starts it.
  entry: { main: "src/main.ts", worker: "src/threads/worker.ts" },
  format: "esm",
  dts: false,
  clean: true,
  platform: "node",
  plugins: [thirdPartyNotices()],
});
