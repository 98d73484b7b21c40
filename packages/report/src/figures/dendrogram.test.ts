import { parseHTML } from "linkedom";
import { describe, expect, it } from "vitest";
import type { StudyGroup, StudyTree } from "../study.ts";
import { drawDendrogram } from "./dendrogram.ts";

const { document } = parseHTML("<html><body></body></html>") as unknown as { document: Document };
const group = (number: number, letter: string): StudyGroup => ({
  group: number,
  letter,
  name: letter,
  size: 30,
  times: [0],
  median: [0],
  lower: [0],
  upper: [0],
  followed: [30],
});
// Two groups of two branches each.
const TREE: StudyTree = {
  leaves: [
    { size: 20, group: 1 },
    { size: 4, group: 1 },
    { size: 40, group: 0 },
    { size: 12, group: 0 },
  ],
  merges: [
    [0, 1, 1, 24],
    [2, 3, 2, 52],
    [4, 5, 8, 76],
  ],
  cut: 5,
};
const draw = (hasSizes: boolean) =>
  drawDendrogram(TREE, [group(0, "A"), group(1, "B")], hasSizes, { document, theme: "light" });
const links = (svg: Element) =>
  Array.from(svg.querySelectorAll("path")).filter((path) => /V.*H.*V/.test(path.getAttribute("d") ?? ""));

describe("drawDendrogram", () => {
  it("draws a link for each merge, higher merges higher, and colours those within a group", () => {
    const drawn = links(draw(true));
    expect(drawn.length).toBe(3);
    const tops = drawn.map((path) => Number(/V([\d.]+)H/.exec(path.getAttribute("d")!)![1]));
    expect(tops[0]).toBeGreaterThan(tops[1]);
    expect(tops[1]).toBeGreaterThan(tops[2]);
    const colours = drawn.map((path) => path.getAttribute("stroke"));
    expect(new Set(colours).size).toBe(3);
  });

  it("cuts between the merges within groups and the one between them", () => {
    const svg = draw(true);
    const cut = Array.from(svg.querySelectorAll("path")).find((path) => path.hasAttribute("stroke-dasharray"))!;
    const y = Number(/,([\d.]+)H/.exec(cut.getAttribute("d")!)![1]);
    const tops = links(svg).map((path) => Number(/V([\d.]+)H/.exec(path.getAttribute("d")!)![1]));
    expect(y).toBeLessThan(Math.min(tops[0], tops[1]));
    expect(y).toBeGreaterThan(tops[2]);
  });

  it("writes the letter of a group once under its branches", () => {
    const letters = Array.from(draw(true).querySelectorAll("text"), (text) => text.textContent).filter((t) =>
      /^[AB]$/.test(t ?? ""),
    );
    expect(letters).toEqual(["B", "A"]);
  });

  it("has a disc for each branch and one in the legend where sizes are told, and none where they are not", () => {
    expect(draw(true).querySelectorAll("circle").length).toBe(TREE.leaves.length + 1);
    expect(draw(false).querySelectorAll("circle").length).toBe(0);
    expect(draw(false).textContent).not.toMatch(/individuals|fewer than/);
  });
});
