/** What complaints of the library tell people to do must be what the command line has: every flag named exists, and no option is named without its flag. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { loadAll } from "./commands/list.ts";
import { flagOf } from "./option-names.ts";

/** Options of readers, with their flags where these are not their names. */
const OPTIONS: Readonly<Record<string, string>> = {
  ...{ skipLines: "--skip-line", onBad: "--leave-out-bad", meant: "--unit-means", keepRepeats: "--keep-repeats" },
  ...{ dateOrder: "--date-order", yearPivot: "--year-pivot", partialDates: "--partial-dates", timeUnit: "--time-unit" },
  ...{ thousands: "--thousands", decimal: "--decimal", delimiter: "--delimiter", encoding: "--encoding" },
  ...{ sheet: "--sheet", origin: "--origin", wide: "--wide", analyte: "--analyte", markerColumn: "--marker-column" },
};

const core = fileURLToPath(new URL("../../core/src/", import.meta.url));

/** Texts of the sources that complain of tables. */
function texts(): string[] {
  return ["ingest", "units", "fhir", "study"].flatMap((room) =>
    readdirSync(core + room, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
      .flatMap((path) => {
        const source = readFileSync(`${core}${room}/${path}`, "utf8").replace(/^\s*(?:\/?\*|\/\/).*$/gm, "");
        return source.match(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g) ?? [];
      }),
  );
}

// What is computed into a text is no text.
const sentences = texts()
  .map((text) => text.replace(/\$\{[^}]*\}/g, "…"))
  .filter((text) => text.includes(" "));

it("remedies name flags that there are", async () => {
  const flags = new Set((await loadAll()).flatMap(({ options }) => options.map(flagOf)));
  const named = sentences.flatMap((text) => text.match(/(?<![\w-])--[a-z]+(?:-[a-z]+)*(?![\w-])/g) ?? []);
  expect(named.length).toBeGreaterThan(30);
  expect([...new Set(named)].filter((flag) => !flags.has(flag))).toEqual([]);
});

it("remedies name no option of the library without its flag", () => {
  const bare = sentences.filter((text) =>
    Object.entries(OPTIONS).some(
      ([name, flag]) => new RegExp(`\\([^()]*(?<![\\w-])${name}(?:: [^()]*)?\\)`).test(text) && !text.includes(flag),
    ),
  );
  expect(sentences.some((text) => text.includes("skipLines"))).toBe(true);
  expect(bare).toEqual([]);
});
