import { describe, expect, it } from "vitest";
import { FIRST_VIEW, linkOf, type View, viewToFragment, withoutIds, withoutPeople } from "./view.ts";

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
      pins: [{ x: 0.5, y: -1 }],
      window: { x: 1, y: 2, zoom: 3 },
      selection: { members: [0, 7, 8, 500], how: "inside a lasso on the map; added: inside a box on the map" },
    };
    expect(linkOf(viewToFragment(view)).view).toEqual(view);
  });

  it("holds neither ids nor text that was typed", () => {
    const how = 'within ¼ map unit of P0060; added: table filter "secret"; taken out: within ¼ map unit of x; added: y';
    const fragment = decodeURIComponent(
      viewToFragment({ ...FIRST_VIEW, step: "map", selection: { members: [3], how } }),
    );
    expect(fragment).not.toMatch(/P0060|secret|of x|y"/);
    expect(withoutIds(how)).toBe(
      "within ¼ map unit of an individual; added: table filter; taken out: within ¼ map unit of an individual; added: by hand",
    );
    expect(withoutIds("group B")).toBe("group B");
  });

  it("holds no time of a visit: what was known is told by the number of visits", () => {
    const view: View = { ...FIRST_VIEW, step: "map", individual: 12, knownAt: 4.257494 };
    const fragment = viewToFragment(view, { of: [340, 1400], visits: 3, demo: null });
    expect(fragment).not.toMatch(/4\.|knownAt/);
    expect(linkOf(fragment)).toEqual({ view: { ...view, knownAt: null }, of: [340, 1400], visits: 3, demo: null });
  });

  it("names the example, which every page can open", () => {
    expect(linkOf("#demo=lung")).toEqual({
      view: { ...FIRST_VIEW, step: "map" },
      of: null,
      visits: null,
      demo: "lung",
    });
    const fragment = viewToFragment({ ...FIRST_VIEW, step: "outcomes" }, { of: [2323, 9], visits: null, demo: "lung" });
    expect(linkOf(fragment)).toMatchObject({ demo: "lung", of: null, view: { step: "outcomes" } });
    for (const bad of ["#demo=liver", "#map&of=1", "#map&of=1x2x3", "#map&visits=-1", "#map&visits=2.5"]) {
      expect(linkOf(bad)).toMatchObject({ demo: null, of: null, visits: null });
    }
  });

  it("of another study is taken over without its people", () => {
    const view: View = {
      ...FIRST_VIEW,
      terrain: "slope",
      individual: 3,
      compared: 4,
      group: 1,
      selection: { members: [1], how: "table" },
      pins: [{ x: 0, y: 0 }],
    };
    expect(withoutPeople(view)).toEqual({ ...FIRST_VIEW, terrain: "slope" });
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
      expect(linkOf(`#map&${part}`).view).toEqual({ ...FIRST_VIEW, step: "map" });
    }
    expect(linkOf("#map&individual=-1").view.individual).toBe(-1);
  });

  it("reads what was typed by hand without failing", () => {
    for (const fragment of [
      "",
      "#",
      "#nowhere",
      "#map&terrain=5&pins=7&selection=%7B%7D&__proto__=1&window=%ff",
      "#map&=&x",
    ]) {
      expect(linkOf(fragment).view).toEqual({ ...FIRST_VIEW, step: fragment.startsWith("#map") ? "map" : "data" });
    }
  });
});
