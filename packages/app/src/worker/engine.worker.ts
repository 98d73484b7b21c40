/**
 * The worker: one session of the explorer, behind one door that turns errors into data; or, started from the same source,
 * a helper of it.
 */
import { expose } from "comlink";
import type { WorkerApi } from "./api.ts";
import { createHelpers, type Helpers, serve } from "./helpers.ts";
import { toResult } from "./results.ts";
import { createSession } from "./session.ts";

const helpers = createHelpers();
// Groups have a helper of their own: they are made while outcomes or stability are studied.
const grouper = createHelpers();
// Suspect values too: they are looked for while the table is read about and the map is fitted.
const looker = createHelpers();
const session = createSession(helpers, grouper, looker);
const HELPED: Readonly<Partial<Record<keyof WorkerApi, Helpers>>> = {
  associate: helpers,
  stability: helpers,
  compare: helpers,
  groups: grouper,
  suspects: looker,
};

const door = {
  /** Calls the engine; `ports` lead to helpers for this call, none if it needs none. */
  call: (method: keyof WorkerApi, ports: readonly MessagePort[], ...args: unknown[]) =>
    toResult(() => {
      HELPED[method]?.seat(ports);
      return (session[method] as (...rest: unknown[]) => Promise<unknown>)(...args);
    }),
  /** Makes this worker a helper of the engine at the other end. */
  help: (port: MessagePort) => serve(port),
};

export type EngineDoor = typeof door;

expose(door);
