import { describe, expect, it } from "vitest";
import { DtmError } from "../errors.ts";
import { decodeText } from "./decode.ts";

const TEXT = "id,time,value\nAndré,0,71\n";
const bytes = (text: string) => new TextEncoder().encode(text);
const utf16 = (text: string) => new Uint8Array(Uint16Array.from(`\ufeff${text}`, (char) => char.charCodeAt(0)).buffer);

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
});
