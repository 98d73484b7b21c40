/**
 * What JSON.parse lets pass and no honest text has: the same key twice in an object (the last one wins in silence), `__proto__`, and
 * nesting so deep that whoever walks through it runs out of stack. A key written twice stands only once in what was parsed: where a text
 * has no more quotes before colons than there are keys, nothing was lost, and it is not looked through.
 */

import { showReceived } from "./errors.ts";

/** What is wrong with a JSON text, in words for a refusal. */
export interface KeyFault {
  /** The key that is at fault; undefined if the nesting is. */
  readonly key?: string;
  readonly expected: string;
  readonly received: string;
  /** Number of the outermost object it is in, from 1: of an array of objects its row. */
  readonly object: number;
}

/** Lists and objects within each other; tables, models and resources need some ten. */
const DEEPEST = 200;

/** What is wrong with the keys or the depth of a valid JSON text that was parsed; undefined if nothing is. */
export function faultOfKeys(text: string, parsed: unknown): KeyFault | undefined {
  const count = numKeys(parsed);
  const isSuspect =
    count === undefined || text.includes("__proto__") || text.includes("\\u") || numColons(text) > count;
  return isSuspect ? searchFault(text) : undefined;
}

/** Colons behind a quote: as many as there are keys, and those within texts. */
function numColons(text: string): number {
  let count = 0;
  for (let at = text.indexOf(":"); at >= 0; at = text.indexOf(":", at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) <= 0x20) before--;
    if (text.charCodeAt(before) === 0x22) count++;
  }
  return count;
}

/** Keys of all objects, level by level; undefined for what is nested too deep. */
function numKeys(parsed: unknown): number | undefined {
  let count = 0;
  let level = isNested(parsed) ? [parsed] : [];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === DEEPEST) return undefined;
    const next: object[] = [];
    for (const value of level) {
      if (Array.isArray(value)) {
        // Long lists of numbers hold no keys.
        for (const entry of value) if (isNested(entry)) next.push(entry);
        continue;
      }
      for (const key in value) {
        count++;
        const entry = (value as Record<string, unknown>)[key];
        if (isNested(entry)) next.push(entry);
      }
    }
    level = next;
  }
  return count;
}

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null;

/** The first fault, object by object. In valid JSON a string before a colon is a key, and a quote outside a string begins one. */
function searchFault(text: string): KeyFault | undefined {
  /** The keys of each object that is open; undefined for a list. */
  const open: (Set<string> | undefined)[] = [];
  let [object, numOpen] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === OPEN_OBJECT || code === OPEN_LIST) {
      if (code === OPEN_OBJECT && numOpen++ === 0) object++;
      open.push(code === OPEN_OBJECT ? new Set() : undefined);
      if (open.length > DEEPEST) return tooDeep(at, object);
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      if (open.pop() !== undefined) numOpen--;
    } else if (code === QUOTE) {
      const start = at;
      at = endOfString(text, start);
      if (!isBeforeColon(text, at)) continue;
      const key = JSON.parse(text.slice(start, at + 1)) as string;
      const keys = open.at(-1)!;
      if (key === "__proto__") return { key, expected: KEYS, received: key, object };
      if (keys.has(key)) return { key, expected: KEYS, received: `"${showReceived(key)}" twice`, object };
      keys.add(key);
    }
  }
  return undefined;
}

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];
const KEYS = "every key once in an object, and none called __proto__";

function tooDeep(at: number, object: number): KeyFault {
  const expected = `lists and objects at most ${DEEPEST} deep in each other`;
  return { expected, received: `JSON nested more than ${DEEPEST} deep at character ${at + 1}`, object };
}

/** Where the string that begins at a quote ends. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

function isBeforeColon(text: string, end: number): boolean {
  let at = end + 1;
  while (text.charCodeAt(at) <= 0x20) at++;
  return text.charCodeAt(at) === COLON;
}
