/**
 * Keys that JSON.parse lets pass and that no honest file has: the same key twice in an object (the last one wins in
 * silence), and `__proto__`. A key written twice stands only once in what was parsed, so counting both tells it.
 */

/** What is wrong with the keys of a valid JSON text, in words; undefined if nothing is. */
export function faultOfKeys(text: string, parsed: unknown): string | undefined {
  const counts = new Map<string, number>();
  const add = (key: string, by: number) => counts.set(key, (counts.get(key) ?? 0) + by);
  // In valid JSON a string followed by a colon is a key, and a quote outside a string begins one.
  for (const [, literal, colon] of text.matchAll(/("(?:[^"\\]|\\.)*")\s*(:?)/g)) {
    if (colon === ":") add(JSON.parse(literal) as string, 1);
  }
  if (counts.has("__proto__")) return "__proto__";
  const waiting: unknown[] = [parsed];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== "object" || value === null) continue;
    if (Array.isArray(value)) {
      // Long lists of numbers hold no keys.
      for (const entry of value) if (typeof entry === "object" && entry !== null) waiting.push(entry);
    } else {
      for (const [key, entry] of Object.entries(value)) {
        add(key, -1);
        waiting.push(entry);
      }
    }
  }
  for (const [key, count] of counts) if (count > 0) return `${JSON.stringify(key)} twice`;
  return undefined;
}
