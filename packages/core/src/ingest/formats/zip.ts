/**
 * Zip archives: one file in an archive is read as if it were not packed; of several nobody says which is meant. Sizes are
 * taken from the archive's own list, and no more than they say is unpacked; how far an archive may grow is the rule of gzip.
 */
import type { UnzipFileInfo } from "fflate";
import { type DtmError, showReceived } from "../../errors.ts";
import { type OpenFile, wholeFile } from "../bytes.ts";
import { refusalAt } from "../complaints.ts";
import { unpackedLimit } from "../gzip.ts";

/** An archive: its bytes, and the files listed in it. */
export interface ZipArchive {
  readonly bytes: Uint8Array;
  readonly entries: readonly Pick<UnzipFileInfo, "name" | "originalSize">[];
}

/** Whether a file is a zip archive, whatever it is called: by its first bytes. */
export function isZip(head: Uint8Array): boolean {
  return head[0] === 0x50 && head[1] === 0x4b && head[2] === 3 && head[3] === 4;
}

/** The list of an archive; one that would grow too far is refused before anything is unpacked. */
export async function openZip(open: OpenFile, file: string): Promise<ZipArchive> {
  const bytes = await wholeFile(open, file);
  const { unzipSync } = await import("fflate");
  const entries: UnzipFileInfo[] = [];
  try {
    unzipSync(bytes, {
      filter: (entry) => {
        entries.push(entry);
        return false;
      },
    });
  } catch {
    throw damagedZip(file);
  }
  const limit = unpackedLimit(bytes.length);
  if (entries.reduce((sum, { originalSize }) => sum + originalSize, 0) > limit) {
    const most = Math.round(limit / 2 ** 20);
    throw refusalAt({}, file, "too-large", [`at most ${most} MB once unpacked`, "more", "Unpack it first."]);
  }
  return { bytes, entries };
}

/** Folders, what a Mac adds, and hidden files; ".." in a path hides nothing. */
const LEFT_ASIDE = /(^|\/)(__MACOSX\/|\.(?!\.?\/))|\/$/;

/** The only file of an archive, folders and what a Mac adds left aside. */
export async function onlyEntry({ bytes, entries }: ZipArchive, file: string): Promise<Uint8Array> {
  const files = entries.filter(({ name }) => !LEFT_ASIDE.test(name));
  if (files.length !== 1) {
    const listed = files.slice(0, 10).map(({ name }) => showReceived(name));
    const more = files.length > 10 ? ` and ${files.length - 10} more` : "";
    const spreadsheet = entries.some(({ name }) => name === "content.xml");
    throw refusalAt({}, file, "several-files", [
      "a zip archive of one file",
      files.length === 0 ? "none in it" : `${files.length}: ${listed.join(", ")}${more}`,
      spreadsheet ? "A spreadsheet is saved as .xlsx or CSV." : "Unpack it and name the file that is meant.",
    ]);
  }
  const { name } = files[0];
  const { unzipSync } = await import("fflate");
  try {
    return unzipSync(bytes, { filter: (entry) => entry.name === name })[name];
  } catch {
    throw damagedZip(file);
  }
}

/** The texts of files in an archive, by their names without regard to case; "" for those that are not there. */
export async function textsOf(bytes: Uint8Array): Promise<(name: string) => string> {
  const { unzipSync, strFromU8 } = await import("fflate");
  return (name) => {
    const found = unzipSync(bytes, { filter: (entry) => entry.name.toLowerCase() === name.toLowerCase() });
    return Object.values(found).map((content) => strFromU8(content))[0] ?? "";
  };
}

function damagedZip(file: string): DtmError {
  return refusalAt({}, file, "damaged-file", [
    "a whole zip archive without a password",
    "damaged, cut or encrypted bytes",
    "Unpack it first, or copy the file again.",
  ]);
}
