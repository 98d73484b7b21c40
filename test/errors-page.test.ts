import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ERROR_CODES } from "@trajectory-maps/core/ingest";
import { expect, it } from "vitest";
import { errorsPage } from "../scripts/errors-page.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

it("docs/errors.md lists the codes as they are; npm run docs writes it", () => {
  expect(readFileSync(join(ROOT, "docs/errors.md"), "utf8")).toBe(errorsPage());
});

it("every code of the list is used by some source", () => {
  const sources = ["core", "app", "cli"].flatMap((name) => {
    const folder = join(ROOT, "packages", name, "src");
    return readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => /\.(ts|svelte)$/.test(file) && !/\.test\.ts$|error-codes\.ts$/.test(file))
      .map((file) => readFileSync(join(folder, file), "utf8"));
  });
  expect(Object.keys(ERROR_CODES).filter((code) => !sources.some((text) => text.includes(`"${code}"`)))).toEqual([]);
});
