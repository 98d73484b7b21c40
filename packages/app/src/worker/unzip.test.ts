import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { gunzip, looksZipped, unpackedLimit } from "./unzip.ts";

describe("gunzip", () => {
  const packed = new Uint8Array(gzipSync("id,time,value\n".repeat(1000)));

  it("gives the bytes that were packed", async () => {
    expect(looksZipped(packed)).toBe(true);
    expect(new TextDecoder().decode(await gunzip(packed, "a.gz"))).toBe("id,time,value\n".repeat(1000));
  });

  it("refuses cut bytes as the command line does", async () => {
    await expect(gunzip(packed.slice(0, 40), "a.gz")).rejects.toMatchObject({ code: "not-text" });
  });

  it("stops at the limit", async () => {
    await expect(gunzip(packed, "a.gz", 5000)).rejects.toMatchObject({ code: "too-large" });
  });

  it("refuses a bomb before it is unpacked", async () => {
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(2 ** 26), { level: 1 }));
    await expect(gunzip(bomb, "bomb.csv.gz")).rejects.toMatchObject({
      code: "too-large",
      message: expect.stringContaining(
        "bomb.csv.gz: expected at most 32 MB once unpacked, received more. Unpack it first",
      ),
    });
  });
});

describe("unpackedLimit", () => {
  it("lets small files grow freely, large ones a hundred times, none beyond 512 MB", () => {
    expect([1000, 2 ** 19, 2 ** 30].map((bytes) => unpackedLimit(bytes) / 2 ** 20)).toEqual([32, 50, 512]);
  });
});
