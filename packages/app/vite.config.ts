/**
 * Three builds from one source: `--mode single` makes one self-contained page that opens from disk, `--mode served` makes
 * the files that `dtm explore` serves, `--mode calculator` the page for one patient, without a worker. In the others the worker stands inside the script as a classic worker, because a module
 * worker does not start from a `file:` page.
 */
import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import { thirdPartyNotices } from "../../scripts/notices.mjs";

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** Packages of page and worker together: the worker is built first. */
const seen = new Map<string, Set<string>>();

/** Libraries of formats of files: the worker alone reads files, and the page would hold each a second time. */
const LEFT_TO_WORKER = /^(apache-arrow|hyparquet|hyparquet-compressors|read-excel-file\/universal)$/;
const leftToWorker: Plugin = {
  name: "left-to-worker",
  enforce: "pre",
  resolveId: (id) => (LEFT_TO_WORKER.test(id) ? "\0left-to-worker" : null),
  load: (id) => (id === "\0left-to-worker" ? "export default null;" : null),
};

/** Licences stand once, in the notices. */
const NO_COMMENTS = { comments: false };

export default defineConfig(({ mode }) => ({
  root: path("."),
  base: "./",
  publicDir: false,
  plugins: [
    svelte(),
    leftToWorker,
    thirdPartyNotices({ seen }),
    ...(mode === "served" ? [] : [viteSingleFile({ removeViteModuleLoader: true })]),
  ],
  worker: {
    format: "iife",
    plugins: () => [thirdPartyNotices({ seen, write: false })],
    rolldownOptions: { output: NO_COMMENTS },
  },
  resolve: {
    alias: [
      { find: /^@trajectory-maps\/core\/(\w+)$/, replacement: `${path("../core/src/doors/")}$1.ts` },
      { find: "@trajectory-maps/core", replacement: path("../core/src/index.ts") },
      { find: "@trajectory-maps/report", replacement: path("../report/src/index.ts") },
    ],
  },
  define: { __SERVED__: JSON.stringify(mode === "served") },
  build: {
    outDir: `dist/${mode}`,
    emptyOutDir: true,
    target: "es2022",
    rolldownOptions: { output: NO_COMMENTS, ...(mode === "calculator" && { input: path("calculator.html") }) },
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 4000,
    reportCompressedSize: false,
  },
}));
