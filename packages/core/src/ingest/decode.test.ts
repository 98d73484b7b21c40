import { describe, expect, it } from "vitest";
import type { DtmError } from "../errors.ts";
import { createDecoder, decodeText } from "./decode.ts";

const TEXT = "id,time,value\nAndré,0,71\n";
const bytes = (text: string) => new TextEncoder().encode(text);
const latin = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));
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
    expect(decodeText(bytes(TEXT))).toBe(TEXT);
    expect(decodeText(bytes(`\ufeff${TEXT}`))).toBe(TEXT);
    expect(decodeText(utf16(TEXT))).toBe(TEXT);
    const bigEndian = utf16(TEXT);
    for (let k = 0; k < bigEndian.length; k += 2) bigEndian.set([bigEndian[k + 1], bigEndian[k]], k);
    expect(decodeText(bigEndian)).toBe(TEXT);
  });

  it("reads Windows-1252 that begins as ASCII, quotation marks behind letters included, and says so", () => {
    expect(decodeText(latin(TEXT))).toBe(TEXT);
    expect(decodeText(latin("id,time\n\u00abcaf\u00e9\u00bb,1\n"))).toBe("id,time\n\u00abcaf\u00e9\u00bb,1\n");
    const decoder = createDecoder(latin(TEXT));
    decoder.push(latin(TEXT));
    decoder.end();
    expect(decoder.notes()).toEqual([expect.stringContaining("Windows-1252: byte e9 in line 2")]);
  });

  it("refuses letters of two encodings with line and byte offset", () => {
    const mixed = Uint8Array.of(...bytes(TEXT), ...latin("René,1,2\n"));
    expect(complaint(mixed)).toMatchObject({ code: "not-utf8", where: { file: "visits.csv", line: 3 } });
    expect(complaint(mixed).received).toBe("byte e9 at offset 29");
    const other = Uint8Array.of(...latin(TEXT), ...bytes("René,1,2\n"));
    expect(complaint(other)).toMatchObject({ code: "not-utf8", where: { line: 2 } });
    expect(complaint(Uint8Array.of(0x41, 0xe9, 0x2c, 0x81, 0x0a)).received).toContain("byte e9 at offset 1");
    expect(complaint(Uint8Array.of(0xef, 0xbb, 0xbf, ...latin(TEXT))).received).toContain("byte e9");
  });

  it("reads the encoding that is named, and refuses one that there is not", () => {
    const named = (data: Uint8Array, encoding: string) => createDecoder(data, undefined, encoding).push(data);
    expect(named(Uint8Array.of(0x41, 0xe6), "iso-8859-2")).toBe("Ać");
    expect(named(utf16(TEXT).subarray(2), "utf-16le")).toBe(TEXT);
    expect(() => named(latin(TEXT), "utf-8")).toThrow(expect.objectContaining({ code: "not-utf8" }));
    expect(() => named(latin(TEXT), "latin-nine")).toThrow(expect.objectContaining({ code: "option" }));
  });

  it.each([
    ["a lone continuation byte", [0xc3, 0xa9, 0x41, 0x80], 3],
    ["an overlong form", [0xc3, 0xa9, 0x42, 0xc0, 0xaf], 3],
    ["an overlong form of three bytes", [0xe0, 0x80, 0xaf], 0],
    ["a surrogate", [0x41, 0xed, 0xa0, 0x80], 1],
    ["a code point beyond the last", [0xf4, 0x90, 0x80, 0x80], 0],
    ["a sequence cut short", [0x41, 0xe2, 0x82], 1],
  ])("finds %s", (_, data, offset) => {
    expect(complaint(Uint8Array.from(data)).received).toContain(`at offset ${offset}`);
  });

  it("names UTF-16 without byte-order mark", () => {
    const bare = utf16(TEXT).subarray(2);
    expect(complaint(bare)).toMatchObject({ code: "not-utf8", where: { line: 1 } });
    expect(complaint(bare).received).toContain("UTF-16");
    expect(complaint(Uint8Array.of(0, ...bare)).received).toContain("UTF-16");
  });
});

describe("createDecoder", () => {
  const HEAD = 4;
  /** The text of bytes that come in blocks of a size. */
  function inBlocks(data: Uint8Array, size: number, file?: string): string {
    const decoder = createDecoder(data.subarray(0, Math.max(HEAD, size)), file);
    let text = "";
    for (let at = 0; at < data.length; at += size) text += decoder.push(data.subarray(at, at + size));
    return text + decoder.end();
  }

  it("gives the same text however the bytes are cut, letters of two to four bytes included", () => {
    const text = `${TEXT}é€𝄞,1,2\n\ufeff${"𝄞€é".repeat(20)}`;
    for (const data of [bytes(text), bytes(`\ufeff${text}`), utf16(text)]) {
      for (let size = 1; size <= 9; size++) expect(inBlocks(data, size)).toBe(text);
    }
    const western = "id,note\na,é, ÃÉ \u00abé\u00bb üÿ\nb,ãñ\n";
    for (let size = 1; size <= 50; size++) expect(inBlocks(latin(western), size)).toBe(western);
    expect(inBlocks(new Uint8Array(0), 1)).toBe("");
  });

  it("complains in the same words, of the same byte and line", () => {
    const mixed = Uint8Array.of(...latin(TEXT), ...bytes(TEXT));
    const broken = Uint8Array.of(...bytes(`${TEXT}€€`), 0xe2, 0x82, 0x41, 0x0a);
    const lone = Uint8Array.of(...bytes(`${TEXT}\n𝄞`), 0x80, 0x0a);
    for (const data of [mixed, bytes(TEXT).subarray(0, 19), utf16(TEXT).subarray(2), broken, lone]) {
      for (const size of [1, 2, 3, 4, 5, 6, 7, 1000]) {
        let caught: unknown;
        try {
          inBlocks(data, size, "visits.csv");
        } catch (error) {
          caught = error;
        }
        expect((caught as DtmError).complaints[0]).toEqual(complaint(data));
      }
    }
  });
});
