/**
 * npm run walk: the explorer in Chromium on whole cohorts, every view, light and dark, at three widths. Saves pictures and all
 * texts to be looked at, and checks by script what needs no eye: impossible values, texts on texts, cut-off texts, sideways
 * scroll, names of groups against their numbers. Prints what it found and ends with 1 if there is anything.
 *
 * Usage: npm run walk [-- [--out FOLDER] [--widths 1440,1280,390] [--only VIEW,...] [COHORT ...]]
 * A cohort is NAME:visits.csv[,subjects.csv][,value=COLUMN][,transform=log][,unit=UNIT][,dimension=3], or the word "tss", "pfvc" (simulated),
 * "pbc" (bundled) or "messy" (the files of examples/messy). Default: all four words. FOLDER is by default in the folder for temporary files.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { openBrowser } from "../test/browser.ts";
import { MESSY } from "../test/explorer/messy-files.ts";
import { cohortOf, messyCohort, type WalkedCohort } from "./walk/cohorts.ts";
import { walk } from "./walk/views.ts";
import { watcher } from "./walk/watch.ts";

const words = process.argv.slice(2);
const option = (name: string, otherwise: string) => {
  const k = words.indexOf(`--${name}`);
  return k < 0 ? otherwise : words.splice(k, 2)[1];
};
const out = option("out", join(tmpdir(), "dtm-walk"));
const widths = option("widths", "1440,1280,390").split(",").map(Number);
const only = option("only", "").split(",").filter(Boolean);
const named = words.length > 0 ? words : ["pbc", "tss", "pfvc", "messy"];
const cohorts: WalkedCohort[] = named.flatMap((word) => (word === "messy" ? MESSY.map(messyCohort) : [cohortOf(word)]));

const chromium = await openBrowser();
const found: string[] = [];
try {
  for (const cohort of cohorts) {
    const folder = join(out, cohort.name);
    mkdirSync(folder, { recursive: true });
    const watch = watcher({ folder, widths, only });
    try {
      await walk(chromium, cohort, watch);
    } catch (error) {
      watch.complain("walk", String(error instanceof Error ? error.stack : error));
    }
    writeFileSync(join(folder, "texts.txt"), watch.texts());
    writeFileSync(join(folder, "found.txt"), `${watch.found().join("\n")}\n`);
    found.push(...watch.found().map((line) => `${cohort.name} ${line}`));
    process.stdout.write(`${cohort.name}: ${watch.numPictures()} pictures, ${watch.found().length} complaints\n`);
  }
} finally {
  await chromium.close();
}
process.stdout.write(`${found.join("\n")}\n${out}\n`);
process.exitCode = found.length > 0 ? 1 : 0;
