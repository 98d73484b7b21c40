/** Tools that are run from the repository and never published: oracle check, benchmarks, pages of docs, studies, into ./dist. */
import { readdirSync } from "node:fs";
import { defineConfig } from "tsdown";

const studies = readdirSync("studies", { withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !entry.name.endsWith(".test.ts"))
  .map((entry) => entry.name.slice(0, -".ts".length));

export default defineConfig({
  entry: {
    oracle: "oracles/check/main.ts",
    bench: "bench/main.ts",
    docs: "scripts/docs.ts",
    walk: "scripts/walk.ts",
    ...Object.fromEntries(studies.map((name) => [`studies/${name}`, `studies/${name}.ts`])),
  },
  format: "esm",
  dts: false,
  clean: true,
  platform: "node",
  deps: { skipNodeModulesBundle: true },
});
