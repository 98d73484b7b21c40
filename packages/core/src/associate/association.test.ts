import { describe, expect, it } from "vitest";
import { type Cohort, makeCohort, numIndividuals, onlyMarker } from "../cohort/cohort.ts";
import { fitDtm } from "../models/fit-models.ts";
import { fitLmm } from "../models/linear-models.ts";
import type { TrajectoryModel } from "../models/model.ts";
import { embed } from "../models/place.ts";
import { createRandom } from "../numeric/random.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { type AssociationInput, associate } from "./association.ts";
import { testEvent } from "./event-test.ts";
import { countExceedances } from "./multipliers.ts";
import { testKernel } from "./place-features.ts";
import { featuresUntil, posteriorFeatures } from "./posterior-features.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 150, seed: 3 });
const m = numIndividuals(cohort);
const model = fitDtm(cohort, { seed: 1, restarts: 0 });
const lmm = fitLmm(cohort);
const placed = (of: TrajectoryModel, people: Cohort) => ({ model: of, placements: embed(of, people) });

/** "place" goes with the first axis, "chance" with nothing; "rare" has three cases. */
function study(people: Cohort = cohort): AssociationInput {
  const { placements } = placed(model, people);
  const random = createRandom(8);
  const place = Uint8Array.from({ length: m }, (_, i) =>
    random.uniform() < (placements.location[2 * i] > 0 ? 0.85 : 0.15) ? 1 : 0,
  );
  place.fill(255, 0, 10);
  return {
    model,
    placements,
    cohort: people,
    baselines: [placed(lmm, people)],
    outcomes: [
      { name: "place", labels: place },
      { name: "chance", labels: Uint8Array.from({ length: m }, () => (random.uniform() < 0.4 ? 1 : 0)) },
      { name: "rare", labels: Uint8Array.from({ length: m }, (_, i) => (i % 60 === 0 ? 1 : 0)) },
    ],
  };
}

const OPTIONS = { draws: 299, seed: 7 };
const result = associate(study(), OPTIONS);

describe("associate", () => {
  it("finds what goes with places, under every model, and draws where", async () => {
    const { outcomes, primary } = await result;
    expect(primary).toBe("dtm");
    const [place] = outcomes;
    expect(place).toMatchObject({ outcome: "place", missing: 10, p: 1 / 300, draws: 299 });
    expect(place.cases + place.controls).toBe(m - 10);
    expect(place.approximation).toBeLessThan(1e-4);
    expect(place.priorP).toBeLessThan(0.05);
    expect(place.adjusted.holm).toBeCloseTo(2 / 300, 12);
    expect(place.representations.dtm.p).toBe(place.p);
    expect(place.representations.lmm.p).toBe(1 / 300);
    expect(place.representations.lmm.kde).not.toBeNull();
    expect(place.effect.auc.lower).toBeGreaterThan(0.6);
    expect(place.effect.distance).toBeGreaterThan(0);
    expect(place.predictors.rows.find(({ predictors }) => predictors === "place")!.lower).toBeGreaterThan(0.6);
    const { axes, outside, share } = place.differenceMap!;
    // Above the band only on the right, below it only on the left.
    outside.forEach((side, k) => {
      if (side !== 0) expect(Math.sign(axes[0][Math.floor(k / axes[1].length)])).toBe(side);
    });
    expect(outside.some((side) => side > 0)).toBe(true);
    for (const s of share) if (!Number.isNaN(s)) expect(s >= 0 && s <= 1).toBe(true);
  });

  it("holds among people seen equally often where it goes with places, and has its shares held out", async () => {
    const [place, chance] = (await result).outcomes;
    expect(place.seenEqually!.p).toBeLessThan(0.05);
    expect(place.contrast).toMatchObject({ side: 1 });
    expect(place.contrast!.centre![0]).toBeGreaterThan(0);
    expect(place.contrast!.here.share).toBeGreaterThan(place.contrast!.elsewhere.share);
    expect(chance).toMatchObject({ seenEqually: null, contrast: null });
  });

  it("does not hold among people seen equally often where the visits alone have made it", async () => {
    // Visits are kept until the first value below 80, so that their number goes with the place, and the outcome with their number.
    const { offsets, times, values, marker } = onlyMarker(cohort);
    const kept = Array.from({ length: m }, (_, i) => {
      const own = Array.from({ length: offsets[i + 1] - offsets[i] }, (_, j) => offsets[i] + j);
      const last = own.findIndex((j) => values[j] < 80);
      return last < 0 ? own : own.slice(0, last + 1);
    });
    const shorter = makeCohort(
      {
        ids: kept.flatMap((own, i) => own.map(() => cohort.ids[i])),
        times: kept.flat().map((j) => times[j]),
        values: Float64Array.from(kept.flat(), (j) => values[j]),
      },
      marker,
    );
    const random = createRandom(6);
    const labels = Uint8Array.from(kept, (own) => Number(random.uniform() < 1 - 0.8 ** own.length));
    const { outcomes } = await associate(
      { ...placed(model, shorter), cohort: shorter, outcomes: [{ name: "seen", labels }] },
      { ...OPTIONS, controls: false },
    );
    expect(outcomes[0].p).toBeLessThan(0.05);
    expect(outcomes[0].seenEqually!.p).toBeGreaterThan(0.05);
  });

  it("finds nothing in labels by chance, and does not test three cases", async () => {
    const [, chance, rare] = (await result).outcomes;
    expect(chance.p).toBeGreaterThan(0.05);
    expect(chance.differenceMap).toBeNull();
    expect(rare.p).toBeNaN();
    expect(rare.adjusted.holm).toBeNaN();
    expect(rare.warnings.map(({ code }) => code)).toContain("too-few");
  });

  it("runs controls: how visits go with places, and made-up outcomes", async () => {
    const { controls, madeUp } = await result;
    expect(controls.map(({ control }) => control)).toEqual(["number of visits", "last visit", "first visit"]);
    expect(madeUp!.below).toBeLessThan(0.15);
  });

  it("gives the same bits for the same seed, whatever the ids, by any counter", async () => {
    const { offsets, times, values, marker } = onlyMarker(cohort);
    // Ids that turn the order of individuals round.
    const owner = new Int32Array(times.length);
    for (let i = 0; i < m; i++) owner.fill(i, offsets[i], offsets[i + 1]);
    const ids = Array.from(owner, (i) => String(9999 - i));
    const turned = study(makeCohort({ ids, times, values }, marker));
    const input = study();
    const again = await associate(
      { ...turned, outcomes: input.outcomes.map(({ name, labels }) => ({ name, labels: labels.slice().reverse() })) },
      {
        ...OPTIONS,
        shards: 5,
        count: async (plan, from, to) => countExceedances(structuredClone(plan), from, to),
      },
    );
    const pick = ({ outcomes }: typeof again) =>
      outcomes.map(({ p, approximation, priorP, predictors }) => [p, approximation, priorP, predictors]);
    expect(pick(again)).toEqual(pick(await result));
  });

  it("refuses one class and wrong lengths, and can be cancelled", async () => {
    const input = study();
    const with_ = (labels: Uint8Array) => ({ ...input, outcomes: [{ name: "x", labels }] });
    await expect(associate(with_(new Uint8Array(m)))).rejects.toMatchObject({ code: "one-class" });
    await expect(associate(with_(new Uint8Array(9)))).rejects.toMatchObject({ code: "shape" });
    await expect(associate(input, { signal: { aborted: true } })).rejects.toMatchObject({ code: "cancelled" });
  });

  it("asks again from values up to a landmark where visits follow the course", async () => {
    // Those with a low last value leave early: visits follow the course, and so does the outcome.
    const { offsets, values, times, marker } = onlyMarker(cohort);
    const rows = { ids: [] as string[], times: [] as number[], values: [] as number[] };
    for (let i = 0; i < m; i++) {
      const low = values[offsets[i]] < 75;
      for (let j = offsets[i]; j < offsets[i + 1]; j++) {
        if (low && j > offsets[i] && times[j] > times[offsets[i]] + 1) break;
        rows.ids.push(String(i).padStart(4, "0"));
        rows.times.push(times[j]);
        rows.values.push(values[j]);
      }
    }
    const left = makeCohort(rows, marker);
    const input = { ...placed(model, left), cohort: left };
    const labels = Uint8Array.from({ length: m }, (_, i) => (input.placements.location[2 * i] > 0 ? 1 : 0));
    const found = await associate({ ...input, outcomes: [{ name: "side", labels }] }, OPTIONS);
    expect(found.visitsFollow).toMatch(/^Visits follow the course \(/);
    const [{ landmark, warnings }] = found.outcomes;
    expect(landmark!.curve[0].landmark).toBe(landmark!.landmark);
    expect(landmark!.p).toBeLessThan(0.05);
    expect(warnings.at(-1)!.code).toBe("visits-follow-course");
  });
});

describe("posteriorFeatures", () => {
  it("are those of the prior without values, and those of all values at the end", () => {
    const [all] = posteriorFeatures(model, cohort, [testKernel(2)]);
    const none = featuresUntil(model, cohort, -1, testKernel(2));
    const late = featuresUntil(model, cohort, 100, testKernel(2));
    expect(late.rows).toEqual(all.rows);
    for (let i = 0; i < m; i++) expect(none.rows.subarray(55 * i, 55 * (i + 1))).toEqual(all.prior);
  });

  it("average to the prior over individuals drawn from it, for maps and linear models alike", () => {
    for (const fitted of [model, lmm]) {
      const [{ rows, prior, numFeatures: F }] = posteriorFeatures(fitted, cohort, [testKernel(2)]);
      for (let f = 0; f < 6; f++) {
        let mean = 0;
        for (let i = 0; i < m; i++) mean += rows[i * F + f] / m;
        // Individuals vary by less than one around it, and the fit is to these very individuals.
        expect(Math.abs(mean - prior[f])).toBeLessThan(0.1);
      }
    }
  });
});

describe("testEvent", () => {
  it("finds times that go with places and none that do not", async () => {
    const { placements } = placed(model, cohort);
    const random = createRandom(4);
    const times = Float64Array.from(
      { length: m },
      (_, i) => 10 * random.uniform() * Math.exp(0.8 * placements.location[2 * i]),
    );
    const events = Float64Array.from({ length: m }, () => (random.uniform() < 0.7 ? 1 : 0));
    times[0] = Number.NaN;
    const found = await testEvent(model, cohort, { times, events }, OPTIONS);
    expect(found.numIndividuals).toBe(m - 1);
    expect(found.p).toBeLessThan(0.05);
    const shuffled = Float64Array.from(random.permutation(m), (i) => times[i] || 1);
    expect((await testEvent(model, cohort, { times: shuffled, events }, OPTIONS)).p).toBeGreaterThan(0.05);
  });
});
