/** Names of months and days of the week in English, German, French, Spanish, Italian, Dutch and Portuguese, or their first letters. */

/** Names of each month, January first, and short forms that are no first letters of one; without accents. */
const MONTHS: readonly string[] = [
  "january januar janner janvier enero gennaio januari janeiro",
  "february februar fevrier febrero febbraio februari fevereiro",
  "march marz maerz mars marzo maart marco mrz mrt",
  "april avril abril aprile",
  "may mai mayo maggio mei maio",
  "june juni juin junio giugno junho",
  "july juli juillet julio luglio julho",
  "august aout agosto augustus",
  "september septembre septiembre settembre setembro setiembre",
  "october oktober octobre octubre ottobre outubro",
  "november novembre noviembre novembro",
  "december dezember decembre diciembre dicembre dezembro",
];

const WEEKDAYS =
  "monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag " +
  "lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miercoles jueves viernes sabado domingo " +
  "lunedi martedi mercoledi giovedi venerdi sabato domenica maandag dinsdag woensdag donderdag vrijdag zaterdag zondag " +
  "segunda-feira terca-feira quarta-feira quinta-feira sexta-feira";

const MONTH_WORDS = MONTHS.map((names) => names.split(" "));
const WEEKDAY_WORDS = WEEKDAYS.split(" ");

/** A word in small letters without accents. */
function plainWord(word: string): string {
  return word.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

/** The month (1 to 12) of a name or its first letters, three at least; 0 if it is none, or more than one: jui is of juin and juillet. */
export function monthNamed(name: string): number {
  const word = plainWord(name);
  if (word.length < 3) return 0;
  const found = MONTH_WORDS.flatMap((names, k) => (names.some((one) => one.startsWith(word)) ? [k + 1] : []));
  return found.length === 1 ? found[0] : 0;
}

/** Whether a word is the name of a day of the week or begins one. */
export function isWeekday(name: string): boolean {
  const word = plainWord(name);
  return word.length > 1 && WEEKDAY_WORDS.some((one) => one.startsWith(word));
}
