/** Every bad table of bad-tables.ts through library, command line and explorer: one verdict, one code, one sentence. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createSession } from "../packages/app/src/worker/session.ts";
import { run, workplace } from "../packages/cli/test/harness.ts";
import { onlyMarker, readCohortFile } from "../packages/core/src/doors/ingest.ts";
import { type Cohort, type Complaint, DtmError } from "../packages/core/src/index.ts";
import { BAD_TABLES, type BadTable, GOOD_ROWS, type Verdict } from "./bad-tables.ts";

const here = workplace();
afterAll(here.clear);
const NAME = "visits.csv";
const bytesOf = ({ table }: BadTable) => (typeof table === "string" ? new TextEncoder().encode(table) : table);

/** What a door answered, as all of them can say it. */
interface Answer {
  readonly refused?: { readonly code: string; readonly message: string; readonly complaints: readonly Complaint[] };
  readonly warnings?: readonly Complaint[];
  readonly notes?: readonly string[];
  readonly rows?: readonly string[];
}

function rowsOf(cohort: Cohort): string[] {
  const { offsets, times, values, censored } = onlyMarker(cohort);
  const rows = cohort.ids.flatMap((id, i) =>
    Array.from(times.subarray(offsets[i], offsets[i + 1]), (time, k) => {
      const at = (offsets[i] ?? 0) + k;
      const side = censored?.[at] ?? 0;
      return `${id} ${time} ${side < 0 ? "<" : side > 0 ? ">" : ""}${values[at]}`;
    }),
  );
  return rows.sort();
}

async function answer(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof DtmError)) throw error;
    return { refused: { code: error.code, message: error.message, complaints: error.complaints } };
  }
}

const library = (given: BadTable) =>
  answer(async () => {
    const { cohort, warnings, notes } = await readCohortFile([bytesOf(given)], { ...given.options, file: NAME });
    return { warnings, notes, rows: rowsOf(cohort) };
  });

const explorer = (given: BadTable) =>
  answer(async () => {
    const session = createSession();
    await session.preview(new Blob([bytesOf(given) as Uint8Array<ArrayBuffer>]), NAME);
    const { cohort, warnings, notes } = await session.read({ ...given.options });
    return { warnings, notes, rows: rowsOf(cohort) };
  });

function expectVerdict({ refused, warnings, notes, rows }: Answer, verdict: Verdict): void {
  if (verdict.refuse !== undefined) {
    expect([refused?.code, rows]).toEqual([verdict.refuse, undefined]);
    for (const words of verdict.says ?? []) expect(refused?.message).toContain(words);
    const [first] = refused?.complaints ?? [];
    if (verdict.line !== undefined) expect(first?.where).toMatchObject({ line: verdict.line });
    if (verdict.column !== undefined) expect(first?.where.column).toBe(verdict.column);
    // Expected, received, where, remedy.
    expect([first?.where.file, refused?.complaints.length]).toEqual([NAME, expect.toSatisfy((n) => n > 0)]);
    for (const { expected, received, remedy } of refused?.complaints ?? []) {
      expect([expected, received, remedy].every((part) => part.length > 0)).toBe(true);
    }
    return;
  }
  expect(refused).toBeUndefined();
  expect(warnings?.map(({ code }) => code)).toEqual(verdict.warn ?? []);
  if (verdict.count !== undefined) expect(warnings?.[0]?.count).toBe(verdict.count);
  const expected = verdict.rows ?? GOOD_ROWS;
  if (expected.length > 0) expect(rows).toEqual(expected);
  if (verdict.notes !== undefined) expect(notes?.join(" ")).toContain(verdict.notes);
}

describe.each(BAD_TABLES)("$number, $what", (given) => {
  it("in the library", async () => {
    expectVerdict(await library(given), given);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it("on the command line: the same sentence, and no file is written", async () => {
    const path = here.file(NAME, bytesOf(given));
    const before = readdirSync(here.at());
    const { code, out, talk } = await run("inspect", path, ...(given.flags ?? []), "--json");
    expect([code, readdirSync(here.at())]).toEqual([given.refuse === undefined ? 0 : 3, before]);
    const { refused, warnings = [], notes = [] } = await library(given);
    // Files are named as they were given.
    const sentences = [...warnings.map(({ remedy }) => remedy), ...notes, ...(refused?.message.split("\n") ?? [])];
    for (const sentence of sentences) expect(talk).toContain(sentence.replaceAll(NAME, path));
    if (refused !== undefined) expect(talk).toContain(`[${refused.code}]`);
    else expect(JSON.parse(out).observations).toBe((await library(given)).rows?.length);
    expect(talk).not.toMatch(/\n\s+at /);
  });

  it("in the explorer: the same answer", async () => {
    const found = await explorer(given);
    expectVerdict(found, given);
    const { refused, warnings } = await library(given);
    // A question about many cells is one sentence where it is asked, and one for each row where rows are listed.
    const told = (one: Answer["refused"]) => one && [one.code, one.complaints[0]?.where, one.complaints[0]?.remedy];
    expect([told(found.refused), found.warnings]).toEqual([told(refused), warnings]);
  });
});

it("leaves the table of a good one as it is", async () => {
  expect(join(here.at(), NAME)).toBe(here.file(NAME, "id,time,value\na,0,1\na,1,2\nb,0,2\n"));
  expect((await run("inspect", here.at(NAME), "-q")).code).toBe(0);
});
