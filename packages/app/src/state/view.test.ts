import { describe, expect, it } from "vitest";
import { FIRST_VIEW, type View, viewFromFragment, viewToFragment, withoutIds } from "./view.ts";

describe("viewToFragment", () => {
  it("comes back as the same view", () => {
    const view: View = {
      ...FIRST_VIEW,
      step: "map",
      colour: "outcome:a & b=c",
      terrain: "slope",
      terrainTime: 2.5,
      threshold: -3,
      individual: 12,
      knownAt: 4.25,
      pins: [{ x: 0.5, y: -1 }],
      window: { x: 1, y: 2, zoom: 3 },
      selection: { members: [0, 7, 8, 500], how: "inside a lasso on the map; added: inside a box on the map" },
    };
    expect(viewFromFragment(viewToFragment(view))).toEqual(view);
  });

  it("holds neither ids nor text that was typed", () => {
    const how = 'within ¼ prior sd of P0060; added: table filter "secret"; taken out: within ¼ prior sd of x; added: y';
    const fragment = decodeURIComponent(
      viewToFragment({ ...FIRST_VIEW, step: "map", selection: { members: [3], how } }),
    );
    expect(fragment).not.toMatch(/P0060|secret|of x|y"/);
    expect(withoutIds(how)).toBe(
      "within ¼ prior sd of an individual; added: table filter; taken out: within ¼ prior sd of an individual; added: by hand",
    );
    expect(withoutIds("group B")).toBe("group B");
  });

  it("takes only positions, names and places that there can be", () => {
    const far = encodeURIComponent(JSON.stringify([{ x: 1e300, y: 0 }]));
    const nobody = encodeURIComponent(JSON.stringify({ bits: "", how: "by hand" }));
    for (const part of [
      "individual=1.5",
      "individual=-5",
      "compared=-1",
      "group=0.5",
      "coefficient=-3",
      "terrain=%22constructor%22",
      "tool=%22hammer%22",
      "axes=[1,1]",
      `pins=${far}`,
      `selection=${nobody}`,
    ]) {
      expect(viewFromFragment(`#map&${part}`)).toEqual({ ...FIRST_VIEW, step: "map" });
    }
    expect(viewFromFragment("#map&individual=-1").individual).toBe(-1);
  });

  it("reads what was typed by hand without failing", () => {
    for (const fragment of [
      "",
      "#",
      "#nowhere",
      "#map&terrain=5&pins=7&selection=%7B%7D&__proto__=1&window=%ff",
      "#map&=&x",
    ]) {
      expect(viewFromFragment(fragment)).toEqual({ ...FIRST_VIEW, step: fragment.startsWith("#map") ? "map" : "data" });
    }
  });
});
