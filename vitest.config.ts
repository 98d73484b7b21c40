import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL("./packages/", import.meta.url)) + path;
/** Files that a script of their own runs, by their mode: npm run test:slow and npm run test:jupyter. */
const APART = ["slow", "jupyter"];

/** npm test runs everything but files named *.slow.test.ts and the like, mode "slow" those alone. */
export default defineConfig(({ mode }) => ({
  resolve: {
    alias: [
      { find: /^@trajectory-maps\/core\/(\w+)$/, replacement: source("core/src/doors/$1.ts") },
      { find: /^@trajectory-maps\/(core|report)$/, replacement: source("$1/src/index.ts") },
    ],
  },
  test: {
    include: APART.includes(mode) ? [`**/*.${mode}.test.ts`] : ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    setupFiles: ["test/seeded.ts"],
    exclude: ["**/node_modules/**", ...APART.filter((name) => name !== mode).map((name) => `**/*.${name}.test.ts`)],
    // Modules hold no state, so files may share them: loading the core anew for each took most of the time.
    isolate: false,
    maxWorkers: "100%",
    // Limits end what hangs; nothing is held to a time. A machine four times slower with other work to do stays well within.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
  },
}));
