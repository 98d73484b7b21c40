/** Golden numbers of an independent implementation, by the same checks as `npm run oracle`. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { checkGrid } from "../../../../../oracles/check/grid.ts";
import { checkGridFit } from "../../../../../oracles/check/grid-fit.ts";

const folder = new URL("../../../../../fixtures/grid/", import.meta.url);
const read = (name: string) => JSON.parse(readFileSync(new URL(name, folder), "utf8"));

describe("the fixtures of the map on nodes", () => {
  const names = readdirSync(folder).filter((name) => name !== "grid_fit.json");
  it("are there", () => expect(names.length).toBeGreaterThanOrEqual(5));

  for (const name of names) {
    it(`agree: ${name}`, () => {
      const checks = checkGrid(read(name));
      expect(checks.length).toBeGreaterThan(45);
      for (const { name: quantity, error, tolerance } of checks) expect(error, quantity).toBeLessThanOrEqual(tolerance);
    });
  }

  it("agree: grid_fit.json", () => {
    for (const { name, error, tolerance } of checkGridFit(read("grid_fit.json"))) {
      expect(error, name).toBeLessThanOrEqual(tolerance);
    }
  });
});
