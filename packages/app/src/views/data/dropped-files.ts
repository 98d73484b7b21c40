/** The files of a drop: those dropped, and those in folders that were dropped. */
import { DtmError } from "@trajectory-maps/core";
import { TABLE_EXTENSIONS } from "@trajectory-maps/core/ingest";

/** A dropped file or folder, whichever way the browser gives it. */
export type Dropped = File | { readonly name: string; entries(): AsyncIterable<Dropped> };

/** As browsers that have it give folders; the language's library knows it in part. */
interface Handle {
  readonly kind: "file" | "directory";
  readonly name: string;
  getFile(): Promise<File>;
  values(): AsyncIterable<Handle>;
}
type Item = DataTransferItem & { getAsFileSystemHandle?(): Promise<Handle | null> };

/** The files of a drop; of folders, by their names, only those that may be tables or resources. */
export async function droppedFiles(data: DataTransfer | null): Promise<File[]> {
  // All has to be asked for before anything is waited for: the browser forgets the drop.
  const files = [...(data?.files ?? [])];
  const items = [...(data?.items ?? [])] as Item[];
  const entries = items.map((item) => item.webkitGetAsEntry?.() ?? null);
  if (!entries.some((entry) => entry?.isDirectory)) return files;
  const handles = items.map(async (item) => item.getAsFileSystemHandle?.() ?? null);
  try {
    // Entries cannot be read on pages that were opened from disk, handles not in every browser.
    const dropped = await Promise.all(
      handles.map(async (asked, k) => {
        const [handle, entry] = [await asked.catch(() => null), entries[k]];
        return handle !== null ? ofHandle(handle) : entry === null ? null : ofEntry(entry);
      }),
    );
    return (await Promise.all(dropped.map((one) => (one === null ? [] : filesIn(one))))).flat();
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
    throw new DtmError("cannot-read", `The folder cannot be read: ${reason}. Choose its files instead.`);
  }
}

/** The file itself, or those of the folder and of folders in it. */
async function filesIn(dropped: Dropped): Promise<File[]> {
  if (dropped instanceof File) return [dropped];
  const inside: Dropped[] = [];
  for await (const entry of dropped.entries()) if (!(entry instanceof File) || mayBeRead(entry)) inside.push(entry);
  inside.sort((a, b) => (a.name < b.name ? -1 : 1));
  return (await Promise.all(inside.map(filesIn))).flat();
}

function mayBeRead({ name }: File): boolean {
  return !name.startsWith(".") && TABLE_EXTENSIONS.some((end) => name.toLowerCase().endsWith(end));
}

async function ofHandle(handle: Handle): Promise<Dropped> {
  if (handle.kind === "file") return handle.getFile();
  return {
    name: handle.name,
    entries: async function* () {
      for await (const inner of handle.values()) yield ofHandle(inner);
    },
  };
}

async function ofEntry(entry: FileSystemEntry): Promise<Dropped> {
  if (!entry.isDirectory) return new Promise((done, fail) => (entry as FileSystemFileEntry).file(done, fail));
  return {
    name: entry.name,
    entries: async function* () {
      const reader = (entry as FileSystemDirectoryEntry).createReader();
      // A hundred come at a time; none is the end.
      for (;;) {
        const some = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
        if (some.length === 0) return;
        for (const inner of some) yield ofEntry(inner);
      }
    },
  };
}
