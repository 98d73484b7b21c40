/**
 * The worker: one session of the explorer, behind one door that turns errors into data; or, started from the same source,
 * a helper of it.
 */
import { expose } from "comlink";
import type { Engine } from "./api.ts";
import { createHelpers, serve } from "./helpers.ts";
import { toResult } from "./results.ts";
import { createSession } from "./session.ts";

const helpers = createHelpers();
const session = createSession(helpers);

const door = {
  /** Calls the engine; `ports` lead to helpers for this call, none if it needs none. */
  call: (method: keyof Engine, ports: readonly MessagePort[], ...args: unknown[]) =>
    toResult(() => {
      if (ports.length > 0) helpers.seat(ports);
      return (session[method] as (...rest: unknown[]) => Promise<unknown>)(...args);
    }),
  /** Makes this worker a helper of the engine at the other end. */
  help: (port: MessagePort) => serve(port),
};

export type EngineDoor = typeof door;

expose(door);
