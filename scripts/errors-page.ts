/** docs/errors.md from the list of codes; `npm run docs` writes it, test/errors-page.test.ts holds it up to date. */
import { ERROR_CODES, type ErrorKind } from "../packages/core/src/error-codes.ts";

const SECTIONS: Readonly<Record<ErrorKind, string>> = {
  table: "Tables: files of rows, their columns and cells",
  cohort: "Cohorts: individuals and observations",
  outcome: "Outcomes, follow-up and groups",
  option: "Options",
  file: "Model files and snapshots",
  numerical: "Arithmetic",
  program: "Programs that call the library",
  explorer: "The explorer",
};

const HEAD = `# Errors

Errors of the library are \`DtmError\`s. Each has a stable \`code\` from this list, a \`kind\` (the section it stands in) and a
message that says what was expected, what was received, where, and what to do. An input that was refused carries all its
\`complaints\`, each with its own code, line and column. The command line prints the code in brackets after the message;
its exit codes are in [command-line.md](command-line.md).

This page is made from \`packages/core/src/error-codes.ts\` by \`npm run docs\`.
`;

/** The page as text of Markdown. */
export function errorsPage(): string {
  const entries = Object.entries(ERROR_CODES);
  const sections = Object.entries(SECTIONS).map(([kind, title]) => {
    const rows = entries.filter(([, entry]) => entry.kind === kind);
    const lines = rows.map(([code, { meaning, remedy }]) => `| \`${code}\` | ${meaning} | ${remedy} |`);
    return `\n## ${title}\n\n| code | meaning | what to do |\n|---|---|---|\n${lines.join("\n")}\n`;
  });
  return HEAD + sections.join("");
}
