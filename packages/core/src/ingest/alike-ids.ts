/** Ids of one table that differ only in how they are written: probably the same individual, told twice. They are told, and kept apart. */
import { showReceived } from "../errors.ts";
import { howMany, type Words } from "./complaints.ts";

/** Pairs written out at most. */
const SHOWN = 3;

/** Ids that equal another one but for how they are written: how many, and some of them behind the other one. */
export interface AlikeIds {
  readonly count: number;
  readonly pairs: readonly (readonly [first: string, again: string])[];
}

/** Distinct ids that are another one as it may be written otherwise; one pass where there are none. */
export function alikeIds(ids: readonly string[]): AlikeIds {
  const plain = new Set<string>();
  for (const id of ids) plain.add(plainId(id));
  const count = ids.length - plain.size;
  if (count === 0) return { count, pairs: [] };
  const firsts = new Map<string, string>();
  const pairs: [string, string][] = [];
  for (const id of ids) {
    const own = plainId(id);
    const first = firsts.get(own);
    if (first === undefined) firsts.set(own, id);
    else if (pairs.push([first, id]) === SHOWN) break;
  }
  return { count, pairs };
}

/** What is said of them. */
export function alikeWords({ count, pairs }: AlikeIds): Words {
  const listed = pairs.map((pair) => shownPair(pair).join(" and ")).join(", ");
  return [
    "ids written one way",
    `${howMany(count, "id")} like another but for case, zeros in front, a .0 behind or signs that are not seen, such as ${listed}`,
    "Each is taken as an individual of its own: write them alike if they are the same.",
  ];
}

/** Marks that take no room: zero-width spaces and joiners, marks of direction, soft hyphens, byte-order marks. */
const UNSEEN = /[\u00ad\u200b-\u200f\u2060\ufeff]/g;

const withoutUnseen = (id: string) => id.normalize("NFKC").replace(UNSEEN, "").trim();

/** Letters, then a number without zeros in front: all that may be written otherwise is the case. */
const USUAL = /^[a-z]*[1-9][\w-]*$/i;

/** An id without what may be written one way or another. */
function plainId(id: string): string {
  if (USUAL.test(id)) return id.toLowerCase();
  const seen = /^[\x21-\x7e]*$/.test(id) ? id : withoutUnseen(id);
  return seen
    .toLowerCase()
    .replace(/^(\p{L}*)0+(?=\d)/u, "$1")
    .replace(/^(\d+)\.0+$/, "$1");
}

/** Two ids in quotes; where they look the same, other letters than ASCII by their numbers. */
function shownPair(pair: readonly [string, string]): string[] {
  const [first, again] = pair.map(withoutUnseen);
  return pair.map((id) => `"${showReceived(first === again ? escaped(id) : id)}"`);
}

function escaped(id: string): string {
  return id.replace(/[^\x20-\x7e]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
