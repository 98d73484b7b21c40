import { previewTable, readCohortFile } from "@trajectory-maps/core/ingest";
import { describe, expect, it } from "vitest";
import { modelChoice } from "./model-text.ts";
import { addMarker, describeMarker, dropMarker, nameMarkersBy, offeredMarkers, withMarkers } from "./several-choice.ts";
import { assign, guessChoice, markerRows, missingRole, otherThanModel, readChoice, roleOf } from "./table-choice.ts";

const WIDE = `id,time,bili,albumin [g/dl],n
${Array.from({ length: 24 }, (_, k) => `P${k >> 2},${k % 4},${1 + ((k * 7) % 13) / 10},${3 + ((k * 5) % 11) / 10},${k % 2}`).join("\n")}
`;
const LONG = `id,time,test,result
${Array.from({ length: 24 }, (_, k) => `P${k >> 3},${(k >> 1) % 4},${k % 2 === 0 ? "bili" : "albumin"},${1 + ((k * 7) % 13) / 10}`).join("\n")}
`;
const wide = previewTable(WIDE);
const long = previewTable(LONG);

function bytes(text: string) {
  return new Blob([text]).stream();
}

describe("markers in columns of their own", () => {
  const first = guessChoice(wide);
  const offered = offeredMarkers(first, wide);
  const both = describeMarker(addMarker(first, offered[1], wide), 0, { transform: "log" });

  it("are offered where columns look like markers, the guessed one chosen", () => {
    expect(offered.map(({ source, chosen }) => [source, chosen])).toEqual([
      ["bili", 0],
      ["albumin [g/dl]", -1],
    ]);
  });

  it("are read each with its name, unit and transform", async () => {
    const choice = readChoice(both, wide);
    expect(choice).toEqual({
      columns: { id: "id", time: "time" },
      markers: [
        { column: "bili", name: "bili", unit: "", timeUnit: "years", transform: "log" },
        { column: "albumin [g/dl]", name: "albumin", unit: "g/dl", timeUnit: "years", transform: "identity" },
      ],
    });
    const { cohort } = await readCohortFile(bytes(WIDE), choice);
    expect(cohort.markers.map(({ times }) => times.length)).toEqual([24, 24]);
  });

  it("go one by one, and the last stays", () => {
    const second = dropMarker(both, 0);
    expect(markerRows(second).map(({ name }) => name)).toEqual(["albumin"]);
    expect(second.positions.value).toBe(3);
    expect(dropMarker(second, 0)).toBe(second);
    expect(roleOf(both, 3)).toBe("value");
    // A column used for something else is no marker any more.
    expect(markerRows(assign(both, 3, "none", wide)).map(({ name }) => name)).toEqual(["bili"]);
  });
});

describe("markers named by a column", () => {
  const choice = nameMarkersBy(guessChoice(long), 2, long);

  it("are those that the column names, and can be left out", async () => {
    expect(missingRole(choice)).toBeNull();
    expect(roleOf(choice, 2)).toBe("names");
    expect(offeredMarkers(choice, long).map(({ source, chosen }) => [source, chosen])).toEqual([
      ["bili", 0],
      ["albumin", 1],
    ]);
    const { cohort } = await readCohortFile(bytes(LONG), readChoice(choice, long));
    expect(cohort.markers.map(({ marker, times }) => [marker.name, times.length])).toEqual([
      ["bili", 12],
      ["albumin", 12],
    ]);
    const one = await readCohortFile(bytes(LONG), readChoice(dropMarker(choice, 0), long));
    expect(one.cohort.markers.map(({ marker }) => marker.name)).toEqual(["albumin"]);
  });

  it("are one marker again when the column is used for something else", () => {
    expect(assign(choice, 2, "none", long)).toMatchObject({ namesColumn: -1, others: [] });
  });
});

describe("a model of two markers", () => {
  const marker = (name: string, transform: string) => ({ name, unit: "", timeUnit: "years", transform });
  const text = JSON.stringify({
    model: {
      markers: [
        { marker: marker("bilirubin", "log"), columns: { id: "id", time: "time", value: "bili" } },
        { marker: marker("albumin", "identity"), columns: { id: "id", time: "time", value: "albumin [g/dl]" } },
      ],
    },
  });

  it("has its columns found, and differences told by marker", () => {
    const choice = withMarkers(guessChoice(wide), wide, modelChoice(text));
    expect(markerRows(choice).map(({ column, name, transform }) => [column, name, transform])).toEqual([
      [2, "bilirubin", "log"],
      [3, "albumin", "identity"],
    ]);
    expect(otherThanModel(choice, text)).toEqual([]);
    expect(otherThanModel(describeMarker(choice, 1, { transform: "log" }), text)).toEqual([
      "albumin: transform “identity”, here “log”",
    ]);
  });
});
