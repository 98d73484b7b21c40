/** Texts of a page that lie on each other, and how far down the sheets of a printed page are filled. */
import { inflateSync } from "node:zlib";
import type { Page } from "playwright-core";

/** Pairs of texts, in drawings and in the page, whose boxes meet; empty for a page that can be read. */
export function textClashes(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    interface TextBox {
      readonly text: string;
      readonly box: DOMRect;
      readonly owner: Node;
    }
    const isHidden = (element: Element) => element.closest(".hide, .skip") !== null || !element.checkVisibility();
    const boxes: TextBox[] = [];
    for (const owner of Array.from(document.querySelectorAll("svg text"))) {
      if (!isHidden(owner)) boxes.push({ text: owner.textContent ?? "", box: owner.getBoundingClientRect(), owner });
    }
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let owner = walker.nextNode(); owner !== null; owner = walker.nextNode()) {
      const parent = owner.parentElement;
      const text = owner.nodeValue?.trim() ?? "";
      if (text === "" || parent === null || parent.closest("svg") !== null || isHidden(parent)) continue;
      const range = document.createRange();
      range.selectNodeContents(owner);
      for (const box of Array.from(range.getClientRects())) boxes.push({ text, box, owner });
    }
    const drawn = boxes.filter(({ box }) => box.width > 0).sort((a, b) => a.box.top - b.box.top);
    const found: string[] = [];
    drawn.forEach((a, k) => {
      for (let j = k + 1; j < drawn.length && drawn[j].box.top < a.box.bottom; j++) {
        const b = drawn[j];
        const across = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
        const down = Math.min(a.box.bottom, b.box.bottom) - b.box.top;
        // Boxes of lines of text are higher than their letters.
        const isOver = across > 1 && down > 0.35 * Math.min(a.box.height, b.box.height);
        if (a.owner !== b.owner && isOver) found.push(`"${a.text.slice(0, 50)}" and "${b.text.slice(0, 50)}"`);
      }
    });
    return found;
  });
}

/** How far down each sheet of a PDF by Chromium its last text stands, as a share of the height of the sheet, in their order. */
export function filledSheets(pdf: Buffer): number[] {
  const text = pdf.toString("latin1");
  const objects = new Map<string, { readonly head: string; readonly from: number }>();
  for (const match of text.matchAll(/(?:^|\n)(\d+) 0 obj\s([\s\S]*?)(?:endobj|stream\r?\n)/g)) {
    objects.set(match[1], { head: match[2], from: match.index + match[0].length });
  }
  const sheets = [...objects.values()].filter(({ head }) => /\/Type \/Page\b(?!s)/.test(head));
  const order = Array.from(
    text.matchAll(/\/Kids \[([^\]]*)\]/g),
    ([, kids]) => kids.match(/\d+(?= 0 R)/g) ?? [],
  ).flat();
  const listed = order.flatMap((id) => sheets.filter((sheet) => sheet === objects.get(id)));
  return listed.map(({ head }) => {
    const height = Number(/\/MediaBox \[\S+ \S+ \S+ (\S+?)\]/.exec(head)?.[1]);
    const contents = objects.get(/\/Contents (\d+) 0 R/.exec(head)?.[1] ?? "");
    if (contents === undefined || !(height > 0)) throw new Error("filledSheets: expected sheets with contents.");
    const length = Number(/\/Length (\d+)/.exec(contents.head)?.[1]);
    const stream = inflateSync(pdf.subarray(contents.from, contents.from + length)).toString("latin1");
    return 1 - lowestText(stream) / height;
  });
}

/** The lowest y at which text is set: products of the matrices in force, [a b c d e f] each. */
function lowestText(stream: string): number {
  type Matrix = readonly number[];
  const times = ([a, b, c, d, e, f]: Matrix, [A, B, C, D, E, F]: Matrix): Matrix => [
    a * A + b * C,
    a * B + b * D,
    c * A + d * C,
    c * B + d * D,
    e * A + f * C + E,
    e * B + f * D + F,
  ];
  const stack: Matrix[] = [];
  let now: Matrix = [1, 0, 0, 1, 0, 0];
  let lowest = Number.POSITIVE_INFINITY;
  for (const [, numbers, operator] of stream.matchAll(/((?:-?[\d.]+\s+)*)\b(q|Q|cm|Tm)\b/g)) {
    const own = numbers.trim().split(/\s+/).map(Number).slice(-6);
    if (operator === "q") stack.push(now);
    else if (operator === "Q") now = stack.pop() ?? now;
    else if (operator === "cm") now = times(own, now);
    else lowest = Math.min(lowest, times(own, now)[5]);
  }
  return lowest;
}
