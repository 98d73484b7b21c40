/** A handful of the bad tables in the page itself: what the library says of them is what people read, and nothing runs. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readCohortFile } from "../../packages/core/src/doors/ingest.ts";
import { DtmError } from "../../packages/core/src/index.ts";
import { BAD_TABLES } from "../bad-tables.ts";
import { browserOfFile } from "../browser-of-file.ts";
import { dropFiles, type ExplorerPage, expectText, openExplorer } from "./explorer-page.ts";

const chromium = browserOfFile();
let explorer: ExplorerPage;
beforeAll(async () => {
  explorer = await openExplorer(chromium);
}, 120_000);
afterAll(async () => {
  await explorer?.close();
});

const refusedAtOnce = BAD_TABLES.filter(
  ({ number, refuse }) => [4, 11, 12, 13].includes(number) && refuse !== undefined,
);

describe("bad tables in the page", () => {
  it.each(refusedAtOnce)("$number, $what", async ({ table, refuse }) => {
    const bytes = Buffer.from(table as string);
    const error = await readCohortFile([new Uint8Array(bytes)], { file: "visits.csv" }).then(
      () => undefined,
      (reason) => reason,
    );
    expect(error).toBeInstanceOf(DtmError);
    expect(error.code).toBe(refuse);
    await dropFiles(explorer.page, [{ name: "visits.csv", bytes }]);
    await expectText(explorer.page.locator("main"), error.complaints[0].remedy);
    expect(explorer.problems()).toEqual([]);
  });

  it("69, an id that is a tag is text", async () => {
    const table = BAD_TABLES.find(({ number }) => number === 69)?.table ?? "";
    await dropFiles(explorer.page, [{ name: "visits.csv", bytes: Buffer.from(table) }]);
    await expectText(explorer.page.locator("main"), "<img src=x onerror=alert(1)>");
    expect(await explorer.page.locator("main img").count()).toBe(0);
    expect(explorer.problems()).toEqual([]);
  });
});
