/** Round numbers along an axis, for the charts of report and explorer. */

/** The step of 1, 2 or 5 times a power of ten that comes nearest, as a ratio, to `count` steps over the span. */
export function niceStep(span: number, count: number): number {
  if (!(span > 0)) return 1;
  const rough = span / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const excess = rough / power;
  const factor = excess >= Math.sqrt(50) ? 10 : excess >= Math.sqrt(10) ? 5 : excess >= Math.SQRT2 ? 2 : 1;
  return factor * power;
}

/** Multiples of the step from `low` to `high`, both included. */
export function ticksOf(low: number, high: number, step: number): number[] {
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  // Whole multiples, so that 0.3 is not 0.30000000000000004; + 0 turns −0 into 0.
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, k) =>
    Number(((first + k) * step + 0).toPrecision(12)),
  );
}

/** Round numbers inside a range, about `count` of them. */
export function roundTicks(low: number, high: number, count: number): number[] {
  return high > low ? ticksOf(low, high, niceStep(high - low, count)) : [low];
}

/** A range with its ends moved out to a round number where one is near (3%): visits from day 2 on start at 0. */
export function roundSpan(first: number, last: number, count: number): [number, number] {
  const step = niceStep(last - first, count);
  const near = 0.03 * (last - first);
  const low = Math.floor(first / step + 1e-9) * step;
  const high = Math.ceil(last / step - 1e-9) * step;
  return [first - low <= near ? low + 0 : first, high - last <= near ? high : last];
}
