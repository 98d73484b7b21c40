import { embed, fitDtm, groupPlaces, simulateCohort } from "@trajectory-maps/core";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Engine, Fitted } from "./api.ts";
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
async function sessionWithMap(ports: readonly MessagePort[]): Promise<Engine> {
  const grouper = createHelpers();
  grouper.seat(ports);
  const session = createSession(createHelpers(), grouper);
  const { loaded } = await session.example("pfvc", 4);
  await session.restore({ ...loaded, cohort }, null, fitted);
  return session;
}

const question = { id: "new", times: [1, 2], values: [70, 68], at: [1, 5] };

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
