/** npm run docs: pages that are made from the sources. */
import { writeFileSync } from "node:fs";
import { errorsPage } from "./errors-page.ts";

writeFileSync("docs/errors.md", errorsPage());
