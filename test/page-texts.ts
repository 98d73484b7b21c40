/**
 * What a page says, and what of it cannot be true whatever the data: not-a-numbers, shares beyond 0 to 100%, negative
 * counts, intervals whose lower end is above their upper. Shares no code with what writes the texts.
 */
import type { Page } from "playwright-core";

/** Every text of the page as it stands: what is drawn, and what readers of screens and tooltips are told. */
export function pageTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const texts: string[] = [];
    const tidy = (text: string) => text.replace(/\s+/g, " ").trim();
    const add = (text: string | null) => {
      if (text !== null && tidy(text) !== "") texts.push(tidy(text));
    };
    const IN_LINE = new Set(["A", "B", "CODE", "EM", "I", "SMALL", "SPAN", "STRONG", "SUB", "SUP"]);
    const isInLine = (node: Node) => node.nodeType === Node.TEXT_NODE || IN_LINE.has(node.nodeName.toUpperCase());
    // A sentence is read whole, whatever is bold in it.
    const read = (element: Element) => {
      for (const name of ["aria-label", "title", "alt", "placeholder", "aria-valuetext"])
        add(element.getAttribute(name));
      if (element instanceof HTMLElement && !element.checkVisibility() && element.nodeName !== "OPTION") return;
      let line = "";
      for (const child of Array.from(element.childNodes)) {
        if (isInLine(child)) line += child.textContent;
        else {
          add(line);
          line = "";
        }
        if (child instanceof Element && !["SCRIPT", "STYLE"].includes(child.nodeName)) read(child);
      }
      if (!IN_LINE.has(element.nodeName.toUpperCase())) add(line);
    };
    read(document.body);
    return texts;
  });
}

const NUMBER = "[−-]?\\d[\\d,]*(?:\\.\\d+)?";
const COUNTED =
  "(?:individuals?|people|persons?|visits?|observations?|measurements?|values?|rows?|events?|groups?|cases?|passes|members?)";
const number = (text: string) => Number(text.replaceAll(",", "").replace("−", "-"));

/** What cannot be true in a text, in words; empty for most. */
export function impossibilities(text: string): string[] {
  const found: string[] = [];
  const say = (what: string) => found.push(`${what}: "${text.slice(0, 200)}"`);
  if (/\b(?:NaN|undefined|Infinity)\b|(?<!, )\bnull\b(?!,)|\[object |∞/.test(text)) say("no number or word");
  for (const [all, said, after] of text.matchAll(new RegExp(`(\\+?${NUMBER}) ?%((?: an?| per)? \\w+)?`, "g"))) {
    const share = number(said.replace("+", ""));
    // A change in percent may be of any size: "+140% a year".
    const isChange = said.startsWith("+") || /^ (?:an?|per) /.test(after ?? "") || /predicted/.test(after ?? "");
    if (!isChange && (share < 0 || share > 100)) say(`a share of ${all.trim()}`);
    // No share of people or visits is known to a thousandth of a percent.
    if (/\.\d{3,}$/.test(said)) say(`a share of ${all.trim()}, with too many digits`);
  }
  if (new RegExp(`(?:^|[^\\d.])[−-]\\d[\\d,]* ${COUNTED}\\b`).test(text)) say("a negative count");
  const range = `(${NUMBER})%?(?: to |–)(${NUMBER})`;
  const spoken = [
    // "90% 58 to 83", "95% CI −2 to 4", "95% interval 3 to 8", "likely between 2 and 3".
    `\\b\\d\\d% (?:CI |interval |band )?${range}`,
    `\\b[Bb]etween (${NUMBER}) and (${NUMBER})`,
    `(${NUMBER})–(${NUMBER})%`,
    `\\(${range}\\)`,
  ];
  for (const pattern of spoken) {
    for (const [all, lower, upper] of text.matchAll(new RegExp(pattern, "g"))) {
      if (number(lower) > number(upper)) say(`an interval of ${all}`);
    }
  }
  for (const [, part, whole] of text.matchAll(
    /(?<![\d.,−-])(\d[\d,]*) of (\d[\d,]*) (?:individuals|people|rows|visits)/g,
  )) {
    if (number(part) > number(whole)) say(`${part} of ${whole}`);
  }
  for (const [, p] of text.matchAll(/\bp (?:= )?([−-]?\d+(?:\.\d+)?)/g)) {
    if (number(p) < 0 || number(p) > 1) say(`a p of ${p}`);
  }
  return found;
}
