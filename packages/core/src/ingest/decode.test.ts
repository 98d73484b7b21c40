import { describe, expect, it } from "vitest";
import { DtmError } from "../errors.ts";
import { decodePieces, decodeText } from "./decode.ts";

const TEXT = "id,time,value\nAndré,0,71\n";
const bytes = (text: string) => new TextEncoder().encode(text);
const utf16 = (text: string) => new Uint8Array(Buffer.from(`\ufeff${text}`, "utf16le"));

function complaint(data: Uint8Array) {
  try {
    decodeText(data, "visits.csv");
  } catch (error) {
    return (error as DtmError).complaints[0];
  }
  throw new Error("the bytes were accepted");
}

describe("decodeText", () => {
  it("reads UTF-8 with and without byte-order mark, and UTF-16 with one", () => {
    expect(decodeText(bytes(TEXT))).toEqual({ text: TEXT, encoding: "utf-8" });
    expect(decodeText(bytes(`\ufeff${TEXT}`)).text).toBe(TEXT);
    expect(decodeText(utf16(TEXT))).toEqual({ text: TEXT, encoding: "utf-16le" });
    const bigEndian = utf16(TEXT);
    for (let k = 0; k < bigEndian.length; k += 2) bigEndian.set([bigEndian[k + 1], bigEndian[k]], k);
    expect(decodeText(bigEndian)).toEqual({ text: TEXT, encoding: "utf-16be" });
  });

  it("refuses Latin-1 with line and byte offset", () => {
    const latin = Uint8Array.from(TEXT, (char) => char.charCodeAt(0));
    expect(complaint(latin)).toMatchObject({ code: "not-utf8", where: { file: "visits.csv", line: 2 } });
    expect(complaint(latin).received).toBe("byte e9 at offset 18");
  });

  it.each([
    ["a lone continuation byte", [0x41, 0x80], 1],
    ["an overlong form", [0x41, 0x42, 0xc0, 0xaf], 2],
    ["an overlong form of three bytes", [0xe0, 0x80, 0xaf], 0],
    ["a surrogate", [0x41, 0xed, 0xa0, 0x80], 1],
    ["a code point beyond the last", [0xf4, 0x90, 0x80, 0x80], 0],
    ["a sequence cut short", [0x41, 0xe2, 0x82], 1],
  ])("finds %s", (_, data, offset) => {
    expect(complaint(Uint8Array.from(data)).received).toContain(`at offset ${offset}`);
  });

  it("names gzip and workbooks", () => {
    expect(complaint(Uint8Array.of(0x1f, 0x8b, 8, 0))).toMatchObject({ code: "not-text", remedy: /gzip/ });
    expect(complaint(Uint8Array.of(0x50, 0x4b, 3, 4))).toMatchObject({ code: "not-text", remedy: /export as CSV/ });
    expect(() => decodeText(Uint8Array.of(0x1f, 0x8b))).toThrow(DtmError);
  });

  it("names UTF-16 without byte-order mark, old workbooks and Parquet", () => {
    const bare = utf16(TEXT).subarray(2);
    expect(complaint(bare)).toMatchObject({ code: "not-utf8", where: { line: 1 } });
    expect(complaint(bare).received).toContain("UTF-16");
    expect(complaint(Uint8Array.of(0, ...bare)).received).toContain("UTF-16");
    expect(complaint(Uint8Array.of(0xd0, 0xcf, 0x11, 0xe0)).received).toContain("workbook");
    expect(complaint(bytes("PAR1...."))).toMatchObject({
      code: "unsupported-format",
      remedy: expect.stringContaining("tabs, semicolons"),
    });
  });
});

describe("decodePieces", () => {
  const inBlocks = (data: Uint8Array, size: number) =>
    Array.from({ length: Math.ceil(data.length / size) }, (_, k) => data.subarray(k * size, (k + 1) * size));

  it("gives the text of decodeText however the bytes are cut, letters of two to four bytes included", () => {
    const text = `${TEXT}é€𝄞,1,2\n\ufeff${"𝄞€é".repeat(20)}`;
    for (const data of [bytes(text), bytes(`\ufeff${text}`), utf16(text)]) {
      for (let size = 1; size <= 9; size++) {
        expect([...decodePieces(inBlocks(data, size))].join("")).toBe(text);
      }
    }
    expect([...decodePieces([])]).toEqual([]);
  });

  it("complains in the same words, of the same byte and line", () => {
    const latin = Uint8Array.from(`${TEXT.repeat(3)}`, (char) => char.charCodeAt(0));
    for (const data of [latin, bytes(TEXT).subarray(0, 19), utf16(TEXT).subarray(2)]) {
      for (const size of [4, 5, 6, 7, 1000]) {
        let caught: unknown;
        try {
          [...decodePieces(inBlocks(data, size), "visits.csv")];
        } catch (error) {
          caught = error;
        }
        expect((caught as DtmError).complaints[0]).toEqual(complaint(data));
      }
    }
  });
});
