/** What a reader can work out of small groups from all numbers of a shared report: the total, sizes of groups, the tree and the discs of the map. */
import { parseHTML } from "linkedom";
import { describe, expect, it } from "vitest";
import { createRandom, type Random } from "../../core/src/numeric/random.ts";
import type { Context } from "./content/context.ts";
import { treeFigure } from "./content/tree-figure.ts";
import { sharedTree } from "./shared-tree.ts";
import { cellsOf, discSizes, isCount, roughRange, WITHHELD } from "./small-cells.ts";
import type { StudyTree } from "./study.ts";

const LIMIT = 11;
type Range = readonly [number, number];
/** Unknown whole numbers, what is known of each, and sums of some of them that are known. */
interface Puzzle {
  readonly parts: readonly Range[];
  readonly sums: readonly { readonly of: readonly number[]; readonly is: Range }[];
}

/** The least and the most that each part can be, by narrowing each by all sums until nothing changes. */
function solve({ parts, sums }: Puzzle): Range[] {
  const found = parts.map(([l, u]): [number, number] => [l, u]);
  for (let changed = true; changed; ) {
    changed = false;
    for (const { of, is } of sums) {
      for (const k of of) {
        const others = of.filter((j) => j !== k);
        const low = Math.max(found[k][0], is[0] - others.reduce((sum, j) => sum + found[j][1], 0));
        const high = Math.min(found[k][1], is[1] - others.reduce((sum, j) => sum + found[j][0], 0));
        if (low === found[k][0] && high === found[k][1]) continue;
        found[k] = [low, high];
        changed = true;
      }
    }
  }
  return found;
}

/** What the size of a group, as it is written, lets it be. */
function markRange(text: string, total: number): Range {
  if (text === WITHHELD) return [1, total];
  if (text.startsWith("<")) return [1, LIMIT - 1];
  if (text.startsWith("≥")) return [LIMIT, total];
  return [Number(text), Number(text)];
}

/** Groups of one to three branches each, joined at random, groups first. */
function randomTree(sizes: readonly number[], random: Random): StudyTree {
  const leaves = sizes.flatMap((size, group) => {
    const cuts = Array.from({ length: Math.min(random.integer(3), size - 1) }, () => 1 + random.integer(size - 1));
    const ends = [...new Set([0, ...cuts, size])].sort((a, b) => a - b);
    return ends.slice(1).map((end, k) => ({ group, size: end - ends[k] }));
  });
  const merges: [number, number, number, number][] = [];
  const sizeOf = (node: number) => (node < leaves.length ? leaves[node].size : merges[node - leaves.length][3]);
  const join = (nodes: readonly number[]): number =>
    nodes.reduce((a, b) => {
      merges.push([a, b, merges.length + 1, sizeOf(a) + sizeOf(b)]);
      return leaves.length + merges.length - 1;
    });
  const tops = sizes.map((_, group) => join([...leaves.keys()].filter((k) => leaves[k].group === group)));
  join(tops);
  return { leaves, merges, cut: merges.length - sizes.length + 1.5 } as unknown as StudyTree;
}

/** The figure as it stands in a shared report. */
function figureOf(sizes: readonly number[], tree: StudyTree, smallCell: number) {
  const groups = sizes.map((size, group) => ({ group, size, letter: "ABCDEF"[group], name: `group ${group}` }));
  const texts = cellsOf(sizes, smallCell);
  const figure = treeFigure({ study: { groups: { tree } }, groups, sizes: texts, smallCell } as unknown as Context);
  if (figure === undefined) return undefined;
  const { document } = parseHTML("<html><body></body></html>");
  const svg = figure.draw({ document } as never).toString();
  return { table: figure.table, svg, words: `${figure.caption} ${figure.summary}` };
}

describe("a solver of hidden counts", () => {
  it("finds what rounded sizes of branches would tell", () => {
    // A group of 40 has a branch of about 35, and another that is small.
    const [, small] = solve({ parts: [roughRange(35, LIMIT), [1, 10]], sums: [{ of: [0, 1], is: [40, 40] }] });
    expect(small).toEqual([3, 7]);
  });
});

describe("the tree of a shared report", () => {
  it("narrows no hidden size of a group beyond its mark", () => {
    const random = createRandom(4);
    let hiddenOnes = 0;
    for (let round = 0; round < 400; round++) {
      const sizes = Array.from(
        { length: 2 + random.integer(3) },
        () => 1 + random.integer(random.integer(2) === 0 ? 12 : 60),
      );
      const total = sizes.reduce((sum, n) => sum + n, 0);
      const tree = randomTree(sizes, random);
      const texts = cellsOf(sizes, LIMIT);
      const hidden = new Set([...sizes.keys()].filter((k) => !isCount(texts[k])));
      const marks = texts.map((text) => markRange(text, total));
      const everybody = { of: [...sizes.keys()], is: [total, total] as const };
      const before = solve({ parts: marks, sums: [everybody] });
      const shown = sharedTree(tree, hidden);
      if (shown === undefined || total < LIMIT) continue;
      // A group has an individual in every branch at least; branches and merges have no sizes.
      const branches = sizes.map((_, group) => shown.leaves.filter((leaf) => leaf.group === group).length);
      const parts = marks.map(([l, u], k): Range => [Math.max(l, branches[k]), u]);
      const after = solve({ parts, sums: [everybody] });
      for (const k of hidden) {
        if (sizes[k] >= LIMIT) continue;
        hiddenOnes++;
        expect([texts, k, after[k][1]]).toEqual([texts, k, before[k][1]]);
        expect(Math.max(1, after[k][0])).toBe(Math.max(1, before[k][0]));
      }
    }
    expect(hiddenOnes).toBeGreaterThan(200);
  });

  it("tells no size of a branch, neither as a number nor as an area; a report of one's own tells all", () => {
    const tree = randomTree([40, 7, 60], createRandom(9));
    const shared = figureOf([40, 7, 60], tree, LIMIT);
    expect(shared?.svg).toContain("<svg");
    expect(shared?.svg).not.toContain("<circle");
    expect(shared?.svg).not.toContain("individuals");
    expect(shared?.table.columns).toEqual(["Branches left", "height of the merge"]);
    expect(shared?.words).not.toContain("individuals");
    const own = figureOf([40, 7, 60], tree, 1);
    expect(own?.svg).toContain("individuals");
    expect(own?.table.rows[0][2]).toBe("107");
  });

  it("is left out where a hidden group lies in two places", () => {
    const leaves = [0, 1, 0].map((group) => ({ group, size: group === 0 ? 4 : 50 }));
    const merges = [
      [0, 1, 1, 54],
      [3, 2, 2, 58],
    ];
    const tree = { leaves, merges, cut: 1.5 } as unknown as StudyTree;
    expect(sharedTree(tree, new Set([0]))).toBeUndefined();
    expect(sharedTree(tree, new Set())?.leaves).toEqual(leaves);
  });
});

describe("discs of a shared map", () => {
  it("narrow no small cell beyond fewer than eleven, whatever the cells", () => {
    const random = createRandom(5);
    const kinds = new Set<string>();
    for (let round = 0; round < 2000; round++) {
      const counts = Array.from(
        { length: 1 + random.integer(8) },
        () => 1 + random.integer(random.integer(2) === 0 ? 14 : 70),
      );
      const sizes = discSizes(counts, LIMIT);
      const few = counts.filter((n) => n < LIMIT).length;
      const isSame = new Set(sizes.filter((size) => size !== null)).size < 2 && counts.some((n) => n > 20);
      kinds.add(few === 0 ? "none" : sizes.every((size) => size === null) ? "hidden" : isSame ? "same" : "rounded");
      if (few === 0 || sizes.every((size) => size === null)) continue;
      const total = counts.reduce((sum, n) => sum + n, 0);
      const areTold = sizes.some((size) => size !== null && size !== LIMIT);
      const parts = counts.map((n, k): Range => {
        if (sizes[k] === null) return [1, LIMIT - 1];
        return areTold ? roughRange(n, LIMIT) : [LIMIT, total];
      });
      const found = solve({ parts, sums: [{ of: [...counts.keys()], is: [total, total] }] });
      for (const [k, size] of sizes.entries()) if (size === null) expect(found[k]).toEqual([1, LIMIT - 1]);
    }
    expect([...kinds].sort()).toEqual(["hidden", "none", "rounded", "same"]);
  });
});
