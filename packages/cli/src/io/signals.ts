/**
 * Being asked to stop. The first signal is noted, so that work can be kept; the second finds the system's own handler
 * again and stops the program at once. A terminal that goes away (SIGHUP) asks to stop what it shows; work without a terminal (nohup, a
 * scheduler) goes on.
 */
import process from "node:process";
import { isatty } from "node:tty";

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

export interface Signals {
  /** The signal received, if any. */
  readonly received: () => StopSignal | undefined;
  /** Stops listening. */
  readonly release: () => void;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A promise of the first signal; listening ends with it. */
export function firstSignal(): Promise<StopSignal> {
  return new Promise((resolve) => {
    listenForSignals(resolve);
  });
}

export function listenForSignals(onFirst: (signal: StopSignal) => void): Signals {
  let received: StopSignal | undefined;
  const release = () => {
    for (const name of SIGNALS) process.removeListener(name, note);
  };
  const note = (name: NodeJS.Signals) => {
    const signal = SIGNALS.find((known) => known === name) ?? "SIGINT";
    if (signal === "SIGHUP" && !hasTerminal()) return;
    received = signal;
    release();
    onFirst(signal);
  };
  for (const name of SIGNALS) process.on(name, note);
  return { received: () => received, release };
}

function hasTerminal(): boolean {
  return [0, 1, 2].some(isatty);
}
