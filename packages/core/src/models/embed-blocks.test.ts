import { describe, expect, it } from "vitest";
import { makeCohort, numIndividuals } from "../cohort/cohort.ts";
import { idList } from "../cohort/ids.ts";
import { createRandom } from "../numeric/random.ts";
import { embed } from "./embed.ts";
import { cohortBlocks, joinPlacements } from "./embed-blocks.ts";
import { fitDtm, fitFpca } from "./fit-models.ts";

const random = createRandom(5);
const rows = { ids: [] as string[], times: [] as number[], values: [] as number[] };
for (let i = 0; i < 30; i++) {
  const [level, slope] = [random.normal(), random.normal()];
  for (let t = 0; t < 1 + (i % 5); t++) {
    rows.ids.push(`p${10 + i}`);
    rows.times.push(t + random.uniform());
    rows.values.push(level + slope * t + 0.3 * random.normal());
  }
}
const cohort = makeCohort(rows);

describe("cohortBlocks", () => {
  it("hands out everyone once, in order, in blocks of about one size", () => {
    const blocks = cohortBlocks(cohort, 4);
    expect(blocks.map(numIndividuals)).toEqual([7, 8, 7, 8]);
    expect(blocks.flatMap(({ ids }) => idList(ids))).toEqual(idList(cohort.ids));
    expect(cohortBlocks(cohort, 99)).toHaveLength(30);
  });

  it("refuses no blocks", () => {
    expect(() => cohortBlocks(cohort, 0)).toThrowError(expect.objectContaining({ code: "option" }));
  });
});

describe("joinPlacements", () => {
  it.each([
    ["principal components", fitFpca(cohort, { rank: 2, numBasis: 4 })],
    ["a map with variational places", fitDtm(cohort, { kind: "dtm-paper", numBasis: 4 })],
  ])("puts the blocks of %s together as embed places the whole", (_, model) => {
    const parts = cohortBlocks(cohort, 3).map((block) => embed(model, block));
    expect(joinPlacements(parts)).toEqual(embed(model, cohort));
  });
});
