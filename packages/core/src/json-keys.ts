/**
 * Keys that JSON.parse lets pass and that no honest text has: the same key twice in an object (the last one wins in
 * silence), and `__proto__`. A key written twice stands only once in what was parsed: where a text has no more quotes before colons than
 * there are keys, nothing was lost, and it is not looked through.
 */

/** What is wrong with the keys of a JSON text. */
export interface KeyFault {
  readonly key: string;
  /** What was received, in words. */
  readonly received: string;
  /** Number of the outermost object it is in, from 1: of an array of objects its row. */
  readonly object: number;
}

/** What is wrong with the keys of a valid JSON text that was parsed; undefined if nothing is. */
export function faultOfKeys(text: string, parsed: unknown): KeyFault | undefined {
  const isSuspect = text.includes("__proto__") || text.includes("\\u") || numColons(text) > numKeys(parsed);
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

function numKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    // Long lists of numbers hold no keys.
    for (const entry of value) if (typeof entry === "object") count += numKeys(entry);
    return count;
  }
  for (const key in value) {
    count++;
    const entry = (value as Record<string, unknown>)[key];
    if (typeof entry === "object") count += numKeys(entry);
  }
  return count;
}

/** The first fault, object by object. In valid JSON a string before a colon is a key, and a quote outside a string begins one. */
function searchFault(text: string): KeyFault | undefined {
  const open: Set<string>[] = [];
  let object = 0;
  for (const [token, literal, colon] of text.matchAll(/("(?:[^"\\]|\\.)*")\s*(:?)|[{}]/g)) {
    if (token === "{") {
      if (open.length === 0) object++;
      open.push(new Set());
    } else if (token === "}") open.pop();
    else if (colon === ":") {
      const key = JSON.parse(literal) as string;
      const keys = open.at(-1)!;
      if (key === "__proto__") return { key, received: key, object };
      if (keys.has(key)) return { key, received: `${JSON.stringify(key)} twice`, object };
      keys.add(key);
    }
  }
  return undefined;
}
