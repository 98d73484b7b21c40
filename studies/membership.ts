/**
 * Membership attacks on model files: can whoever has a model and somebody's visits tell whether they were in its fit? Members, as many others, and a reference
 * cohort of the same population; the attacker scores candidates in several ways (shared/membership-attacks.ts), and what counts is the best of them.
 * Writes docs/studies/membership.md. Usage: npm run study:membership [-- --quick]
 */
import { writeFileSync } from "node:fs";
import process from "node:process";
import { parseArgs } from "node:util";
import { type Cohort, selectIndividuals } from "../packages/core/src/cohort/cohort.ts";
import { simulateCohort } from "../packages/core/src/index.ts";
import { createRandom } from "../packages/core/src/numeric/random.ts";
import { markdownTable, readMarker } from "./shared/cohorts.ts";
import {
  ATTACKS,
  type Attack,
  type AttackedKind,
  type Auc,
  aucOf,
  averageAuc,
  fitAttacked,
  newcomerAuc,
  scoresOf,
} from "./shared/membership-attacks.ts";

const { values: flags } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const quick = flags.quick;
/** Members, and how many cohorts of so many, by kind. */
const PLAN: readonly (readonly [AttackedKind, readonly (readonly [number, number])[]])[] = quick
  ? [["lmm", [[100, 2]]]]
  : [
      [
        "lmm",
        [
          [50, 10],
          [100, 6],
          [300, 4],
          [500, 3],
          [1000, 2],
        ],
      ],
      [
        "fpca",
        [
          [100, 4],
          [500, 2],
          [1000, 1],
        ],
      ],
      [
        "dtm",
        [
          [100, 4],
          [300, 2],
          [500, 2],
          [1000, 1],
        ],
      ],
    ];
const REFERENCE = quick ? 200 : 1000;
const CANDIDATES = 500;
const say = (text: string) => void process.stderr.write(`${text}\n`);
const shown = ({ auc, lower, upper }: Auc) => `${auc.toFixed(2)} (${lower.toFixed(2)} to ${upper.toFixed(2)})`;

/** Members, others and a reference, at random from one cohort. */
function thirds(cohort: Cohort, sizes: readonly [number, number, number], seed: number): Cohort[] {
  const order = createRandom(seed).permutation(cohort.ids.length);
  let from = 0;
  return sizes.map((size) => {
    const some = order.slice(from, from + size).sort();
    from += size;
    return selectIndividuals(cohort, some);
  });
}

/** AUC of every attack, averaged over cohorts. */
function attack(
  kind: AttackedKind,
  draw: (seed: number) => readonly Cohort[],
  repeats: number,
): ReadonlyMap<Attack, Auc> {
  const found = Array.from({ length: repeats }, (_, r) => {
    const [members, others, reference] = draw(r + 1);
    const model = fitAttacked(kind, members);
    const known = fitAttacked(kind, reference, model);
    const some = Int32Array.from(members.ids.keys()).slice(0, CANDIDATES);
    const attacked = { model, numMembers: members.ids.length, reference: known, others: reference };
    const inside = scoresOf(attacked, selectIndividuals(members, some));
    const outside = scoresOf(attacked, others);
    return new Map([...inside].map(([name, scores]) => [name, aucOf(scores, outside.get(name)!)]));
  });
  return new Map([...found[0].keys()].map((name) => [name, averageAuc(found.map((one) => one.get(name)!))]));
}

const row = (cohort: string, kind: AttackedKind, members: number, aucs: ReadonlyMap<Attack, Auc>) => {
  const best = Math.max(...[...aucs.values()].map(({ auc }) => auc));
  const cells = ATTACKS.map((name) => {
    const one = aucs.get(name);
    return one === undefined ? "" : one.auc === best ? `**${shown(one)}**` : shown(one);
  });
  const line = [cohort, kind, String(members), ...cells];
  say(line.join(" | "));
  return line;
};

const simulated = PLAN.flatMap(([kind, sizes]) =>
  sizes.map(([m, repeats]) => {
    const draw = (seed: number) => {
      const outside = Math.min(CANDIDATES, Math.max(m, 200));
      const { cohort } = simulateCohort("pfvc", { numIndividuals: m + outside + REFERENCE, seed: 1000 * m + seed });
      return thirds(cohort, [m, outside, REFERENCE], seed);
    };
    return row("simulated", kind, m, attack(kind, draw, repeats));
  }),
);

const pbc = readMarker("examples/pbc/visits.csv", "bili", "log");
const third = Math.floor(pbc.ids.length / 3);
const real = (quick ? (["lmm"] as const) : (["lmm", "fpca", "dtm"] as const)).map((kind) =>
  row(
    "pbc bili",
    kind,
    third,
    attack(kind, (seed) => thirds(pbc, [third, third, third], seed), quick ? 1 : kind === "dtm" ? 3 : 8),
  ),
);

const joined = (quick ? [1] : [1, 10, 50]).map((k) => {
  const auc = newcomerAuc(k, quick ? 2 : k === 1 ? 30 : Math.ceil(100 / k), 300);
  say(`${k} joined: ${shown(auc)}`);
  return [String(k), shown(auc)];
});

const page = `# Who was in the fit?

\`npm run study:membership\` writes this page. An attacker has \`model.json\`, all visits of a candidate, and a model of ${REFERENCE} other individuals of the same population (of the real cohort: of the last third), fitted in the same way and
in the same basis. In: up to ${CANDIDATES} members of the fit. Out: as many others, 200 at least. AUC: the probability that a member is scored higher than an
outsider, 0.5 for no knowledge, averaged over cohorts drawn anew, with 95% intervals over candidates. In bold the best attack, chosen after the fact.

- **likelihood**: log-likelihood per visit under the model.
- **ratio**: log-likelihood under the model less that under the reference; nearly the strongest there is, as far as the reference is the truth.
- **unusual**: the same among the fifth of in and out whom the reference expects least.
- **score**: with the gradients of the candidate's own likelihood, the most powerful test as cohorts grow (mixed models).
- **mean**, **noise**, **spread**: the ratio with the mean curve, the noise or the variation between individuals of the model alone put into the reference (linear models; of maps, noise).

${markdownTable(["cohort", "model", "members", ...ATTACKS], [...simulated, ...real])}

## Two models

The same attacker has two mixed models: one of 300 individuals, and one of the same and some more. Scored is the gain in log-likelihood from the first to the second, of those who joined
and of 200 who are in neither.

${markdownTable(["joined", "AUC"], joined)}

## How to read them

A fit with p parameters of m individuals gives each member a likelihood that is about p/m too high, and an AUC of at most about Φ(√(p/2m)): what leaks falls with the square root of the number of individuals, whatever the
attack. A mixed model with five basis functions has some 20 parameters, a map some more. Whoever is unlike everybody else weighs more than others, and is easier to find than these averages say. Two models that differ by
one individual tell mostly who it is, and no rounding of single numbers would prevent that: share one model of a cohort, not its history. Other attacks may do better than these.
`;
if (!quick) writeFileSync("docs/studies/membership.md", page);
else process.stdout.write(page);
