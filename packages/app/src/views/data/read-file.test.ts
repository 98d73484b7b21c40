import { describe, expect, it } from "vitest";
import { readInPieces } from "./read-file.ts";

describe("readInPieces", () => {
  it("returns every byte and tells how many came", async () => {
    const bytes = Uint8Array.from({ length: 300_000 }, (_, k) => k % 251);
    const seen: number[] = [];
    const read = await readInPieces(new Blob([bytes]), new AbortController().signal, (n) => seen.push(n));
    expect(Buffer.from(read).equals(bytes)).toBe(true);
    expect(seen.at(-1)).toBe(300_000);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
  });

  it("gives up when asked to", async () => {
    const abort = new AbortController();
    const reading = readInPieces(new Blob([new Uint8Array(1_000_000)]), abort.signal, () => abort.abort());
    await expect(reading).rejects.toThrow("given up");
  });

  it("reads an empty file as nothing", async () => {
    const read = await readInPieces(new Blob([]), new AbortController().signal, () => {});
    expect(read.byteLength).toBe(0);
  });
});
