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

  it("spreads ids that were made to stand in one place", () => {
    const table = createIdTable();
    for (const id of collidingIds(400)) addId(table, id);
    let [run, longest] = [0, 0];
    for (const slot of table.slots) {
      run = slot === 0 ? 0 : run + 1;
      longest = Math.max(longest, run);
    }
    expect(table.slots.length).toBe(1024);
    expect(longest).toBeLessThan(200);
  });
});

/** Ids of which a table of 1,024 places that hashes from the usual start of FNV-1a would want one place alone. */
function collidingIds(count: number): string[] {
  const ids: string[] = [];
  for (let number = 0; ids.length < count; number++) {
    const id = String(number);
    let hash = 0x811c9dc5;
    for (let k = 0; k < id.length; k++) hash = Math.imul(hash ^ id.charCodeAt(k), 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    hash ^= hash >>> 13;
    if ((hash & 1023) === 0) ids.push(id);
  }
  return ids;
}
