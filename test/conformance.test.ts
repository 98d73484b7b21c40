/** The conformance set of the kernels (docs/kernels.md) in Node and in a browser; python/trajectory-maps plays it in Python. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type ConformanceFile, playConformance } from "../oracles/conformance/play.ts";
import { conformanceTexts } from "../oracles/conformance/write.ts";
import { KERNEL_BYTES } from "../packages/core/src/wasm/bytes.ts";
import { LAYOUTS } from "../packages/core/src/wasm/layouts.ts";
import { browserOfFile } from "./browser-of-file.ts";
import { ROOT } from "./root.ts";

const FOLDER = join(ROOT, "fixtures", "kernels");
const files = readdirSync(FOLDER).map((name): ConformanceFile => JSON.parse(readFileSync(join(FOLDER, name), "utf8")));

const chromium = browserOfFile();

describe("the conformance set", () => {
  it("is what the hosts do now: npm run oracle -- --conformance", () => {
    const texts = conformanceTexts();
    expect([...texts.keys()].sort()).toEqual(readdirSync(FOLDER).sort());
    for (const [name, text] of texts) expect(readFileSync(join(FOLDER, name), "utf8") === text, name).toBe(true);
  });

  it("calls every kernel, and is small", () => {
    const called = new Set(
      files.flatMap(({ cases }) => cases.flatMap(({ calls }) => calls.map(({ kernel }) => kernel))),
    );
    expect([...called].sort()).toEqual(LAYOUTS.flatMap(({ kernels }) => kernels).sort());
    const total = readdirSync(FOLDER).reduce((sum, name) => sum + readFileSync(join(FOLDER, name)).length, 0);
    expect(total).toBeLessThan(150_000);
  });

  it("gives the same bytes in Node", () => {
    for (const file of files)
      for (const { name, faults } of playConformance(KERNEL_BYTES, file)) expect(faults, name).toEqual([]);
  });

  it("gives the same bytes in a browser", async () => {
    const { page, context } = await chromium.openPage();
    await page.setContent("<title>kernels</title>");
    const given = [files, KERNEL_BYTES].map((value) => JSON.stringify(value));
    const played = await page.evaluate(`${given[0]}.flatMap((file) => (${playConformance})(${given[1]}, file))`);
    expect(played).toEqual(files.flatMap(({ cases }) => cases.map(({ name }) => ({ name, faults: [] }))));
    await context.close();
  });

  it("notices another byte", () => {
    const [file] = files.filter(({ layout }) => layout === "Positive");
    const [first] = file.cases;
    const calls = first.calls.map((call) => ({
      ...call,
      read: Object.fromEntries(Object.keys(call.read).map((name) => [name, "AAAA"])),
    }));
    const [{ faults }] = playConformance(KERNEL_BYTES, { ...file, cases: [{ ...first, calls }] });
    expect(faults).toContain("factorPositive: other bytes in matrix");
  });
});

describe("the module as a file", () => {
  it("is the same in the Python package: node scripts/build-wasm.mjs", () => {
    const copy = readFileSync(join(ROOT, "python/trajectory-maps/src/trajectory_maps/kernels.wasm"));
    expect(copy.toString("base64") === KERNEL_BYTES).toBe(true);
  });

  it("is built beside the library", () => {
    const built = readFileSync(join(ROOT, "packages/core/dist/kernels.wasm"));
    expect(built.toString("base64") === KERNEL_BYTES).toBe(true);
  });
});
