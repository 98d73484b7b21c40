/** Completion for bash, zsh, fish and PowerShell: `dtm complete bash` prints the script to load. */
import tab from "@bomb.sh/tab/commander";
import type { Command as Program } from "commander";

export function addCompletion(program: Program): void {
  tab(program);
}
