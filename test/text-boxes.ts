/** Texts of a page that lie on each other or are cut off, and how far down the sheets of a printed page are filled. */
import { inflateSync } from "node:zlib";
import type { Page } from "playwright-core";

/**
 * Pairs of texts, in drawings and in the page, whose boxes meet; empty for a page that can be read. Text counts as far as it
 * is seen: not what is scrolled away, and not what lies under a menu, a sheet or a card.
 */
export function textClashes(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    interface TextBox {
      readonly text: string;
      readonly box: DOMRect;
      readonly owner: Node;
      readonly element: Element;
    }
    const isHidden = (element: Element) =>
      element.closest(".hide, .skip, option") !== null || !element.checkVisibility({ visibilityProperty: true });
    const boxes: TextBox[] = [];
    /** A box as far as everything around it lets it be seen. */
    const seen = (box: DOMRect, element: Element) => {
      let [left, top, right, bottom] = [box.left, box.top, box.right, box.bottom];
      for (let around: Element | null = element; around !== null; around = around.parentElement) {
        const style = getComputedStyle(around);
        if (around === document.body || style.overflow === "visible" || style.display.startsWith("inline")) continue;
        if (around instanceof SVGElement && !(around instanceof SVGSVGElement)) continue;
        const frame = around.getBoundingClientRect();
        [left, top] = [Math.max(left, frame.left), Math.max(top, frame.top)];
        [right, bottom] = [Math.min(right, frame.right), Math.min(bottom, frame.bottom)];
        if (style.position === "fixed") break;
      }
      return new DOMRect(left, top, Math.max(0, right - left), Math.max(0, bottom - top));
    };
    // A dialog that must be answered lies over everything else.
    const dialog = document.querySelector("dialog:modal");
    const add = (text: string, box: DOMRect, owner: Node, element: Element) => {
      if (dialog?.contains(element) ?? true) boxes.push({ text, box: seen(box, element), owner, element });
    };
    for (const owner of Array.from(document.querySelectorAll("svg text"))) {
      if (!isHidden(owner)) add(owner.textContent ?? "", owner.getBoundingClientRect(), owner, owner);
    }
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let owner = walker.nextNode(); owner !== null; owner = walker.nextNode()) {
      const parent = owner.parentElement;
      const text = owner.nodeValue?.trim() ?? "";
      if (text === "" || parent === null || parent.closest("svg") !== null || isHidden(parent)) continue;
      const range = document.createRange();
      range.selectNodeContents(owner);
      for (const box of Array.from(range.getClientRects())) add(text, box, owner, parent);
    }
    // Everything answers, so that what lies between two texts can be asked for.
    const rule = document.createElement("style");
    rule.textContent = "* { pointer-events: auto !important; }";
    document.head.append(rule);
    const isOpaque = (element: Element) => {
      const { backgroundColor, fill } = getComputedStyle(element);
      const isSolid = (colour: string) => /^(?:rgb\(|oklch|color)/.test(colour) && !/ \/ /.test(colour);
      if (element instanceof SVGElement) return ["rect", "path"].includes(element.nodeName) && isSolid(fill);
      return isSolid(backgroundColor);
    };
    /** Whether something between them hides the one below where they meet. */
    const isCovered = (a: Element, b: Element, x: number, y: number) => {
      const stack = document.elementsFromPoint(x, y);
      const places = [a, b].map((one) => stack.findIndex((element) => element === one || one.contains(element)));
      if (places.includes(-1)) return false;
      const [upper, lower] = places[0] < places[1] ? [a, b] : [b, a];
      return stack
        .slice(0, Math.max(...places))
        .some(
          (element) => isOpaque(element) && !element.contains(lower) && (element.contains(upper) || element !== upper),
        );
    };
    const drawn = boxes.filter(({ box }) => box.width > 1 && box.height > 1).sort((a, b) => a.box.top - b.box.top);
    const found: string[] = [];
    drawn.forEach((a, k) => {
      for (let j = k + 1; j < drawn.length && drawn[j].box.top < a.box.bottom; j++) {
        const b = drawn[j];
        const left = Math.max(a.box.left, b.box.left);
        const across = Math.min(a.box.right, b.box.right) - left;
        const down = Math.min(a.box.bottom, b.box.bottom) - b.box.top;
        // Boxes of lines of text are higher than their letters.
        const isOver = across > 1 && down > 0.35 * Math.min(a.box.height, b.box.height);
        if (a.owner === b.owner || !isOver) continue;
        if (isCovered(a.element, b.element, left + across / 2, b.box.top + down / 2)) continue;
        found.push(`"${a.text.slice(0, 50)}" and "${b.text.slice(0, 50)}"`);
      }
    });
    rule.remove();
    return found;
  });
}

/** Texts that are cut off with nothing that tells them whole: at the border of a drawing, or by an ellipsis without a title. */
export function cutTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    for (const text of Array.from(document.querySelectorAll("svg text"))) {
      const svg = (text as SVGTextElement).ownerSVGElement;
      if (svg === null || !text.checkVisibility({ visibilityProperty: true })) continue;
      if (getComputedStyle(svg).overflow === "visible") continue;
      const [box, frame] = [text.getBoundingClientRect(), svg.getBoundingClientRect()];
      if (box.width === 0 || frame.width === 0) continue;
      const over = Math.max(frame.left - box.left, box.right - frame.right);
      if (over > 1.5) found.push(`in a drawing, ${Math.round(over)} px of "${text.textContent}"`);
    }
    for (const element of Array.from(document.querySelectorAll<HTMLElement>("body *"))) {
      const { textOverflow, overflowX } = getComputedStyle(element);
      if (element.closest("svg, .hide") !== null || !element.checkVisibility()) continue;
      if (element instanceof HTMLSelectElement || element instanceof HTMLInputElement) continue;
      if (overflowX !== "hidden" && textOverflow !== "ellipsis") continue;
      if (element.clientWidth < 2 || element.scrollWidth <= element.clientWidth + 1) continue;
      if ((element.textContent ?? "").trim() === "" || element.closest("[title]") !== null) continue;
      found.push(`by ${element.scrollWidth - element.clientWidth} px "${element.textContent!.trim().slice(0, 80)}"`);
    }
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
