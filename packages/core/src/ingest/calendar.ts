/**
 * Days of the calendar as whole numbers since 1 January 1970, by integer arithmetic alone: no clock, no time zone, no Date. A year is
 * counted from March, so that the leap day is its last: with y the year, m the month from March (0) and d the day,
 *   days = 365 y + ⌊y/4⌋ − ⌊y/100⌋ + ⌊y/400⌋ + ⌊(153 m + 2)/5⌋ + d − 719469.
 */

/** Years that dates of visits, onsets and births can be of; what lies outside stands for something else. */
export const FIRST_YEAR = 1800;
export const LAST_YEAR = 2199;

/** Days from 1 January 1970 to a date of the Gregorian calendar. */
export function dayNumber(year: number, month: number, day: number): number {
  const y = month > 2 ? year : year - 1;
  const m = month > 2 ? month - 3 : month + 9;
  const leapDays = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400);
  return 365 * y + leapDays + Math.floor((153 * m + 2) / 5) + day - 719_469;
}

/** The date so many days from 1 January 1970, as 2020-01-31. */
export function writeDay(days: number): string {
  let year = 1970 + Math.floor(days / 365.2425);
  while (dayNumber(year, 1, 1) > days) year--;
  while (dayNumber(year + 1, 1, 1) <= days) year++;
  let month = 12;
  while (dayNumber(year, month, 1) > days) month--;
  const two = (n: number) => String(n).padStart(2, "0");
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(days - dayNumber(year, month, 1) + 1)}`;
}

/** Whether a date is in the calendar, of a year that dates can be of. */
export function isDate(year: number, month: number, day: number): boolean {
  return year >= FIRST_YEAR && year <= LAST_YEAR && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** What times may be counted in, with the days of each: a year is 365.25 days, a month its twelfth. */
export const DAYS_PER = { years: 365.25, months: 30.4375, weeks: 7, days: 1 } as const;
export type TimeUnit = keyof typeof DAYS_PER;
export const TIME_UNITS = Object.keys(DAYS_PER) as readonly TimeUnit[];

/** Words of each unit in English, German, French, Spanish, Italian, Dutch and Portuguese, as patterns. */
export const UNIT_WORDS: Readonly<Record<TimeUnit, string>> = {
  years: "years?|yrs?|y|a|jahre?|ans?|ann[eé]es?|a[nñ]os?|ann[oi]|jaar|jaren",
  months: "months?|mon|mos?|m|monate?|mois|m[eê]s|mes[ei]s?|maand|maanden",
  weeks: "weeks?|wks?|w|wochen?|semaines?|semanas?|settiman[ae]|weken",
  days: "days?|d|tage?|jours?|d[ií]as?|giorn[oi]|dag|dagen",
};

const UNIT_PATTERNS = TIME_UNITS.map((unit) => [unit, new RegExp(`^(?:${UNIT_WORDS[unit]})$`)] as const);

/** The unit that a word means: "years" of "yr"; undefined if none. */
export function timeUnitOf(word: string): TimeUnit | undefined {
  const bare = word.trim().toLowerCase();
  return UNIT_PATTERNS.find(([, pattern]) => pattern.test(bare))?.[0];
}
