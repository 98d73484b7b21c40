import { describe, expect, it } from "vitest";
import { droppedFiles, type Entry, filesIn } from "./dropped-files.ts";

const file = (name: string): Entry => ({
  name,
  isDirectory: false,
  ...{ file: (resolve: (file: File) => void) => resolve(new File([], name)) },
});
/** A folder whose entries come one at a time. */
const folder = (name: string, ...entries: Entry[]): Entry => ({
  name,
  isDirectory: true,
  ...{
    createReader: () => {
      const left = [...entries];
      return { readEntries: (resolve: (some: Entry[]) => void) => resolve(left.splice(0, 1)) };
    },
  },
});
const names = (files: readonly File[]) => files.map(({ name }) => name);

describe("files of a drop", () => {
  it("are those in folders too, by their names, without what is no table or resource", async () => {
    const export_ = folder(
      "export",
      file("Patient.ndjson"),
      file("README.md"),
      file(".hidden.json"),
      folder("deep", file("Observation.ndjson.gz")),
      file("Bundle.JSON"),
    );
    expect(names(await filesIn(export_))).toEqual(["Bundle.JSON", "Patient.ndjson", "Observation.ndjson.gz"]);
  });

  it("are the files themselves where no folder is among them, whatever they are called", async () => {
    const data = { files: [new File([], "visits.dat")], items: [{ webkitGetAsEntry: () => file("visits.dat") }] };
    expect(names(await droppedFiles(data as unknown as DataTransfer))).toEqual(["visits.dat"]);
    const both = {
      files: [],
      items: [folder("a", file("x.csv")), file("y.dat")].map((e) => ({ webkitGetAsEntry: () => e })),
    };
    expect(names(await droppedFiles(both as unknown as DataTransfer))).toEqual(["x.csv", "y.dat"]);
    expect(await droppedFiles(null)).toEqual([]);
  });
});
