import { describe, expect, it } from "vitest";
import { outcomeLines, outcomeNote, outcomeSentence, placeWords } from "./outcome-words.ts";

const rate = (cases: number, known: number) => ({ cases, known, share: cases / known });
const contrast = (here: readonly [number, number], elsewhere: readonly [number, number], side = 1) => ({
  side,
  centre: [-1, 0.9],
  here: rate(...here),
  elsewhere: rate(...elsewhere),
  drawn: { here: rate(...here), elsewhere: rate(...elsewhere) },
});
const base = { outcome: "heart_failure", p: 0.0001, draws: 9999, cases: 100, controls: 200 };
const related = { ...base, adjusted: { holm: 0.0003, bh: 0.0002 }, contrast: contrast([78, 100], [84, 200]) };

describe("outcomeSentence", () => {
  it("tells shares held out, and that it holds among people seen equally often, where it does", () => {
    expect(outcomeSentence({ ...related, seenEqually: { p: 0.001 } })).toBe(
      "More common in the upper left: 78% there, 42% elsewhere (held out); holds among people seen equally often.",
    );
    expect(outcomeSentence({ ...related, seenEqually: { p: 0.21 } })).toBe(
      "More common in the upper left: 78% there, 42% elsewhere (held out); not shown among people seen equally often (p 0.21), so visits may have made it.",
    );
    expect(outcomeSentence({ ...related, seenEqually: { p: null } })).toMatch(/; the visits alone tell it\.$/);
    // Of files that do not say, nothing is said.
    expect(outcomeSentence(related)).toMatch(/\(held out\)\.$/);
  });

  it("says that values up to a landmark do not show it", () => {
    const landmark = { landmark: 3, p: 0.4 };
    expect(outcomeSentence({ ...related, seenEqually: { p: 0.01 }, landmark }, { timeWord: "year" })).toMatch(
      /; holds among people seen equally often, but not shown from values up to year 3 alone \(p 0\.40\)\.$/,
    );
    expect(outcomeSentence({ ...related, landmark: { ...landmark, p: 0.01 } })).not.toContain("alone");
  });

  it("follows the number: no place where none stands out, or where it turns round held out", () => {
    const nowhere = /^Spread differently over the map, though no single place stands out\.$/;
    expect(outcomeSentence({ ...related, contrast: null })).toMatch(nowhere);
    expect(outcomeSentence({ ...related, contrast: contrast([30, 100], [84, 200]) })).toMatch(nowhere);
    expect(outcomeSentence({ ...related, contrast: contrast([30, 100], [84, 200], -1) })).toMatch(
      /^Rarer in the upper/,
    );
    expect(outcomeSentence({ ...related, p: 0.95, adjusted: { holm: 1, bh: 1 } })).toBe("No relation found (p 1.00).");
    expect(outcomeSentence({ ...related, p: 0.02, adjusted: { holm: 0.18, bh: 0.1 } })).toBe(
      "No relation found after adjustment (p 0.18; 0.020 alone).",
    );
    const none = { holm: Number.NaN, bh: Number.NaN };
    expect(outcomeSentence({ ...related, p: Number.NaN, cases: 3, adjusted: none })).toBe(
      "Not tested: too few with it.",
    );
  });

  it("withholds shares of few where it may be shared", () => {
    const few = { ...related, contrast: contrast([9, 14], [84, 200]) };
    expect(outcomeSentence(few, { smallCell: 11 })).toBe("More common in the upper left (shares of few withheld).");
    expect(outcomeSentence(few)).toMatch(/64% there/);
  });
});

describe("outcomeLines", () => {
  const none = { ...base, outcome: "ulcers", p: 0.4, adjusted: { holm: 1, bh: 0.6 } };
  const alone = { ...base, outcome: "ILD", p: 0.03, adjusted: { holm: 0.09, bh: 0.06 } };
  const rare = { ...base, outcome: "rare", p: Number.NaN, adjusted: { holm: Number.NaN, bh: Number.NaN } };

  it("has a line for what is related and one for all the rest", () => {
    const { related: lines, rest } = outcomeLines([none, related, alone, { ...none, outcome: "stroke" }, rare]);
    expect(lines.map(({ name, p }) => [name, p])).toEqual([["Heart failure", "\u2264\u00a00.0003"]]);
    expect(rest).toBe(
      "No relation found: ulcers, stroke. None after adjustment: ILD (p 0.030 alone). Not tested, too few with or without it: rare.",
    );
    expect(outcomeLines([related]).rest).toBe("");
    const sex = { ...related, outcome: "sex", caseMeans: 'sex is "m"' };
    expect(outcomeLines([sex, { ...sex, outcome: "sex=m" }]).related.map(({ name }) => name)).toEqual([
      "Sex (m)",
      "Sex = m",
    ]);
    expect(outcomeLines([{ ...none, outcome: "ulcers_and_gangrene" }, none]).rest).toBe(
      "No relation found: ulcers and gangrene; ulcers.",
    );
    expect(outcomeLines([{ ...related, p: 0.002, adjusted: { holm: 0.006, bh: 0.004 } }]).related[0].p).toBe("0.006");
  });

  it("says over how many outcomes p is adjusted, and what its words mean only where they are used", () => {
    expect(outcomeNote([none, related, rare])).toContain("adjusted over 2 outcomes (Holm). Held out:");
    expect(outcomeNote([none])).toBe(
      "One test for each outcome: are those with and without it spread differently over the map?",
    );
  });
});

it("placeWords names the parts of the map", () => {
  const words = [[0.1, -0.2], [1, 0.1], [-1, -0.2], [0.2, 1], [0.1, -1], [1, 1], [-1, -1], [-1.2]].map(placeWords);
  expect(words).toEqual([
    ...["in the middle", "on the right", "on the left", "in the upper part", "in the lower part"],
    ...["in the upper right", "in the lower left", "on the left"],
  ]);
});
