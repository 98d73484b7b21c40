import { embed, fitDtm, groupPlaces, markerModel, simulateCohort } from "@trajectory-maps/core";
import { onlyMarker } from "@trajectory-maps/core/ingest";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { expectNothingTold, LAST } from "../../../../test/differences.ts";
import type { Fitted, FitUpdate, WorkerApi } from "./api.ts";
import { createHelpers, serve } from "./helpers.ts";
import { createSession } from "./session.ts";

const CHOICE = { numGroups: 3, seed: 1 } as const;

const open: MessagePort[] = [];
afterEach(() => {
  for (const port of open.splice(0)) port.close();
});

/** A helper's end of a channel, and the engine's. */
function channel(): readonly [MessagePort, MessagePort] {
  const { port1, port2 } = new MessageChannel();
  open.push(port1, port2);
  return [port1, port2];
}

const { cohort } = simulateCohort("pfvc", { numIndividuals: 120, seed: 4 });
let fitted: Fitted;
beforeAll(() => {
  const model = fitDtm(cohort, { mean: "scalar", restarts: 0, seed: 1, maxIterations: 3 });
  fitted = { model, placements: embed(model, cohort), seconds: 0, finished: true };
});

/** A session with the map, and the helpers that make its groups. */
async function sessionWithMap(ports: readonly MessagePort[]): Promise<WorkerApi> {
  const grouper = createHelpers();
  grouper.seat(ports);
  const session = createSession(createHelpers(), grouper);
  const { loaded } = await session.example("pfvc", 4);
  await session.restore({ ...loaded, cohort }, null, fitted);
  return session;
}

const question = { id: "new", visits: [{ times: [1, 2], values: [70, 68] }], at: [1, 5] };

describe("groups of a session", () => {
  it("are the same whether a helper makes them or the engine", async () => {
    const [port1, port2] = channel();
    serve(port1);
    const expected = groupPlaces(fitted.model, fitted.placements, CHOICE);
    for (const ports of [[], [port2]]) {
      const session = await sessionWithMap(ports);
      expect(await session.groups(CHOICE)).toEqual(expected);
      expect((await session.individual(question)).membership).toHaveLength(3);
    }
  });

  it("let questions be answered while a helper makes them", async () => {
    const [port1, port2] = channel();
    const session = await sessionWithMap([port2]);
    const groups = session.groups(CHOICE);
    // The helper has not begun: whoever waited for it would wait forever.
    expect((await session.individual(question)).membership).toHaveLength(0);
    serve(port1);
    expect((await groups).groups).toHaveLength(3);
  });

  it("are given up when the map goes, or when others are asked for", async () => {
    const [, port2] = channel();
    const session = await sessionWithMap([port2]);
    const [first, second] = [session.groups(CHOICE), session.groups({ ...CHOICE, numGroups: 2 })];
    await expect(first).rejects.toMatchObject({ code: "cancelled" });
    const { loaded } = await session.example("pfvc", 4);
    await expect(second).rejects.toMatchObject({ code: "cancelled" });
    await session.restore({ ...loaded, cohort }, null, fitted);
    expect((await session.individual(question)).membership).toHaveLength(0);
  });
});

describe("a table in a session", () => {
  const TABLE = "id,time,value\na,0,10\na,1,11\nb,0,<LOD\nb,1,\nc,0,9\nc,2,8\n";

  /** A file that counts how often it is streamed. */
  function counted(text: string): { readonly file: Blob; readonly streams: () => number } {
    const file = new Blob([text]);
    let streams = 0;
    const stream = () => {
      streams++;
      return new Blob([text]).stream();
    };
    return { file: Object.assign(file, { stream }), streams: () => streams };
  }

  it("is streamed once for a look at its head and once to be read, however often it is asked for", async () => {
    const session = createSession();
    const { file, streams } = counted(TABLE);
    const preview = await session.preview(file, "visits.csv");
    expect(preview.columns.map(({ name }) => name)).toEqual(["id", "time", "value"]);
    const checked = await session.check({});
    expect(checked.refused.map(({ code, where }) => [code, where.line])).toEqual([["censored-value", 4]]);
    expect(checked.leftOut).toEqual([
      { line: 4, cells: ["b", "0", "<LOD"] },
      { line: 5, cells: ["b", "1", ""] },
    ]);
    expect(await session.read({ onBad: "leave-out" })).toEqual(checked.loaded);
    await expect(session.read({})).rejects.toMatchObject({ code: "censored-value" });
    expect(streams()).toBe(2);
    await session.check({ marker: { transform: "log" } });
    expect(streams()).toBe(3);
  });

  it("tells how far it is read, and can be given up", async () => {
    const session = createSession();
    const long = `id,time,value\n${"a,0,10\n".repeat(100_000)}`;
    await session.preview(new Blob([long]), "long.csv");
    const checking = session.check({}, (done, of) => {
      expect(of).toBe(long.length);
      if (done > 0) void session.stopReading();
    });
    await expect(checking).rejects.toMatchObject({ code: "cancelled" });
    expect((await session.check({})).loaded.numRows).toBe(100_000);
  });
});

describe("model files of two sessions that differ by one visit", () => {
  it("tell nothing of it", async () => {
    const { offsets, times, values } = onlyMarker(cohort);
    const rows = cohort.ids.flatMap((id, i) =>
      Array.from({ length: offsets[i + 1]! - offsets[i]! }, (_, j) => {
        return `${id},${times[offsets[i]! + j]},${values[offsets[i]! + j]}`;
      }),
    );
    const fileOf = async (more: readonly string[]) => {
      const session = createSession(createHelpers(), createHelpers());
      await session.preview(new Blob([["id,time,value", ...rows, ...more].join("\n")]), "visits.csv");
      await session.check({});
      await session.read({});
      const choice = { kind: "dtm", mapDimension: 1, mean: "scalar", restarts: 0, maxIterations: 3, seed: 1 } as const;
      await session.fit(choice, () => {});
      return session.modelFile();
    };
    const last = `${cohort.ids[0]},${LAST.time},${LAST.value}`;
    expectNothingTold(await fileOf([]), await fileOf([last]), times);
  });
});

describe("a fit in a session", () => {
  it("that is paused before its first step waits, and goes on when told to", async () => {
    const session = createSession(createHelpers(), createHelpers());
    await session.example("pfvc", 4);
    const updates: FitUpdate[] = [];
    const choice = { kind: "dtm", mapDimension: 2, mean: "scalar", restarts: 0, maxIterations: 3, seed: 1 } as const;
    // The linear start is one piece of work: what is asked meanwhile is heard after it, before the first step.
    const fit = session.fit(choice, (update) => updates.push(update));
    await session.pauseFit(true);
    // A fit that is paused waits by timers: three of them are two turns in which it could have stepped.
    const waits = vi.spyOn(globalThis, "setTimeout");
    await vi.waitUntil(() => waits.mock.calls.filter(([, milliseconds]) => milliseconds === 60).length >= 3, 60_000);
    waits.mockRestore();
    expect(updates).toEqual([]);
    expect(await session.fitSnapshot()).not.toBeNull();
    await session.pauseFit(false);
    expect(await fit).toMatchObject({ finished: true });
    expect(updates.length).toBeGreaterThan(0);
  });

  it("whose first map has come is not paused: the other starts go on to their end", async () => {
    const session = createSession(createHelpers(), createHelpers());
    await session.example("pfvc", 4);
    const choice = { kind: "dtm", mapDimension: 2, mean: "scalar", restarts: 1, maxIterations: 2, seed: 1 } as const;
    const answers: Promise<boolean>[] = [];
    const onUpdate = ({ first }: FitUpdate) => {
      if (first !== undefined) answers.push(session.pauseFit(true));
    };
    expect(await session.fit(choice, onUpdate)).toMatchObject({ finished: true });
    expect(await Promise.all(answers)).toEqual([false]);
    expect(await session.pauseFit(true)).toBe(false);
  });

  it.each(["level", "level+serial"] as const)(
    "takes noise of any kind, and so do the questions after it: %s",
    async (noise) => {
      const session = await sessionWithMap([]);
      const choice = {
        kind: "dtm",
        mapDimension: 2,
        mean: "scalar",
        restarts: 0,
        maxIterations: 3,
        seed: 1,
        noise,
      } as const;
      const done = await session.fit(choice, () => undefined);
      expect(markerModel(done!.model).noise.kind).toBe(noise);
      const { observation, location } = await session.individual(question);
      expect(location.every(Number.isFinite)).toBe(true);
      expect(observation.median.every(Number.isFinite)).toBe(true);
      const [lmm] = await session.baselines();
      expect(markerModel(lmm!.model).noise.kind).toBe(noise);
      expect((await session.groups(CHOICE)).groups).toHaveLength(3);
    },
  );
});

describe("suspect values of a session", () => {
  const table = (rows: readonly string[]) => new Blob([["id,years,FVC", ...rows].join("\n")]);
  /** Steady courses of 40 individuals, one value of the last lost its decimal point. */
  const rows = Array.from({ length: 240 }, (_, k) => {
    const [i, j] = [Math.floor(k / 6), k % 6];
    const value = 70 + (i % 9) + Math.sin(7 * k) + (k === 237 ? 600 : 0);
    return `P${String(i).padStart(2, "0")},${j},${value.toFixed(1)}`;
  });

  it("are found in the table checked, by a helper or the engine, and in the cohort that it becomes", async () => {
    const [port1, port2] = channel();
    serve(port1);
    for (const ports of [[], [port2]]) {
      const looker = createHelpers();
      looker.seat(ports);
      const session = createSession(createHelpers(), createHelpers(), looker);
      await session.preview(table(rows), "visits.csv");
      await session.check({});
      const found = await session.suspects(true);
      // Lost by a factor of ten it is far from its neighbours too, and the table is told of it.
      expect(found).toMatchObject([{ id: "P39", time: 3, isFar: true }]);
      expect(found![0].probability).toBeGreaterThan(0.99);
      expect(Math.abs(found![0].expected - 73)).toBeLessThan(3);
      await expect(session.suspects(false)).rejects.toMatchObject({ code: "no-cohort" });
      await session.read({});
      expect(await session.suspects(false)).toEqual(found);
    }
  });
});

describe("resources of FHIR", () => {
  const observation = (person: string, day: number, value: number, unit: string) => ({
    resourceType: "Observation",
    status: "final",
    code: { coding: [{ system: "http://loinc.org", code: "2160-0", display: "Creatinine" }] },
    subject: { reference: `Patient/${person}` },
    effectiveDateTime: `2020-01-${10 + day}`,
    valueQuantity: { value, unit },
  });
  const patient = (id: string, more = {}) => ({ resourceType: "Patient", id, gender: "female", ...more });
  const file = (name: string, ...resources: object[]) =>
    new File([resources.map((one) => JSON.stringify(one)).join("\n")], name);
  const files = [
    file("Patient.ndjson", patient("a", { deceasedDateTime: "2020-03-01" }), patient("b")),
    file(
      "Observation.ndjson",
      ...[0, 1, 2].flatMap((day) => [observation("a", day, 1, "mg/dL"), observation("b", day, 88.42, "umol/L")]),
      { ...observation("a", 5, 1, "mg/dL"), status: "cancelled" },
    ),
  ];
  const markers = [{ codes: ["loinc|2160-0"], unit: "mg/dL" }];

  it("are recognised, listed, checked and taken over with their individuals", async () => {
    const session = createSession();
    expect(await session.isFhir(files[0], files[0].name)).toBe(true);
    expect(await session.isFhir(new Blob(["id,time,value"]), "visits.csv")).toBe(false);
    const told: number[] = [];
    const listing = await session.listCodes(files, {}, (bytes) => void told.push(bytes));
    expect(listing.codes).toMatchObject([{ code: "loinc|2160-0", values: 6, individuals: 2 }]);
    expect(told.at(-1)).toBe(files[0].size + files[1].size);
    const { loaded, subjects } = await session.check({ fhir: { markers } });
    expect(loaded).toMatchObject({ source: "2 files of FHIR", told: [{ code: "cancelled", count: 1 }] });
    expect(loaded.notes[0]).toBe("1 Observations that were cancelled: left out.");
    expect(Array.from(loaded.cohort.markers[0].values, (value) => Number(value.toFixed(3)))).toEqual([
      1, 1, 1, 1, 1, 1,
    ]);
    expect(subjects?.plain).toContain("death");
    await session.read({ fhir: { markers } });
    expect((await session.outcomes(["death"])).outcomes).toMatchObject([{ cases: 1, controls: 1 }]);
  });
});
