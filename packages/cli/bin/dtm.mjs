#!/usr/bin/env node
// Committed, so that npm can link it before anything is built; the program itself is built from src/ into dist/.
import { existsSync } from "node:fs";

const program = new URL("../dist/main.mjs", import.meta.url);
if (existsSync(program)) {
  const { start } = await import(program.href);
  await start(process.argv.slice(2));
} else {
  process.stderr.write("dtm is not built yet. In the repository, `npm run demo` builds it and shows what it does.\n");
  process.exitCode = 4;
}
