/** npm run docs: pages that are made from the sources. */
import { writeFileSync } from "node:fs";
import { errorsPage } from "./errors-page.ts";
import { kernelsPage } from "./kernels-page.ts";

writeFileSync("docs/errors.md", errorsPage());
writeFileSync("docs/kernels.md", await kernelsPage());
