import { syncBuiltinESMExports } from "node:module";
import process from "node:process";
import tty from "node:tty";
import { afterEach, expect, it } from "vitest";
import { exitCodeOf, StoppedError } from "../exit-codes.ts";
import { listenForSignals, type StopSignal } from "./signals.ts";

const { isatty } = tty;
function withTerminal(has: boolean): void {
  tty.isatty = () => has;
  syncBuiltinESMExports();
}
afterEach(() => {
  tty.isatty = isatty;
  syncBuiltinESMExports();
});

/** What was heard of a signal, with its exit code. */
function heard(signal: StopSignal): number | undefined {
  // Those of the test's own process, which it would end.
  const others = process.listeners(signal);
  process.removeAllListeners(signal);
  const { received, release } = listenForSignals(() => {});
  process.emit(signal, signal);
  release();
  for (const listener of others) process.on(signal, listener);
  const found = received();
  return found === undefined ? undefined : exitCodeOf(new StoppedError(found, ""));
}

it("stops work whose terminal goes away, and not work that has none, as under nohup", () => {
  withTerminal(true);
  expect([heard("SIGINT"), heard("SIGTERM"), heard("SIGHUP")]).toEqual([130, 143, 129]);
  withTerminal(false);
  expect([heard("SIGINT"), heard("SIGTERM"), heard("SIGHUP")]).toEqual([130, 143, undefined]);
});
