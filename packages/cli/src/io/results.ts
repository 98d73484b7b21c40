/** Results that earlier commands wrote into a run. */
import { join } from "node:path";
import { CONTRACTS } from "../contracts.ts";
import { FileError } from "../exit-codes.ts";
import { checkBelongs } from "./belongs.ts";
import { fileExists, readText } from "./read.ts";

type ResultName = "run" | "groups" | "compare" | "associate" | "sensitivity" | "inspect";

/** The JSON of a result, held against its contract, or undefined if the run has none. */
export function readResult<T>(folder: string, name: `${ResultName}.json`): T | undefined {
  const path = join(folder, name);
  if (!fileExists(path)) return undefined;
  checkBelongs(folder, name);
  const refuse = (received: string) =>
    new FileError(
      `${path}: expected JSON written by this program, received ${received}. ${name === "run.json" ? "Fit again with --force" : "Remove it and try again"}.`,
    );
  let value: unknown;
  try {
    value = JSON.parse(readText(path));
  } catch {
    throw refuse("another text");
  }
  const kind = name.slice(0, -".json".length) as ResultName;
  const several = typeof value === "object" && value !== null && "markers" in value;
  const contract =
    several && (kind === "compare" || kind === "inspect") ? CONTRACTS[`${kind}-markers`] : CONTRACTS[kind];
  const { error } = contract.safeParse(value);
  const issue = error?.issues[0];
  if (issue !== undefined) throw refuse(`${issue.path.join(".") || "something"} that is not of its form`);
  return value as T;
}
