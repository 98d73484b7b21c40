/** The spline basis that options ask for, and options that were given. */
import type { BasisOptions } from "@trajectory-maps/core/models";
import { inGroup, type Options, textOption } from "./command.ts";
import { realNumber, wholeNumber } from "./numbers.ts";

export const BASIS_OPTIONS = inGroup("Model", [
  { flags: "--basis <number>", description: "spline basis functions (default: 5)" },
  { flags: "--degree <number>", description: "degree of the splines, 1 to 3 (default: 2)" },
  { flags: "--knots <list>", description: "interior knots of the splines, with commas (default: at percentiles)" },
]);

/** The spline basis as far as options name it. */
export function basisOf(options: Options): BasisOptions {
  return {
    ...given(options, "basis", (name, text) => wholeNumber(name, text, 2), "numBasis"),
    ...given(options, "degree", (name, text) => wholeNumber(name, text, 1)),
    ...given(options, "knots", (name, text) => text.split(",").map((part) => realNumber(name, part))),
  };
}

/** An option that was given, read from its text, under its own name or another; nothing if it was not. */
export function given<T>(
  options: Options,
  option: string,
  read: (name: string, text: string) => T,
  name = option,
): { readonly [name: string]: T } {
  const text = textOption(options, option);
  return text === undefined ? {} : { [name]: read(`--${option}`, text) };
}
