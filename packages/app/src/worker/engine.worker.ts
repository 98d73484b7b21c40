/** The worker: one session of the explorer, behind one door that turns errors into data. */
import { expose } from "comlink";
import type { Engine } from "./api.ts";
import { toResult } from "./results.ts";
import { createSession } from "./session.ts";

const session = createSession();

const door = {
  call: (method: keyof Engine, ...args: unknown[]) =>
    toResult(() => (session[method] as (...rest: unknown[]) => Promise<unknown>)(...args)),
};

export type EngineDoor = typeof door;

expose(door);
