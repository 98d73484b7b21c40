import { describe, expect, it } from "vitest";
import { droppedFiles } from "./dropped-files.ts";

const isFile = (name: string) => name.includes(".");

/** Names of files, and folders as lists of them behind their name. */
type Tree = string | readonly [string, ...Tree[]];
const nameOf = (tree: Tree) => (typeof tree === "string" ? tree : tree[0]);
const inside = (tree: Tree) => (typeof tree === "string" ? [] : (tree.slice(1) as Tree[]));

/** As Firefox and Safari give it; a folder's entries come one at a time. */
function entry(tree: Tree): unknown {
  const left = inside(tree).map(entry);
  return {
    name: nameOf(tree),
    isDirectory: !isFile(nameOf(tree)),
    file: (done: (file: File) => void) => done(new File([], nameOf(tree))),
    createReader: () => ({ readEntries: (done: (some: unknown[]) => void) => done(left.splice(0, 1)) }),
  };
}

/** As Chromium gives it. */
function handle(tree: Tree): unknown {
  return {
    name: nameOf(tree),
    kind: isFile(nameOf(tree)) ? "file" : "directory",
    getFile: async () => new File([], nameOf(tree)),
    values: async function* () {
      for (const part of inside(tree)) yield handle(part);
    },
  };
}

function drop(trees: readonly Tree[], hasHandles: boolean): DataTransfer {
  const items = trees.map((tree) => ({
    webkitGetAsEntry: () => entry(tree),
    ...(hasHandles ? { getAsFileSystemHandle: async () => handle(tree) } : {}),
  }));
  const files = trees.filter((tree) => isFile(nameOf(tree))).map((tree) => new File([], nameOf(tree)));
  return { files, items } as unknown as DataTransfer;
}

describe("files of a drop", () => {
  it.each([true, false])(
    "are those in folders too, without what is no table or resource (handles: %s)",
    async (has) => {
      const tree: Tree = [
        "export",
        "Patient.ndjson",
        "README.md",
        ".hidden.json",
        ["deep", "Observation.ndjson.gz"],
        "B.JSON",
      ];
      const files = await droppedFiles(drop([tree, "y.dat"], has));
      expect(files.map(({ name }) => name)).toEqual(["B.JSON", "Patient.ndjson", "Observation.ndjson.gz", "y.dat"]);
    },
  );

  it("are the files themselves where no folder is among them, whatever they are called", async () => {
    const files = await droppedFiles(drop(["visits.dat"], true));
    expect(files.map(({ name }) => name)).toEqual(["visits.dat"]);
    expect(await droppedFiles(null)).toEqual([]);
  });

  it("of a folder that cannot be read are asked for one by one", async () => {
    const broken = {
      name: "export",
      isDirectory: true,
      createReader: () => {
        throw new Error("Not here.");
      },
    };
    const data = { files: [], items: [{ webkitGetAsEntry: () => broken }] } as unknown as DataTransfer;
    await expect(droppedFiles(data)).rejects.toThrow("The folder cannot be read: Not here. Choose its files instead.");
  });
});
