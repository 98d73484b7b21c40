import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCohort } from "../ingest/read-cohort.ts";
import { makeCohort } from "./cohort.ts";
import { canonicalOrder, idAt, idList, packIds, sameIds, selectIds, withRoom } from "./ids.ts";

/** Characters that sort apart as bytes and as UTF-16 units, halves of pairs, and letters with a mark of their own. */
const ODD = ["a", "b", "é", "e\u0301", "\ud7ff", "\ue000", "\uffff", "\u{10000}", "\u{1d11e}", "\u{10ffff}"];
const HALVES = ["\ud800", "\ud834", "\udbff", "\udc00", "\udd1e", "\udfff"];

/** Any text but the empty one, halves of surrogate pairs included. */
const text = fc.oneof(
  fc.string({ unit: "binary", minLength: 1 }),
  fc.string({ unit: fc.constantFrom(...ODD, ...HALVES), minLength: 1, maxLength: 6 }),
  fc.constantFrom("__proto__", "007", "7", " p", "\u0000", "\ufeffp"),
);
const texts = fc.array(text, { minLength: 1, maxLength: 40 });
const wellFormed = (id: string) => !/\p{Surrogate}/u.test(id);

describe("packIds", () => {
  it("gives back any text, one by one and as a list", () => {
    fc.assert(
      fc.property(texts, (list) => {
        const ids = packIds(list);
        expect(idList(ids)).toEqual(list);
        expect(list.map((_, i) => idAt(ids, i))).toEqual(list);
      }),
    );
  });

  it("holds UTF-8 of text that has such, and three bytes for half a pair", () => {
    fc.assert(
      fc.property(texts, (list) => {
        const whole = list.filter(wellFormed);
        expect(packIds(whole).bytes).toEqual(new Uint8Array(new TextEncoder().encode(whole.join(""))));
      }),
    );
    expect([...packIds(["\ud834"]).bytes]).toEqual([0xed, 0xa0, 0xb4]);
    expect([...packIds(["\ud834\udd1e"]).bytes]).toEqual([0xf0, 0x9d, 0x84, 0x9e]);
  });

  it("gives different texts different bytes, also where halves of pairs stand beside each other", () => {
    const apart = ["\ud834\udd1e", "\udd1e\ud834", "\ud834", "\udd1e", "\ud834\ud834\udd1e"];
    const bytes = apart.map((id) => packIds([id]).bytes.join(" "));
    expect(new Set(bytes).size).toBe(apart.length);
  });

  it("takes long ids and many, of ASCII and not", () => {
    const list = Array.from({ length: 3000 }, (_, i) => (i === 1500 ? "Zoë" : `p${i}`));
    list[7] = "long 𝄞".repeat(50_000);
    expect(idList(packIds(list))).toEqual(list);
  });

  it("refuses an empty id, and more bytes than positions can count", () => {
    expect(() => packIds(["a", ""])).toThrow(expect.objectContaining({ code: "missing-id" }));
    expect(() => makeCohort({ ids: [""], times: [0], values: [1] })).toThrow(/non-empty text/);
    expect(() => withRoom(new Uint8Array(1), 2 ** 31)).toThrow(expect.objectContaining({ code: "too-large" }));
  });

  it("makes plain data: a cohort survives structured clone, and its buffers hold nothing else", () => {
    const cohort = makeCohort({ ids: ["é", "b", "b", "𝄞"], times: [0, 1, 2, 3], values: [1, 2, 3, 4] });
    expect(structuredClone(cohort)).toEqual(cohort);
    expect(idList(structuredClone(cohort, { transfer: [cohort.ids.bytes.buffer] }).ids)).toEqual(["b", "é", "𝄞"]);
    const { bytes, starts } = readCohort("id,time,value\nb,0,1\né,0,1\nb,1,1\n").cohort.ids;
    expect([bytes.buffer.byteLength, starts.buffer.byteLength]).toEqual([3, 12]);
  });
});

describe("idAt", () => {
  it("refuses a position without an individual", () => {
    const ids = packIds(["a", "b"]);
    for (const i of [-1, 2, Number.NaN]) expect(() => idAt(ids, i)).toThrow(/from 0 to 1, received/);
  });
});

describe("canonicalOrder", () => {
  it("is the order of strings by UTF-16 unit, whatever the characters", () => {
    fc.assert(
      fc.property(texts, (list) => {
        const distinct = [...new Set(list)];
        const order = canonicalOrder(packIds(distinct));
        expect(Array.from(order, (i) => distinct[i])).toEqual([...distinct].sort());
      }),
      { numRuns: 300 },
    );
  });

  it("puts characters beyond U+FFFF before U+E000, against the order of their bytes", () => {
    const sorted = ["z", "\ud7ff", "\ud800", "\u{10000}", "\ud834", "\u{1d11e}", "\u{10ffff}", "\udc00", "\ue000"];
    expect([...sorted].sort()).toEqual(sorted);
    const reversed = [...sorted].reverse();
    expect(Array.from(canonicalOrder(packIds(reversed)), (i) => reversed[i])).toEqual(sorted);
    const read = readCohort(`id,time,value\n\ue000,0,1\n\u{10ffff},0,1\n\uffff,0,1\n\u{10000},0,1\nz,0,1\n`);
    expect(idList(read.cohort.ids)).toEqual(["z", "\u{10000}", "\u{10ffff}", "\ue000", "\uffff"]);
  });

  it("sorts many ids, in order or not, of any number", () => {
    for (const m of [1, 2, 3, 7, 1000, 1023]) {
      for (const of of [(i: number) => i, (i: number) => m - i, (i: number) => (i * 619) % m]) {
        const list = [...new Set(Array.from({ length: m }, (_, i) => String(of(i))))];
        expect(Array.from(canonicalOrder(packIds(list)), (i) => list[i])).toEqual([...list].sort());
      }
    }
  });
});

describe("selectIds and sameIds", () => {
  it("take ids by position, and tell whether two columns are one", () => {
    fc.assert(
      fc.property(texts, fc.array(fc.nat(), { maxLength: 20 }), (list, numbers) => {
        const chosen = numbers.map((n) => n % list.length);
        const wanted = chosen.map((i) => list[i]);
        const selected = selectIds(packIds(list), chosen);
        expect(idList(selected)).toEqual(wanted);
        expect(sameIds(selected, packIds(wanted))).toBe(true);
        expect(sameIds(packIds([...wanted, "a"]), packIds([...wanted, "b"]))).toBe(false);
      }),
    );
    // The same letters, cut otherwise.
    expect(sameIds(packIds(["ab", "c"]), packIds(["a", "bc"]))).toBe(false);
    expect(sameIds(packIds(["a"]), packIds(["a", "b"]))).toBe(false);
  });
});
