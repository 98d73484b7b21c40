import { describe, expect, it } from "vitest";
import { blocksOf } from "./file-blocks.ts";

describe("blocksOf", () => {
  const collect = async (blocks: AsyncIterable<Uint8Array>) => {
    const all: Uint8Array[] = [];
    for await (const block of blocks) all.push(block);
    return Buffer.concat(all);
  };

  it("gives every byte and tells how many came", async () => {
    const bytes = Uint8Array.from({ length: 300_000 }, (_, k) => k % 251);
    const seen: number[] = [];
    const read = await collect(blocksOf(new Blob([bytes]), "a.csv", (n) => seen.push(n)));
    expect(read.equals(bytes)).toBe(true);
    expect(seen.at(-1)).toBe(300_000);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(await collect(blocksOf(new Blob([]), "a.csv"))).toHaveLength(0);
  });

  it("gives up when asked to", async () => {
    const givenUp = blocksOf(new Blob([new Uint8Array(1_000_000)]), "a.csv", () => {
      throw new Error("given up");
    });
    await expect(collect(givenUp)).rejects.toThrow("given up");
  });

  it("says which file cannot be read, and what helps", async () => {
    const stream = () => new ReadableStream({ pull: () => Promise.reject(new Error("The file has changed.")) });
    const broken = Object.assign(new Blob([]), { stream });
    await expect(collect(blocksOf(broken, "a.csv"))).rejects.toMatchObject({
      code: "cannot-read",
      message: "a.csv cannot be read: The file has changed. Choose the file again.",
    });
  });
});
