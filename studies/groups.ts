/**
 * How many groups the rule makes, and whether the planted late decline of simulated PFVC has one of its own; writes
 * docs/studies/groups.md, which docs/math/groups.md §2 refers to.
 *
 * Usage: npm run study:groups [-- SEEDS]   (default 16 seeds of PFVC, 4 of TSS; some minutes)
 */
import { mkdirSync, writeFileSync } from "node:fs";
import process from "node:process";
import { embed, fitDtm, groupPlaces, simulateCohort } from "../packages/core/src/index.ts";
import { markdownTable } from "./shared/cohorts.ts";

const numSeeds = Number(process.argv[2] ?? 16);
const LATE = "late decline";

/** One cohort in one row: numbers by rule and by gap, and the group that holds most of the late decline. */
function row(marker: "pfvc" | "tss", seed: number): { readonly cells: string[]; readonly found: boolean } {
  const { cohort, groups: planted, groupNames } = simulateCohort(marker, { seed });
  const model = fitDtm(cohort, { seed });
  const { groups, labels, clustered, choice } = groupPlaces(model, embed(model, cohort));
  const late = groupNames.indexOf(LATE);
  const shares = groups.map((_, g) => {
    const members = clustered.filter((i) => labels[i] === g);
    return { of: members.length, late: members.filter((i) => planted[i] === late).length };
  });
  const best = shares.reduce((b, s, g) => (s.late / s.of > shares[b].late / shares[b].of ? g : b), 0);
  const { name, summary } = groups[best];
  const found = shares[best].late > shares[best].of / 2;
  const cells = [String(seed), String(groups.length), String(choice?.courses?.numCut), String(choice?.gapChoice)];
  if (late >= 0)
    cells.push(`${shares[best].late} of ${shares[best].of}${found ? "" : " (hidden)"}`, `${name}: ${summary}`);
  console.log(marker, cells.join(" | "));
  return { cells, found };
}

const seeds = (n: number) => Array.from({ length: n }, (_, k) => k + 1);
const pfvc = seeds(numSeeds).map((seed) => row("pfvc", seed));
const tss = seeds(Math.ceil(numSeeds / 4)).map((seed) => row("tss", seed));
const table = (head: readonly string[], rows: readonly { readonly cells: readonly string[] }[]) =>
  markdownTable(
    head,
    rows.map(({ cells }) => cells),
  );

const page = `# How many groups

Written by \`npm run study:groups\`; the rule is in [groups §2](../math/groups.md). Simulated cohorts of the published size.
"Cut" is the number of groups that the tree is cut into; the others are branches with a kind of course of their own.

PFVC: the late decline that was planted has a group of its own, more than half of its clustered members planted as such, in
${pfvc.filter(({ found }) => found).length} of ${pfvc.length} cohorts. The thresholds of the rule were set with seeds 1 to 16 and 21 in view.

${table(["seed", "groups", "cut", "gap statistic", "late decline in its group", "name of that group"], pfvc)}

TSS:

${table(["seed", "groups", "cut", "gap statistic"], tss)}
`;
mkdirSync("docs/studies", { recursive: true });
writeFileSync("docs/studies/groups.md", page);
