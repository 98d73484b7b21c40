#!/usr/bin/env node
// Committed, so that npm can link it before anything is built; the program itself is built from src/ into dist/.
import { existsSync } from "node:fs";

// A reader that has seen enough (head, less) is no failure of ours.
process.stdout.on("error", () => process.exit());

const program = new URL("../dist/main.mjs", import.meta.url);
if (existsSync(program)) {
  const { main } = await import(program.href);
  process.exitCode = await main(process.argv.slice(2));
} else {
  process.stderr.write("dtm is not built yet. In the repository, `npm run demo` builds it and shows what it does.\n");
  process.exitCode = 4;
}
