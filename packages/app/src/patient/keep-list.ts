/** The list of patients in the storage of the browser, where the reader asked for that. Nothing is kept before. */
import type { Patient } from "./patients.svelte.ts";

interface KeptList {
  /** Whether a list is kept. */
  has(): boolean;
  load(): readonly Omit<Patient, "key">[];
  /** False where the browser has no room, and what was kept before is forgotten: half a list would mislead. */
  save(list: readonly Patient[]): boolean;
  forget(): void;
}

/** The list that belongs to a model; null where the browser keeps nothing for this page. */
export function keptList(key: string): KeptList | null {
  const name = `dtm-patients ${key}`;
  try {
    localStorage.getItem(name);
  } catch {
    return null;
  }
  return {
    has: () => localStorage.getItem(name) !== null,
    load: () => {
      try {
        const read: unknown = JSON.parse(localStorage.getItem(name) ?? "[]");
        return Array.isArray(read) ? read.filter(isPatient) : [];
      } catch {
        return [];
      }
    },
    save: (list) => {
      try {
        localStorage.setItem(name, JSON.stringify(list));
        return true;
      } catch {
        localStorage.removeItem(name);
        return false;
      }
    },
    forget: () => localStorage.removeItem(name),
  };
}

/** Others than this page may have written there. */
function isPatient(value: unknown): value is Patient {
  const { name, start, rows, covariates, thresholds } = (value ?? {}) as Partial<Record<keyof Patient, unknown>>;
  const isRow = (row: Partial<Patient["rows"][number]>) =>
    typeof row?.time === "string" && Array.isArray(row.values) && Array.isArray(row.kept);
  return (
    typeof name === "string" &&
    typeof start === "string" &&
    Array.isArray(rows) &&
    rows.every(isRow) &&
    typeof covariates === "object" &&
    Array.isArray(thresholds)
  );
}
