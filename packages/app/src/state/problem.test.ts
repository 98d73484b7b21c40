import { DtmError } from "@trajectory-maps/core";
import { describe, expect, it } from "vitest";
import { problemOf } from "./problem.ts";

describe("problemOf", () => {
  it("shows the words of the product, and keeps what only its makers can read for the details", () => {
    const said = "https://svelte.dev/e/each_key_duplicate";
    for (const error of [new Error(said), new DtmError("internal", said)]) {
      const problem = problemOf(error);
      expect(problem.message).toMatch(/^The program failed in a way nobody foresaw\./);
      expect(problem.message).not.toContain("http");
      expect(problem).toMatchObject({ code: "internal", internal: said });
    }
  });

  it("shows a foreseen error as it is", () => {
    expect(problemOf(new DtmError("shape", "Expected this, received that."))).toEqual({
      code: "shape",
      message: "Expected this, received that.",
      complaints: [],
    });
  });
});
