/** The files of a drop: those dropped, and those in folders that were dropped. */
import { TABLE_EXTENSIONS } from "@trajectory-maps/core/ingest";

/** What browsers give of a dropped file or folder. */
export type Entry = Pick<FileSystemEntry, "name" | "isDirectory">;

/** The files of a drop, in the order of their names within a folder; of folders only those that may be tables or resources. */
export async function droppedFiles(data: DataTransfer | null): Promise<File[]> {
  // Both have to be asked for before anything is waited for: the browser forgets the drop.
  const files = [...(data?.files ?? [])];
  const entries = [...(data?.items ?? [])].flatMap((item) => item.webkitGetAsEntry?.() ?? []);
  if (!entries.some(({ isDirectory }) => isDirectory)) return files;
  return (await Promise.all(entries.map((entry) => filesIn(entry, !entry.isDirectory)))).flat();
}

/** The files of an entry: its own, or all in the folder and the folders in it. */
export async function filesIn(entry: Entry, isNamed = false): Promise<File[]> {
  if (!entry.isDirectory) {
    const isRead = isNamed || TABLE_EXTENSIONS.some((end) => entry.name.toLowerCase().endsWith(end));
    if (!isRead || entry.name.startsWith(".")) return [];
    return [await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const entries: FileSystemEntry[] = [];
  // A hundred come at a time; none is the end.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) break;
    entries.push(...some);
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  return (await Promise.all(entries.map((inner) => filesIn(inner)))).flat();
}
