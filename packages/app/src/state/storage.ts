/**
 * What the browser keeps between visits, only if the user agreed: the cohort, the outcomes, the fit as it stands and the
 * study. One record in IndexedDB of this page's origin; "forget everything" deletes the database. A page opened from disk
 * may have no storage: then nothing is kept, and the page says so. Of several tabs the last that took the study up keeps
 * it: the others must neither write over it nor bring back what was forgotten.
 */
import { DtmError } from "@trajectory-maps/core";
import type { DtmRunSnapshot } from "@trajectory-maps/core/models";
import { type DBSchema, deleteDB, openDB } from "idb";
import type { FitChoice, Fitted, GroupChoice, Loaded, LoadedSubjects } from "../worker/api.ts";

const NAME = "trajectory-maps";
/** The form of what is kept; of another form nothing is taken up. */
export const VERSION = 5;

export interface Kept {
  readonly version: typeof VERSION;
  readonly loaded: Loaded;
  readonly subjects: LoadedSubjects | null;
  readonly outcomes: readonly string[];
  readonly fitted: Fitted | null;
  /** A fit that was under way, with the bounds seen so far. */
  readonly running: {
    readonly choice: FitChoice;
    readonly snapshot: DtmRunSnapshot;
    readonly trace: readonly number[];
  } | null;
  readonly names: { readonly [letter: string]: string };
  /** How the groups were made that the names belong to; studies kept by earlier pages have none. */
  readonly groups?: GroupChoice;
  readonly saved: readonly { readonly name: string; readonly members: readonly number[]; readonly how: string }[];
}

interface Schema extends DBSchema {
  study: { key: "last"; value: Kept };
  /** The tab that keeps the study. */
  owner: { key: "tab"; value: string };
}

/** This tab, told from others that show the same page. */
const TAB = `${Date.now()} ${Math.random()}`;

function open() {
  return openDB<Schema>(NAME, 2, {
    upgrade: (db, before) => {
      if (before < 1) db.createObjectStore("study");
      db.createObjectStore("owner");
    },
  });
}

/** Whether this browser lets the page keep anything. */
export async function canKeep(): Promise<boolean> {
  try {
    (await open()).close();
    return true;
  } catch {
    return false;
  }
}

/** Makes this tab the one that keeps the study. */
export async function claim(): Promise<void> {
  const db = await open();
  await db.put("owner", TAB, "tab");
  db.close();
}

/** Keeps the study; refuses with the code "kept-elsewhere" once another tab keeps its own or has forgotten everything. */
export async function keep(kept: Kept): Promise<void> {
  const db = await open();
  try {
    const work = db.transaction(["study", "owner"], "readwrite");
    if ((await work.objectStore("owner").get("tab")) !== TAB) {
      throw new DtmError(
        "kept-elsewhere",
        "Another tab keeps a study in this browser now, or has forgotten everything. What is done in this tab is no longer kept; export what you need.",
      );
    }
    await work.objectStore("study").put(kept, "last");
    await work.done;
  } finally {
    db.close();
  }
}

/** What was kept, or null. */
export async function recall(): Promise<Kept | null> {
  try {
    const db = await open();
    const kept = await db.get("study", "last");
    db.close();
    return kept?.version === VERSION ? kept : null;
  } catch {
    return null;
  }
}

export async function forget(): Promise<void> {
  try {
    await deleteDB(NAME);
  } catch {
    // Without storage there is nothing to forget.
  }
}
