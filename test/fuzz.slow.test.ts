/**
 * npm run test:slow: 10⁵ changed tables and 10⁵ changed model files. What fails is printed with its seed; SEED=123 does that one again, FROM and COUNT
 * choose others (defaults 1 and 100,000).
 */
import process from "node:process";
import { expect, it } from "vitest";
import { checkMany } from "./fuzz/many.ts";
import { checkModelFile } from "./fuzz/models.ts";
import { checkTable } from "./fuzz/tables.ts";

const FROM = Number(process.env.FROM ?? "1");
const COUNT = Number(process.env.COUNT ?? "100000");
/** Ends what hangs, on a machine with much else to do. */
const PATIENCE = Math.max(60_000, COUNT * 200);

it(
  `${COUNT} changed tables are read as they are written, or refused`,
  async () => {
    const { taken = 0, refused = 0 } = await checkMany("tables", FROM, COUNT, checkTable);
    expect(Math.min(taken, refused)).toBeGreaterThan(0);
  },
  PATIENCE,
);

it(
  `${COUNT} changed model files are refused by a code, or predict what their probe promises`,
  async () => {
    const { refused = 0, loads = 0 } = await checkMany("model files", FROM, COUNT, checkModelFile);
    expect(Math.min(refused, loads)).toBeGreaterThan(0);
  },
  PATIENCE,
);
