import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const SLOW = "**/*.slow.test.ts";

/** npm test runs everything but files named *.slow.test.ts, npm run test:slow (mode "slow") those alone. */
export default defineConfig(({ mode }) => ({
  resolve: {
    alias: {
      "@trajectory-maps/core": fileURLToPath(new URL("./packages/core/src/index.ts", import.meta.url)),
      "@trajectory-maps/report": fileURLToPath(new URL("./packages/report/src/index.ts", import.meta.url)),
    },
  },
  test: {
    include: mode === "slow" ? [SLOW] : ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: mode === "slow" ? ["**/node_modules/**"] : ["**/node_modules/**", SLOW],
    // Modules hold no state, so files may share them: loading the core anew for each took most of the time.
    isolate: false,
    maxWorkers: "100%",
    // Limits end what hangs; nothing is held to a time. A machine four times slower with other work to do stays well within.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
  },
}));
