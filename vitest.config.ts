import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL("./packages/", import.meta.url)) + path;
const SLOW = "**/*.slow.test.ts";

/** npm test runs everything but files named *.slow.test.ts, npm run test:slow (mode "slow") those alone. */
export default defineConfig(({ mode }) => ({
  resolve: {
    alias: [
      { find: /^@trajectory-maps\/core\/(\w+)$/, replacement: source("core/src/doors/$1.ts") },
      { find: /^@trajectory-maps\/(core|report)$/, replacement: source("$1/src/index.ts") },
    ],
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
