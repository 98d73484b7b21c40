/** Everything that reading FHIR may leave out or decide by itself, in words; each is counted. */

interface Told {
  readonly what: string;
  /** What was done. */
  readonly done: string;
  /** What may be asked for instead, on the command line. */
  readonly instead?: string;
}

const TOLD = {
  "entered-in-error": { what: "Observations entered in error", done: "left out" },
  cancelled: { what: "Observations that were cancelled", done: "left out" },
  preliminary: {
    what: "preliminary Observations",
    done: "left out",
    instead: "take them with --fhir-status final,amended,corrected,preliminary",
  },
  registered: { what: "registered Observations, without a result yet", done: "left out" },
  "other-status": {
    what: "Observations of unknown or another status",
    done: "left out",
    instead: "name those to take with --fhir-status",
  },
  "modifier-extension": {
    what: "Observations with a modifierExtension, which may change what they mean",
    done: "left out",
  },
  "older-version": { what: "older versions of an Observation", done: "the newest of each id is kept" },
  "same-version": { what: "Observations that came twice, with one id and version", done: "taken once" },
  "several-codings": { what: "Observations with several codings", done: "taken once, by the code that was asked for" },
  "two-markers": { what: "concepts that have codes of two markers", done: "taken for the first marker" },
  "no-subject": { what: "Observations without a subject", done: "left out" },
  "not-a-patient": { what: "Observations of a group, device, place or contained subject", done: "left out" },
  "no-time": { what: "Observations without an effective time", done: "left out" },
  period: {
    what: "effective periods",
    done: "dated by their start, or as was asked for",
    instead: "choose with --fhir-period",
  },
  timing: { what: "effective timings with one event", done: "dated by it" },
  "several-times": { what: "effective timings with several events or none", done: "left out" },
  "partial-date": { what: "dates without a day", done: "left out", instead: "take them with --partial-dates middle" },
  "completed-date": { what: "dates without a day", done: "taken at the middle of their month or year" },
  "no-such-date": { what: "dates that are none", done: "left out" },
  absent: { what: "values absent for a reason that is given (dataAbsentReason)", done: "left out" },
  "no-value": { what: "Observations without a value", done: "left out" },
  panel: { what: "panels that only refer to their members", done: "left out: ask for the codes of the members" },
  contained: {
    what: "values of contained members of a panel",
    done: "taken, with subject and time of the panel where they have none",
  },
  component: { what: "values of components", done: "taken" },
  string: { what: "numbers written as text (valueString)", done: "left out", instead: "take them with --fhir-strings" },
  "string-taken": { what: "numbers written as text (valueString)", done: "taken, as was asked for" },
  "not-a-number": { what: "values that are no number (text, codes, yes or no)", done: "left out" },
  sampled: { what: "series of samples (valueSampledData)", done: "left out" },
  limit: { what: "values with a comparator (<, <=, >, >=)", done: "taken as limits of detection" },
  "unit-contradiction": { what: "values whose code of the unit and text of the unit are two units", done: "left out" },
  "other-comparator": { what: "values with another comparator", done: "left out" },
  "two-servers": {
    what: "ids that patients of two servers have",
    done: "taken as two individuals each, with their addresses as ids",
  },
  "unknown-server": { what: "values of such an id that name no server", done: "left out" },
  "not-resource": { what: "JSON documents that are no FHIR resource", done: "passed over" },
  "death-without-day": { what: "patients who died on an unknown day", done: "without an outcome of death" },
  "death-before": { what: "patients who died before their first value", done: "without an outcome of death" },
  "no-patient": { what: "individuals without a Patient resource", done: "their age, sex and death are unknown" },
  "linked-patient": { what: "patients linked to another record", done: "kept apart" },
  "modifier-patient": {
    what: "Patients with a modifierExtension",
    done: "their age, sex and death are unknown",
  },
  "modifier-condition": { what: "Conditions with a modifierExtension", done: "left out" },
  "refuted-condition": { what: "Conditions refuted or entered in error", done: "left out" },
  "unconfirmed-condition": { what: "Conditions that are not confirmed", done: "left out" },
  "condition-recorded": { what: "Conditions without an onset", done: "dated by the day they were recorded" },
  "condition-without-day": { what: "Conditions without any day", done: "counted as ever, without a time" },
} as const satisfies Readonly<Record<string, Told>>;

export type ToldCode = keyof typeof TOLD;

/** One line of what is told after reading. */
export interface ToldLine extends Told {
  readonly code: ToldCode;
  readonly count: number;
}

export type Tally = Map<ToldCode, number>;

export function count(tally: Tally, code: ToldCode, by = 1): void {
  tally.set(code, (tally.get(code) ?? 0) + by);
}

/** What was done, and what the command line may be asked for instead. */
export function doneWords({ done, instead }: ToldLine): string {
  return instead === undefined ? done : `${done}; ${instead}`;
}

/** A line as a sentence. */
export function toldWords(line: ToldLine): string {
  return `${line.count} ${line.what}: ${doneWords(line)}.`;
}

/** What was counted, in the order of the table above. */
export function toldLines(tally: Tally): ToldLine[] {
  return (Object.keys(TOLD) as ToldCode[]).flatMap((code) => {
    const found = tally.get(code) ?? 0;
    return found === 0 ? [] : [{ code, count: found, ...TOLD[code] }];
  });
}
