/** The version of the program, without loading the library. */
import { existsSync, readFileSync } from "node:fs";

/** The version in the package's own file, one or two folders above this one: beside src/io and dist alike. */
export function ownVersion(): string {
  const path = ["../package.json", "../../package.json"].map((name) => new URL(name, import.meta.url)).find(existsSync);
  if (path === undefined) return "unknown";
  return (JSON.parse(readFileSync(path, "utf8")) as { readonly version: string }).version;
}
