import { defineConfig } from "tsdown";

export default defineConfig([
  {
    entry: ["src/index.ts"],
    format: "esm",
    dts: true,
    clean: true,
    platform: "neutral",
    fixedExtension: true,
  },
  {
    // One file with everything in it, for pages without a bundler.
    entry: { browser: "src/index.ts" },
    format: "esm",
    dts: false,
    clean: false,
    platform: "browser",
    fixedExtension: true,
    deps: { alwaysBundle: [/./] },
  },
]);
