import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { assembleColumns } from "./assemble.ts";

describe("assembleColumns", () => {
  it("sorts by (id, time, value), keeps equal rows in their order, and leaves out names without a row", () => {
    const random = createRandom(5);
    // Individual 0 has a series long enough for the engine's sort, the others short ones; name 7 has no row.
    const names = ["b", "10", "9", "é", "a", "B", "\u{1d11e}", "none"];
    const N = 300;
    const individuals = Int32Array.from({ length: N }, () => Math.max(0, Math.floor(14 * random.uniform()) - 7));
    const times = Float64Array.from({ length: N }, () => Math.round(5 * random.uniform()));
    const values = Float64Array.from({ length: N }, () => Math.round(3 * random.uniform()));
    const cohort = assembleColumns(names, [{ individuals, times, values }]);
    const ids = cohort.ids;
    const slow = Array.from({ length: N }, (_, j) => j).sort((a, b) => {
      const [p, q] = [names[individuals[a]], names[individuals[b]]];
      return p < q ? -1 : p > q ? 1 : times[a] - times[b] || values[a] - values[b] || a - b;
    });
    expect([...cohort.order]).toEqual(slow);
    expect([...cohort.times]).toEqual(slow.map((j) => times[j]));
    expect([...cohort.values]).toEqual(slow.map((j) => values[j]));
    const seen = new Set(slow.map((j) => names[individuals[j]]));
    expect(ids).toEqual([...seen]);
    expect(ids).not.toContain("none");
    ids.forEach((id, i) => {
      const rows = slow.slice(cohort.offsets[i], cohort.offsets[i + 1]);
      expect(rows.every((j) => names[individuals[j]] === id)).toBe(true);
    });
    expect(cohort.offsets[ids.length]).toBe(N);
  });
});
