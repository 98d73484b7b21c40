import { defineConfig, type UserConfig } from "tsdown";
import { thirdPartyNotices } from "../../scripts/notices.mjs";
import { KERNEL_BYTES } from "./src/wasm/bytes.ts";

/** The kernels as a file, for hosts in other languages (docs/kernels.md). */
const kernelsFile = {
  name: "kernels-file",
  generateBundle(this: { emitFile(file: object): unknown }) {
    this.emitFile({ type: "asset", fileName: "kernels.wasm", source: Buffer.from(KERNEL_BYTES, "base64") });
  },
};

const shared: UserConfig = {
  format: "esm",
  dts: true,
  platform: "browser",
  fixedExtension: true,
  // Hundreds of small files of third parties took most of a program's start: 0.7 s of 0.8 s.
  deps: { alwaysBundle: [/./] },
};
const doors = ["models", "ingest", "units", "fhir", "study", "hosts"].map((name) => [name, `src/doors/${name}.ts`]);

export default defineConfig([
  // The doors share what stands behind several of them.
  {
    ...shared,
    entry: { index: "src/index.ts", ...Object.fromEntries(doors) },
    clean: true,
    plugins: [kernelsFile, thirdPartyNotices()],
  },
  // One file for pages without a bundler, with everything in it but the tables of units: it bundles nothing that the doors do not.
  {
    ...shared,
    entry: { browser: "src/doors/browser.ts" },
    clean: false,
    // Readers of formats that are loaded when they are needed would stand in files of their own.
    outputOptions: { codeSplitting: false },
  },
]);
