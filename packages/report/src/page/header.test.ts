import { describe, expect, it } from "vitest";
import { factColumns } from "./header.ts";

describe("factColumns", () => {
  it("leaves no fact alone in a row", () => {
    expect([1, 4, 5, 6, 7, 8, 9, 13].map(factColumns)).toEqual([1, 4, 5, 6, 4, 4, 5, 5]);
  });
});
