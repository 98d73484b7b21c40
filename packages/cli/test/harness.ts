/** Runs the program in this process, and makes files for it in a folder of its own. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { simulateCohort } from "@trajectory-maps/core";
import { onlyMarker } from "@trajectory-maps/core/ingest";
import { vi } from "vitest";
import { main } from "../src/main.ts";

export interface Finished {
  readonly code: number;
  readonly out: string;
  readonly talk: string;
}

/** What the program wrote, and its exit code. */
export async function run(...argv: string[]): Promise<Finished> {
  let out = "";
  let talk = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    out += String(text);
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    talk += String(text);
    return true;
  });
  vi.spyOn(console, "log").mockImplementation((text) => {
    out += `${String(text)}\n`;
  });
  try {
    const code = await main(argv, (text) => process.stdout.write(text));
    return { code, out, talk };
  } finally {
    vi.restoreAllMocks();
  }
}

export interface Workplace {
  /** A path in the folder. */
  readonly at: (...parts: string[]) => string;
  /** Writes a file and gives its path. */
  readonly file: (name: string, text: string | Uint8Array) => string;
  readonly text: (...parts: string[]) => string;
  readonly clear: () => void;
}

export function workplace(): Workplace {
  const folder = mkdtempSync(join(tmpdir(), "dtm-"));
  const at = (...parts: string[]) => join(folder, ...parts);
  return {
    at,
    file: (name, text) => {
      writeFileSync(at(name), text);
      return at(name);
    },
    text: (...parts) => readFileSync(at(...parts), "utf8"),
    clear: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Visits and individuals of a small simulated registry, as CSV; `noise` is an outcome that means nothing. */
export function smallCohort(numIndividuals: number, seed = 3): { visits: string; subjects: string } {
  const { cohort, groups } = simulateCohort("pfvc", { numIndividuals, seed });
  const visits = ["patient,years,fvc"];
  const subjects = ["id,severe,noise,months,died,ward"];
  cohort.ids.forEach((id, i) => {
    for (let j = onlyMarker(cohort).offsets[i] ?? 0; j < (onlyMarker(cohort).offsets[i + 1] ?? 0); j++) {
      visits.push(`${id},${onlyMarker(cohort).times[j]},${onlyMarker(cohort).values[j]}`);
    }
    const severe = (groups[i] ?? 0) >= 2 ? 1 : 0;
    subjects.push(`${id},${severe},${i % 2},${11 + (i % 7)},${severe === 1 && i % 3 > 0 ? 1 : 0},${i % 3}`);
  });
  return { visits: `${visits.join("\n")}\n`, subjects: `${subjects.join("\n")}\n` };
}
