/** Resources as exports really write them: what has not the shape that FHIR gives it is dropped, and then counted as missing by those who look for it. */

/** Elements that are lists of objects, wherever they stand. */
const LISTS = new Set(["coding", "component", "contained", "hasMember", "entry", "modifierExtension"]);

/** Elements that are texts; numbers, as in an id of 17, are taken for them. */
const TEXTS = new Set([
  ...["id", "status", "gender", "system", "reference", "fullUrl", "versionId", "lastUpdated", "unit", "comparator"],
  ...["effectiveDateTime", "effectiveInstant", "start", "end", "birthDate", "deceasedDateTime"],
  ...["onsetDateTime", "recordedDate", "valueString"],
]);

/** A JSON value without null and without elements of another shape than theirs; itself if there are none. */
export function shaped(value: unknown): unknown {
  if (Array.isArray(value)) {
    const parts = value.filter((part) => part !== null).map(shaped);
    return parts.length === value.length && parts.every((part, k) => part === value[k]) ? value : parts;
  }
  if (typeof value !== "object" || value === null) return value;
  const kept: [string, unknown][] = [];
  let isSame = true;
  for (const [key, given] of Object.entries(value)) {
    const part = shapedElement(key, given);
    if (part !== undefined) kept.push([key, part]);
    isSame &&= part === given;
  }
  return isSame ? value : Object.fromEntries(kept);
}

function shapedElement(key: string, given: unknown): unknown {
  if (given === null) return undefined;
  if (TEXTS.has(key)) return typeof given === "string" ? given : typeof given === "number" ? String(given) : undefined;
  if (!LISTS.has(key)) return shaped(given);
  return Array.isArray(given) ? shaped(given.every(isObject) ? given : given.filter(isObject)) : undefined;
}

const isObject = (part: unknown) => typeof part === "object" && part !== null && !Array.isArray(part);
