/**
 * Work in turn on the one thread there is. Whatever computes waits here, one after the other, and the loop of events runs in
 * between: requests are read, refused and logged while others wait. More than `most` waiting are refused at once, with the
 * seconds after which it is worth asking again, because an answer that comes too late is worth less than a quick no.
 */
import { RequestError } from "./problem.ts";

export interface Queue {
  /** How many wait. */
  readonly length: number;
  run<T>(work: () => T): Promise<T>;
}

/** Share of the newest duration in the running mean. */
const NEWEST = 0.1;

export function createQueue(most: number): Queue {
  const waiting: (() => void)[] = [];
  let isAwake = false;
  let milliseconds = 1;
  const next = () => {
    const work = waiting.shift();
    if (work === undefined) {
      isAwake = false;
      return;
    }
    const began = performance.now();
    work();
    milliseconds += NEWEST * (performance.now() - began - milliseconds);
    setImmediate(next);
  };
  return {
    get length() {
      return waiting.length;
    },
    run: <T>(work: () => T) => {
      if (waiting.length >= most) {
        const seconds = Math.max(1, Math.ceil((waiting.length * milliseconds) / 1000));
        const problem = {
          code: "busy",
          message: `Expected at most ${most} requests at once, received one more. Ask again in ${seconds} s.`,
          remedy: `Ask again in ${seconds} s.`,
        };
        return Promise.reject(new RequestError(503, problem, { "Retry-After": String(seconds) }));
      }
      return new Promise<T>((resolve, reject) => {
        waiting.push(() => {
          try {
            resolve(work());
          } catch (error) {
            reject(error);
          }
        });
        if (isAwake) return;
        isAwake = true;
        setImmediate(next);
      });
    },
  };
}
