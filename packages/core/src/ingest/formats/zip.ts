/**
 * Zip archives: one file in an archive is read as if it were not packed; of several nobody says which is meant. Sizes are
 * taken from the archive's own list, and no more than they say is unpacked; how far an archive may grow is the rule of gzip. The library for
 * zip does not look at checksums, and cuts what is longer than the list says: every file that is read is held against its CRC-32 here.
 */
import type { UnzipFileInfo } from "fflate";
import { type DtmError, showReceived } from "../../errors.ts";
import { bytesChecksum } from "../../numeric/crc.ts";
import { type OpenFile, wholeFile } from "../bytes.ts";
import { refusalAt } from "../complaints.ts";
import { unpackedLimit } from "../gzip.ts";

/** A file of an archive as the archive lists it. */
interface ZipEntry extends Pick<UnzipFileInfo, "name" | "originalSize"> {
  /** CRC-32 of what was packed, as eight hexadecimal digits. */
  readonly checksum: string;
}

/** An archive: its bytes, and the files listed in it. */
export interface ZipArchive {
  readonly bytes: Uint8Array;
  readonly entries: readonly ZipEntry[];
}

/** Whether a file is a zip archive, whatever it is called: by its first bytes. */
export function isZip(head: Uint8Array): boolean {
  return head[0] === 0x50 && head[1] === 0x4b && head[2] === 3 && head[3] === 4;
}

/** The list of an archive; one that would grow too far is refused before anything is unpacked. */
export async function openZip(open: OpenFile, file: string): Promise<ZipArchive> {
  const bytes = await wholeFile(open, file);
  const { unzipSync } = await import("fflate");
  const entries: ZipEntry[] = [];
  try {
    const checksums = listedChecksums(bytes);
    unzipSync(bytes, {
      filter: (entry) => {
        entries.push({ ...entry, checksum: checksums[entries.length] });
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

const END_OF_LIST = 0x06054b50;
const END_OF_LIST_64 = 0x06064b50;
const LISTED = 0x02014b50;

/** The CRC-32 of each file in the list at the end of an archive, in its order. */
function listedChecksums(bytes: Uint8Array): string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let end = bytes.length - 22;
  while (view.getUint32(end, true) !== END_OF_LIST) end--;
  // A list beyond 4 GB or 65,535 files has an end of its own, told 20 bytes before.
  const wide = view.getUint32(end + 16, true) === 0xffffffff ? view.getUint32(end - 12, true) : -1;
  const isWide = wide >= 0 && view.getUint32(wide, true) === END_OF_LIST_64;
  let at = isWide ? view.getUint32(wide + 48, true) : view.getUint32(end + 16, true);
  const checksums: string[] = [];
  while (view.getUint32(at, true) === LISTED) {
    checksums.push(
      view
        .getUint32(at + 16, true)
        .toString(16)
        .padStart(8, "0"),
    );
    at += 46 + [28, 30, 32].reduce((sum, k) => sum + view.getUint16(at + k, true), 0);
  }
  return checksums;
}

/** The bytes of one file of an archive, which must be those that were packed. */
async function unpacked({ bytes, entries }: ZipArchive, index: number, file: string): Promise<Uint8Array> {
  const { unzipSync } = await import("fflate");
  let k = 0;
  try {
    const [content] = Object.values(unzipSync(bytes, { filter: () => k++ === index }));
    if (bytesChecksum([content]) === entries[index].checksum) return content;
  } catch {
    // Told below.
  }
  throw damagedZip(file);
}

/** Refuses an archive of which any file is not what was packed: a workbook is read by a library that does not look. */
export async function checkWhole(zip: ZipArchive, file: string): Promise<void> {
  for (const index of zip.entries.keys()) await unpacked(zip, index, file);
}

/** Folders, what a Mac adds, and hidden files; ".." in a path hides nothing. */
const LEFT_ASIDE = /(^|\/)(__MACOSX\/|\.(?!\.?\/))|\/$/;

/** The only file of an archive, folders and what a Mac adds left aside. */
export async function onlyEntry(zip: ZipArchive, file: string): Promise<Uint8Array> {
  const { entries } = zip;
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
  return unpacked(zip, entries.indexOf(files[0]), file);
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
