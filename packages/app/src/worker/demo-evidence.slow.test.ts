import { readFileSync } from "node:fs";
import * as core from "@trajectory-maps/core";
import { expect, it } from "vitest";
import { DEMO_SEED, type DemoEvidence, findEvidence } from "../../demo.mjs";

const CHOICE = { mean: "scalar", restarts: 0, seed: 1 } as const;
/** The fewest that anything is told of. */
const FEWEST = 11;

/** Planted kinds of course without a group: one of whose clustered members more than half are of the kind, eleven or more. */
function hiddenKinds(seed: number): string[] {
  const { cohort, groups: planted, groupNames } = core.simulateCohort("pfvc", { seed });
  const model = core.fitDtm(cohort, CHOICE);
  const { groups, labels, clustered } = core.groupPlaces(model, core.embed(model, cohort), { seed: 1 });
  return groupNames.filter(
    (_, kind) =>
      !groups.some((__, g) => {
        const members = clustered.filter((i) => labels[i] === g);
        const own = members.filter((i) => planted[i] === kind).length;
        return own >= FEWEST && own > members.length / 2;
      }),
  );
}

it("the demonstration is the first cohort whose planted kinds of course all have a group", () => {
  for (let seed = 1; seed < DEMO_SEED; seed++) expect(hiddenKinds(seed), `seed ${seed}`).not.toEqual([]);
  expect(hiddenKinds(DEMO_SEED)).toEqual([]);
});

it("the light of trust of the demonstration rests on what the core finds", () => {
  const kept = JSON.parse(readFileSync(new URL("../../demo-evidence.json", import.meta.url), "utf8")) as DemoEvidence;
  const found = findEvidence(core);
  const told = ({ comparison: { differences, models }, starts }: DemoEvidence) => ({
    differences: differences.map(({ model, lower, upper }) => [model, lower.toFixed(2), upper.toFixed(2)]),
    coverage: models.map(({ coverage }) => coverage.p90.toFixed(2)),
    starts: starts.map(({ name, sameMap }) => [name, sameMap]),
  });
  expect(told(found)).toEqual(told(kept));
  // Its light says what the page shows.
  const model = core.fitDtm(core.simulateCohort("pfvc", { seed: DEMO_SEED }).cohort, CHOICE);
  const { words } = core.mapVerdict({ ...model, record: { ...model.record, starts: kept.starts } }, kept.comparison);
  expect(words).toBe("Reliable map");
});
