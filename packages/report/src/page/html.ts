/** HTML from templates in which every value is escaped unless it is markup already. */
import { escapeText } from "../figures/svg.ts";

/** A piece of finished markup. */
export interface Markup {
  readonly markup: string;
}

type Value = Markup | string | number | undefined | false | readonly Value[];

/** Markup with its values escaped; lists are joined, undefined and false vanish. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Markup {
  let markup = parts[0];
  values.forEach((value, k) => {
    markup += write(value) + parts[k + 1];
  });
  return { markup };
}

/** Text that is markup already, from this package's own code. */
export function raw(markup: string): Markup {
  return { markup };
}

/** A power of ten as `significant` writes it; few fonts have all raised figures, so the page raises plain ones. */
const POWER = /(× 10)([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)/g;
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

function raised(_: string, base: string, power: string): string {
  return `${base}<sup>${[...power].map((c) => (c === "⁻" ? "−" : RAISED.indexOf(c))).join("")}</sup>`;
}

function write(value: Value): string {
  if (value === undefined || value === false) return "";
  if (typeof value === "string") return escapeText(value).replace(POWER, raised);
  if (typeof value === "number") return String(value);
  return "markup" in value ? value.markup : value.map(write).join("");
}
