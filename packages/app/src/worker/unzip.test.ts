import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { gunzip } from "./unzip.ts";

describe("gunzip", () => {
  const packed = new Uint8Array(gzipSync("id,time,value\n".repeat(1000)));

  it("gives the bytes that were packed", async () => {
    expect(new TextDecoder().decode(await gunzip(packed, "a.gz"))).toBe("id,time,value\n".repeat(1000));
  });

  it("refuses cut bytes as the command line does", async () => {
    await expect(gunzip(packed.slice(0, 40), "a.gz")).rejects.toMatchObject({ code: "not-text" });
  });

  it("stops at the limit", async () => {
    await expect(gunzip(packed, "a.gz", 5000)).rejects.toMatchObject({ code: "too-large" });
  });

  it("refuses a bomb before it is unpacked, in the words of the command line", async () => {
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(2 ** 27)));
    await expect(gunzip(bomb, "bomb.csv.gz")).rejects.toMatchObject({
      code: "too-large",
      message: expect.stringContaining(
        "bomb.csv.gz: expected at most 64 MB once unpacked, received more. Unpack it first",
      ),
    });
  });
});
