/** A session with two markers and a covariate: what it answers is what the core says of the whole model. */
import {
  type Cohort,
  fitDtm,
  numIndividuals,
  placeIndividual,
  predict,
  saveModel,
  simulatePlaces,
} from "@trajectory-maps/core";
import { codeCovariates, markerCohort, withCovariates } from "@trajectory-maps/core/ingest";
import { codingOf, guardFor, modelAt, viewMarker, viewPlacement } from "@trajectory-maps/core/models";
import { beforeAll, describe, expect, it } from "vitest";
import type { Fitted, Individual, Loaded, LoadedSubjects, WorkerApi } from "./api.ts";
import { guardOf } from "./individual.ts";
import { timesOf, viewFitted, viewGroups, viewLoaded } from "./marker-view.ts";
import { createSession } from "./session.ts";

const { cohort: all, subjects: table } = simulatePlaces({
  numIndividuals: 60,
  numMarkers: 2,
  covariates: "places",
  seed: 7,
});
const [first, second] = all.markers;
/** The first individual lacks the second marker. */
const cut = second.offsets[1];
const cohort: Cohort = {
  ...all,
  markers: [
    first,
    {
      ...second,
      offsets: second.offsets.map((offset) => Math.max(0, offset - cut)),
      times: second.times.slice(cut),
      values: second.values.slice(cut),
    },
  ],
};
const subjects: LoadedSubjects = { source: "subjects.csv", table, plain: [], notes: [] };
const CHOICE = { kind: "dtm", mapDimension: 2, mean: "scalar", restarts: 0, maxIterations: 3, seed: 1 } as const;
const AT = [0, 0.5, 1];

const visitsOf = ({ markers, ids, covariates }: Cohort, i: number): Individual => {
  const P = covariates?.coding.columns.length ?? 0;
  const visits = markers.map(({ offsets, times, values }) => ({
    times: Array.from(times.subarray(offsets[i], offsets[i + 1])),
    values: Array.from(values.subarray(offsets[i], offsets[i + 1])),
  }));
  return { id: ids[i], visits, ...(covariates && { covariates: covariates.values.slice(i * P, (i + 1) * P) }) };
};

let session: WorkerApi;
let loaded: Loaded;
beforeAll(async () => {
  session = createSession();
  const { loaded: example } = await session.example("pfvc", 1);
  const qualities = cohort.markers.map(({ marker }) => ({ ...example.qualities[0], marker }));
  loaded = { ...example, cohort, qualities };
  await session.restore(loaded, subjects, null);
});

describe.each(["places", "level-and-rate"] as const)(
  "a fit of two markers with covariates that change %s",
  (effect) => {
    let fitted: Fitted;
    let own: Cohort;
    beforeAll(async () => {
      const covariates = { covariates: [{ name: "c1" }, { name: "c2" }], effect };
      fitted = (await session.fit({ ...CHOICE, covariates }, () => undefined))!;
      own = fitted.cohort!;
    });

    it("is that of the core, and everybody is placed", () => {
      const coded = codeCovariates(table, cohort.ids, { covariates: [{ name: "c1" }, { name: "c2" }], effect });
      expect(own).toEqual(withCovariates(cohort, coded));
      expect(fitted.model).toMatchObject({ markers: [{ marker: first.marker }, { marker: second.marker }] });
      expect(codingOf(fitted.model)).toEqual(coded.coding);
      expect(fitted.placements.ids).toHaveLength(numIndividuals(cohort));
    });

    it("answers for each marker what the model of the individual predicts, given all markers", async () => {
      for (const i of [0, 5]) {
        const who = visitsOf(own, i);
        const { model } = fitted;
        const markers = Object.fromEntries(who.visits.map((visits, k) => [cohort.markers[k].marker.name, visits]));
        const coded = { coding: codingOf(model)!, values: who.covariates! };
        const placed = placeIndividual(model, { markers }, { covariates: coded });
        for (const marker of [0, 1]) {
          const { curve, location, numUsed } = await session.individual({ ...who, marker, at: AT });
          expect(location).toEqual(placed.location);
          expect(numUsed).toBe(timesOf(who.visits).length);
          const guard = guardFor(guardOf(fitted, own, marker)!, who.visits[marker], coded.values);
          const view = viewMarker(modelAt(model, coded.values), marker);
          const options = { interval: "curve", guard } as const;
          expect(curve).toEqual(predict(view, viewPlacement(placed, marker), AT, options));
        }
      }
    });

    it("describes people by covariates: another value gives another course before anything is measured", async () => {
      const nobody = {
        id: "described",
        visits: [
          { times: [], values: [] },
          { times: [], values: [] },
        ],
        at: AT,
      };
      const P = codingOf(fitted.model)!.columns.length;
      const [low, high] = await Promise.all(
        [-2, 2].map((z) => session.individual({ ...nobody, alone: true, covariates: new Float64Array(P).fill(z) })),
      );
      expect(Math.abs(low.curve.median[0] - high.curve.median[0])).toBeGreaterThan(1e-3);
      expect(low.curve.support).toBeUndefined();
      const moved = Math.hypot(...low.location.map((v, a) => v - high.location[a]));
      if (effect === "places") expect(moved).toBeGreaterThan(1e-3);
      else expect(moved).toBeLessThan(1e-9);
    });

    it("groups, baselines, outcomes and fans work for the whole", async () => {
      const groups = await session.groups({ numGroups: 2, seed: 1 });
      expect(groups.groups[0].markers).toHaveLength(2);
      const seen = viewGroups(groups, 1);
      expect(seen.groups[0].course).toBe(groups.groups[0].markers![1].course);
      expect(seen.groups[0].name).toBe(groups.groups[0].name);
      const [lmm] = await session.baselines();
      expect(lmm.model.markers).toHaveLength(2);
      const { chosen } = await session.fans([0, 1, 2], Float64Array.from(AT), 1);
      expect(chosen.median).toHaveLength(3);
    });

    it("opens again from its file, with covariates from the table or as a run keeps them", async () => {
      const text = saveModel(fitted.model);
      const opened = await session.openModel(text);
      // Centres and scales of the file are those of the fit.
      expect(opened.placements.location).toEqual(fitted.placements.location);
      const { columns } = codingOf(fitted.model)!;
      const P = columns.length;
      const rows = own.ids.map((id, i) => [id, ...own.covariates!.values.subarray(i * P, (i + 1) * P)].join());
      const kept = new Blob([[["id", ...columns.map(({ name }) => name)].join(), ...rows].join("\n")]);
      await session.restore(loaded, null, null);
      expect((await session.openModel(text, kept)).placements).toEqual(opened.placements);
      await expect(session.openModel(text)).rejects.toMatchObject({ code: "missing-covariate" });
      await session.restore(loaded, subjects, fitted);
    });
  },
);

describe("a model of two markers", () => {
  it("places a table that lacks one of them, and refuses a marker that it does not have", async () => {
    const model = fitDtm(cohort, { restarts: 0, maxIterations: 2, seed: 1 });
    const text = saveModel(model);
    const one = markerCohort(cohort, 0);
    await session.restore({ ...loaded, cohort: one, qualities: loaded.qualities.slice(0, 1) }, null, null);
    const { cohort: placed } = await session.openModel(text);
    expect(placed!.markers.map(({ times }) => times.length)).toEqual([first.times.length, 0]);
    const other = { ...one, markers: [{ ...first, marker: { ...first.marker, name: "other" } }] };
    await session.restore({ ...loaded, cohort: other }, null, null);
    await expect(session.openModel(text)).rejects.toMatchObject({ code: "other-marker" });
  });

  it("is judged by maps of each marker alone", async () => {
    await session.restore(loaded, null, null);
    await session.fit(CHOICE, () => undefined);
    const verdict = await session.sharing();
    expect(verdict!.markers.map(({ name }) => name)).toEqual(cohort.markers.map(({ marker }) => marker.name));
    expect(verdict!.sentences[0]).toMatch(/bound of the shared map/);
  });
});

it("a comparison of several markers can be given up", async () => {
  await session.restore(loaded, null, null);
  await session.fit(CHOICE, () => undefined);
  const told: number[] = [];
  const choice = { folds: 2, mean: "scalar", mapDimension: 2, seed: 1 } as const;
  const comparing = session.compareSeveral(choice, (_, of) => told.push(of));
  await session.cancel();
  expect(await comparing).toBeNull();
  expect(told).toEqual([2]);
});

describe("views of a study", () => {
  const model = fitDtm(cohort, { restarts: 0, maxIterations: 2, seed: 1 });

  it("have the observations and coefficients of the marker, and visits of all markers", async () => {
    await session.restore(loaded, null, null);
    const fitted = await session.openModel(saveModel(model));
    const [d1, d2] = model.markers.map(({ basis }) => basis.numBasis);
    for (const [k, [from, d]] of [[0, d1] as const, [d1, d2] as const].entries()) {
      const view = viewFitted(fitted, cohort, k);
      expect(viewLoaded(loaded, fitted, k).cohort.markers).toEqual([cohort.markers[k]]);
      expect(view.model.markers).toEqual([fitted.model.markers[k]]);
      const { coefficients, numObservations } = view.placements;
      const whole = fitted.placements.coefficients;
      expect(coefficients.subarray(0, d)).toEqual(whole.subarray(from, from + d));
      expect(numObservations[0]).toBe(timesOf(visitsOf(cohort, 0).visits).length);
    }
  });

  it("of one marker are the study itself", () => {
    const one = { ...loaded, cohort: markerCohort(cohort, 0) };
    expect(viewLoaded(one, null, 0)).toBe(one);
    expect(timesOf([{ times: [2, 1, 1], values: [0, 0, 0] }])).toEqual([1, 1, 2]);
  });
});
