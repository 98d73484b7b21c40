import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { unpack, unpackedLimit } from "./gzip.ts";

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
        Math.min(100 * table.length, 512 * MB - 1),
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

describe("unpack", () => {
  const packed = new Uint8Array(gzipSync("id,time,value\n".repeat(100_000)));

  async function* blocksOf(bytes: Uint8Array, size = 1000): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const textOf = async (blocks: AsyncGenerator<Uint8Array>) => {
    const decoder = new TextDecoder();
    let text = "";
    for await (const block of unpack(blocks, "a.gz")) text += decoder.decode(block, { stream: true });
    return text;
  };

  it("gives the bytes that were packed, however they come", async () => {
    for (const size of [7, 1000, 1e6]) {
      expect((await textOf(blocksOf(packed, size))) === "id,time,value\n".repeat(100_000)).toBe(true);
    }
  });

  it("refuses cut and damaged bytes", async () => {
    const damaged = packed.slice();
    damaged.fill(0, 40, 80);
    for (const bytes of [packed.slice(0, 40), packed.slice(0, -4), damaged]) {
      await expect(textOf(blocksOf(bytes))).rejects.toMatchObject({ code: "not-text", message: /whole gzip data/ });
    }
  });

  it("stops at the limit, and says what helps", async () => {
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(2 ** 27)));
    await expect(textOf(blocksOf(bomb))).rejects.toMatchObject({
      code: "too-large",
      message:
        "a.gz: expected at most 64 MB once unpacked, received more. Unpack it first, if it is a table that repeats itself so much. [too-large]",
      complaints: [{ where: { file: "a.gz" } }],
    });
  });

  it("passes on what is wrong with the source, and lets go of it when nobody wants more", async () => {
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield packed.subarray(0, 100);
      throw new Error("the disk is gone");
    }
    await expect(textOf(failing())).rejects.toThrow("the disk is gone");
    let open = true;
    async function* watched(): AsyncGenerator<Uint8Array> {
      try {
        yield* blocksOf(packed, 50);
      } finally {
        open = false;
      }
    }
    for await (const _ of unpack(watched(), "a.gz")) break;
    expect(open).toBe(false);
  });
});
