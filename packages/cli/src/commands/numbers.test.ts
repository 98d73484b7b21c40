import { expect, it } from "vitest";
import { wholeNumber } from "./numbers.ts";

it("wholeNumber names the range that it expects", () => {
  expect(wholeNumber("--port", "65535", 0, 65535)).toBe(65535);
  expect(() => wholeNumber("--port", "65536", 0, 65535)).toThrow(/--port: expected a whole number from 0 to 65535/);
  expect(() => wholeNumber("--restarts", "-1", 0)).toThrow(/a whole number of at least 0, received "-1"/);
});
