import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { idAt, idList } from "../cohort/ids.ts";
import { addId, createIdTable, findId, packedIds } from "./id-table.ts";

describe("an id table", () => {
  it("numbers any texts as a Map does, and gives them back unchanged", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("", "\ud834", "p1", "p1 ", "é€𝄞", "__proto__"),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 60 }), (ids) => {
        const table = createIdTable();
        const numbers = new Map<string, number>();
        for (const id of ids) {
          expect(findId(table, id)).toBe(numbers.get(id) ?? -1);
          if (!numbers.has(id)) {
            numbers.set(id, numbers.size);
            expect(addId(table, id)).toBe(numbers.size - 1);
          }
        }
        expect(idList(packedIds(table))).toEqual([...numbers.keys()]);
      }),
    );
  });

  it("grows to many ids and long ones", () => {
    const table = createIdTable();
    const ids = Array.from({ length: 20_000 }, (_, k) => (k % 1000 === 0 ? "x".repeat(k) : `individual ${k}`));
    ids[7000] = "Zoë";
    ids.forEach((id, k) => {
      expect(addId(table, id)).toBe(k);
    });
    const packed = packedIds(table);
    expect(ids.every((id, k) => findId(table, id) === k && idAt(packed, k) === id)).toBe(true);
    expect(idList(packedIds(table))).toEqual(ids);
  });
});
