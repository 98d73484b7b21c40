/**
 * Being asked to stop. The first signal is noted, so that work can be kept; the second finds the system's own handler
 * again and stops the program at once.
 */
import process from "node:process";

export type StopSignal = "SIGINT" | "SIGTERM";

export interface Signals {
  /** The signal received, if any. */
  readonly received: () => StopSignal | undefined;
  /** Stops listening. */
  readonly release: () => void;
}

/** A promise of the first signal; listening ends with it. */
export function firstSignal(): Promise<StopSignal> {
  return new Promise((resolve) => {
    listenForSignals(resolve);
  });
}

export function listenForSignals(onFirst: (signal: StopSignal) => void): Signals {
  let received: StopSignal | undefined;
  const release = () => {
    process.removeListener("SIGINT", note);
    process.removeListener("SIGTERM", note);
  };
  const note = (signal: NodeJS.Signals) => {
    received = signal === "SIGTERM" ? "SIGTERM" : "SIGINT";
    release();
    onFirst(received);
  };
  process.on("SIGINT", note);
  process.on("SIGTERM", note);
  return { received: () => received, release };
}
