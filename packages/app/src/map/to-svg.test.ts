import { parseHTML } from "linkedom";
import { describe, expect, it } from "vitest";
import { putOnMap } from "./to-svg.ts";
import { viewportOf } from "./viewport.ts";

describe("putOnMap", () => {
  const box = { x0: -2, x1: 2, y0: -2, y1: 2 };
  const viewport = viewportOf(600, 600, box, { x: 0, y: 0, zoom: 1 });
  const { document } = parseHTML(`<svg><g vector-effect="non-scaling-stroke" stroke-width="0.8">
    <path id="line" vector-effect="non-scaling-stroke" stroke-width="1.6" stroke-dasharray="4 3"/>
    <path id="own" stroke-width="0.012"/></g></svg>`);
  const group = document.querySelector("g")!;
  putOnMap(group, viewport);

  it("writes widths and dashes so that the transform makes them the px they were", () => {
    const line = document.querySelector("#line")!;
    const numbers = (name: string) =>
      line
        .getAttribute(name)!
        .split(" ")
        .map((x) => Number(x) * viewport.unit);
    // Four digits are written.
    expect(Number(group.getAttribute("stroke-width")) * viewport.unit).toBeCloseTo(0.8, 3);
    expect(numbers("stroke-width")[0]).toBeCloseTo(1.6, 3);
    for (const [k, dash] of [4, 3].entries()) expect(numbers("stroke-dasharray")[k]).toBeCloseTo(dash, 3);
    expect(group.outerHTML).not.toContain("vector-effect");
    expect(group.getAttribute("transform")).toMatch(/^matrix\(/);
  });

  it("leaves what is meant in map coordinates", () => {
    expect(document.querySelector("#own")!.getAttribute("stroke-width")).toBe("0.012");
  });
});
