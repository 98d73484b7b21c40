import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { kernelsPage } from "../scripts/kernels-page.ts";
import { ROOT } from "./root.ts";

it("docs/kernels.md tells layouts and kernels as they are; npm run docs writes it", async () => {
  expect(readFileSync(join(ROOT, "docs/kernels.md"), "utf8")).toBe(await kernelsPage());
});
