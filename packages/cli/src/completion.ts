/** Completion for bash, zsh, fish and PowerShell: `dtm complete bash` prints the script to load. */
import tab from "@bomb.sh/tab/commander";
import type { Command as Program } from "commander";

export function addCompletion(program: Program): void {
  tab(program);
}

/** Whether a shell is asking for suggestions: nothing may then be said on its terminal. */
export function isCompletionRequest(argv: readonly string[]): boolean {
  return argv[0] === "complete" && argv[1] === "--";
}
