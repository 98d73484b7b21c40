import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { MOST_UNPACKED, unpackedLimit, unpackedTooLong } from "./unpacked.ts";

const MB = 2 ** 20;

describe("unpackedLimit", () => {
  it("lets small files grow to 64 MB, larger ones two hundred times, none beyond 512 MB", () => {
    expect([0, 1000, MB / 2, MB, 3 * MB, 300 * MB].map((b) => unpackedLimit(b) / MB)).toEqual([
      64, 64, 100, 200, 512, 512,
    ]);
  });

  it("leaves room for tables, however much they repeat", () => {
    const random = createRandom(2);
    const rows = (row: (k: number) => string) => Array.from({ length: 20000 }, (_, k) => row(k)).join("\n");
    const words = "University Hospital,Department of Rheumatology,outpatient,stable,no change of treatment,";
    const tables = {
      narrow: rows((k) => `P${k >> 3},${k % 8},${(80 + random.normal()).toFixed(1)}`),
      coarse: rows((k) => `${k >> 3},${k % 8},${random.integer(3)}`),
      wide: rows((k) => `P${k >> 3},${k % 8},${random.integer(40)},${words.repeat(10)}`),
    };
    for (const [name, table] of Object.entries(tables)) {
      const growth = table.length / gzipSync(table, { level: 9 }).length;
      // A hundredfold table of the same kind, whose limit is no longer the least one.
      expect(unpackedLimit((100 * table.length) / growth), name).toBeGreaterThan(
        Math.min(100 * table.length, MOST_UNPACKED - 1),
      );
    }
  });

  it("stops a bomb early", () => {
    const bomb = gzipSync(new Uint8Array(2 ** 24), { level: 9 });
    const growth = 2 ** 24 / bomb.length;
    expect(growth).toBeGreaterThan(900);
    for (const unpacked of [100 * MB, 1000 * MB, 100_000 * MB]) {
      expect(unpackedLimit(unpacked / growth)).toBeLessThan(unpacked);
    }
  });
});

describe("unpackedTooLong", () => {
  it("says what helps: unpacking, or the command line for what no text can hold", () => {
    expect(unpackedTooLong("a.gz", 100 * MB).message).toBe(
      "a.gz: expected at most 100 MB once unpacked, received more. Unpack it first, if it is a table that repeats itself so much.",
    );
    expect(unpackedTooLong("a.gz", MOST_UNPACKED).message).toMatch(/512 MB once unpacked.*command line/);
    expect(unpackedTooLong("a.gz", 1).code).toBe("too-large");
  });
});
