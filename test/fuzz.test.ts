/** A little of what fuzz.slow.test.ts does at length. */
import process from "node:process";
import { expect, it } from "vitest";
import { checkMany } from "./fuzz/many.ts";
import { checkModelFile } from "./fuzz/models.ts";
import { checkTable } from "./fuzz/tables.ts";

it("400 changed tables are read as they are written, or refused", async () => {
  const { taken = 0, refused = 0 } = await checkMany("tables", 1, 400, checkTable);
  // Both were met often: a reader that refuses everything would pass otherwise.
  if (process.env.SEED === undefined) expect([taken > 80, refused > 80]).toEqual([true, true]);
});

it("120 changed model files are refused by a code, or predict what their probe promises", async () => {
  const { refused = 0, loads = 0 } = await checkMany("model files", 1, 120, checkModelFile);
  if (process.env.SEED === undefined) expect([refused > 60, loads > 5]).toEqual([true, true]);
});
