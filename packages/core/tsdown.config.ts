import { defineConfig } from "tsdown";

export default defineConfig([
  {
    entry: ["src/index.ts"],
    format: "esm",
    dts: true,
    clean: true,
    platform: "browser",
    fixedExtension: true,
    // Hundreds of small files of third parties took most of a program's start: 0.7 s of 0.8 s.
    deps: { alwaysBundle: [/./] },
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
