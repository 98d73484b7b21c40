import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: {
    alias: {
      "@trajectory-maps/core": fileURLToPath(new URL("./packages/core/src/index.ts", import.meta.url)),
      "@trajectory-maps/report": fileURLToPath(new URL("./packages/report/src/index.ts", import.meta.url)),
    },
  },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 60_000,
    // Ending a browser takes seconds where many programs share two cores.
    hookTimeout: 60_000,
  },
});
