import { describe, expect, it } from "vitest";
import { cite, numbered } from "./references.ts";

describe("numbered", () => {
  it("numbers references as they appear, the same one alike, and lists only those cited", () => {
    const { texts, references } = numbered([
      `Trees${cite("ward")} and tests${cite("holm", "bh")}.`,
      `Again trees${cite("ward")}, and Cox${cite("cox")}.`,
    ]);
    expect(texts).toEqual(["Trees [1] and tests [2, 3].", "Again trees [1], and Cox [4]."]);
    expect(references.map((text) => text.split(" ")[0])).toEqual(["Ward", "Holm", "Benjamini", "Cox"]);
  });

  it("leaves names from data as they are", () => {
    expect(numbered(["\uE000toString\uE001 [1]"])).toEqual({ texts: ["\uE000toString\uE001 [1]"], references: [] });
  });
});
