/**
 * Moments as the clock of a time zone shows them, whatever the zone of the machine: of a fixed offset by adding it, of a zone by name (Europe/Berlin) by the
 * tables of the language. A zone that only says UTC tells nothing of where a visit was, and is none.
 */

/** Changes of clocks fall on whole quarters of an hour in UTC: the offset is looked up once for each. */
const QUARTER = 900_000;
/** Offsets kept. */
const MOST_KEPT = 100_000;

/** From milliseconds since 1970 to those that the zone's clock shows; undefined for UTC, none, and unknown zones. */
export function zoneClock(zone: string): ((milliseconds: number) => number) | undefined {
  const name = zone.trim();
  if (/^(?:|Z|UTC|GMT|Etc\/(?:UTC|GMT|Zulu|UCT|Universal)|Zulu|UCT|Universal)$/i.test(name)) return undefined;
  const fixed = /^(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?$/i.exec(name);
  if (fixed !== null) {
    const offset = (fixed[1] === "-" ? -1 : 1) * (Number(fixed[2]) * 60 + Number(fixed[3] ?? 0)) * 60_000;
    return offset === 0 ? undefined : (milliseconds) => milliseconds + offset;
  }
  const format = formatOf(name);
  if (format === undefined) return undefined;
  const offsets = new Map<number, number>();
  return (milliseconds) => {
    const quarter = Math.floor(milliseconds / QUARTER);
    let offset = offsets.get(quarter);
    if (offset === undefined) {
      offset = shownBy(format, quarter * QUARTER) - quarter * QUARTER;
      if (offsets.size === MOST_KEPT) offsets.clear();
      offsets.set(quarter, offset);
    }
    return milliseconds + offset;
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  const number = "numeric";
  try {
    return new Intl.DateTimeFormat("en-US", {
      ...{ timeZone, calendar: "gregory", numberingSystem: "latn", hourCycle: "h23" },
      ...{ year: number, month: number, day: number, hour: number, minute: number, second: number },
    });
  } catch {
    return undefined;
  }
}

/** What a clock shows at a moment, as if it were UTC. */
function shownBy(format: Intl.DateTimeFormat, milliseconds: number): number {
  if (Number.isNaN(milliseconds)) return Number.NaN;
  const parts = new Map(format.formatToParts(milliseconds).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  return Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
}
