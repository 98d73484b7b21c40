/** Patients that are looked at: what was typed of each, what the model answers, and the ghost of a course before it was changed. */
import { encodeFor, timeUnitOf, writeDay } from "@trajectory-maps/core/ingest";
import { typicalRow } from "../state/covariate-rows.ts";
import type { CovariateRow } from "../state/held.svelte.ts";
import { type AskedValue, type UsableVisits, usableVisits } from "../views/map/visits-text.ts";
import type { IndividualAnswer } from "../worker/api.ts";
import { answerIndividual } from "../worker/individual.ts";
import type { PatientStudy } from "./patient-study.ts";
import { horizonOf } from "./patient-words.ts";
import { type ReadTimes, readTimes, type TimeRule } from "./visit-times.ts";

export interface VisitRow {
  readonly key: number;
  time: string;
  values: string[];
  /** Of each marker the value that is kept though it is odd. */
  kept: (string | undefined)[];
}

export interface Patient {
  readonly key: number;
  /** Typed for the list and the printed page; empty if nobody did. */
  name: string;
  /** Date that times are counted from, where it was given. */
  start: string;
  rows: VisitRow[];
  covariates: CovariateRow;
  thresholds: (number | null)[];
}

/** What was typed, as the model reads it. */
export interface ReadPatient {
  readonly times: ReadTimes;
  readonly markers: readonly UsableVisits[];
  readonly complaints: readonly string[];
  readonly asked: readonly (AskedValue & { readonly marker: number })[];
}

/** A patient as it was before visits were changed on the chart. */
export interface Ghost {
  readonly rows: readonly VisitRow[];
  readonly start: string;
  readonly markers: readonly UsableVisits[];
  readonly answers: readonly IndividualAnswer[];
}

type Answered = { readonly answers: readonly IndividualAnswer[]; readonly problem: string };

export class Patients {
  readonly study: PatientStudy;
  /** Whether times may be dates: only where the model says in which unit its times are. */
  readonly takesDates: boolean;
  list: Patient[] = $state([]);
  at = $state(0);
  ghost: Ghost | null = $state.raw(null);
  #nextKey = 0;
  readonly #rule: TimeRule;

  constructor(study: PatientStudy) {
    this.study = study;
    const [{ marker, columns }] = study.model.markers;
    this.#rule = { unit: marker.timeUnit, ...(columns?.origin !== undefined && { origin: columns.origin }) };
    this.takesDates = timeUnitOf(marker.timeUnit) !== undefined;
    this.list = [this.#blank()];
  }

  readonly patient: Patient = $derived.by(() => this.list[this.at]);
  readonly read: ReadPatient = $derived.by(() => this.#read(this.patient));
  readonly answered: Answered = $derived.by(() => this.#answer(this.patient, this.read));

  /** What a patient is called. */
  nameOf(k: number): string {
    return this.list[k].name.trim() || `Patient ${k + 1}`;
  }

  row(time = "", values: readonly string[] = []): VisitRow {
    const { markers } = this.study;
    return {
      key: this.#nextKey++,
      time,
      values: markers.map((_, k) => values[k] ?? ""),
      kept: markers.map(() => undefined),
    };
  }

  add(): void {
    this.ghost = null;
    this.list.push(this.#blank());
    this.at = this.list.length - 1;
  }

  choose(k: number): void {
    this.ghost = null;
    this.at = k;
  }

  remove(): void {
    this.ghost = null;
    this.list.splice(this.at, 1);
    if (this.list.length === 0) this.list.push(this.#blank());
    this.at = Math.min(this.at, this.list.length - 1);
  }

  /** Takes up patients that were kept. */
  restore(kept: readonly Omit<Patient, "key">[]): void {
    if (kept.length === 0) return;
    this.list = kept.map((one) => {
      const rows = one.rows.map(({ time, values, kept: odd }) => ({ ...this.row(time, values), kept: [...odd] }));
      return { ...this.#blank(), ...one, key: this.#nextKey++, rows };
    });
    this.at = 0;
  }

  /** Moves a visit of a marker on the chart; the course before stays as a ghost. */
  move(k: number, visit: number, time: number, value: number): void {
    this.#haunt();
    const { rows, times, values } = this.read.markers[k];
    const row = this.patient.rows[rows[visit]];
    if (row === undefined) return;
    const typed = this.#typed(k, time, value);
    // Along an axis on which nothing moved, what was typed stays: other markers may have the same time.
    const t = time === times[visit] ? row.time : typed[0];
    const y = value === values[visit] ? row.values[k] : typed[1];
    row.time = t;
    row.values[k] = y;
    // What is dragged is meant.
    row.kept[k] = y;
  }

  /** Adds a visit of a marker; its place among the visits of the marker. */
  put(k: number, time: number, value: number): number {
    this.#haunt();
    const [t, y] = this.#typed(k, time, value);
    const made = this.row(t);
    made.values[k] = y;
    made.kept[k] = y;
    const { rows } = this.patient;
    const empty = rows.findIndex((row) => row.time.trim() === "" && row.values.every((v) => v.trim() === ""));
    rows.splice(empty < 0 ? rows.length : empty, empty < 0 ? 0 : 1, made);
    return this.read.markers[k].rows.findIndex((at) => rows[at].key === made.key);
  }

  take(k: number, visit: number): void {
    this.#haunt();
    const { rows } = this.patient;
    const at = this.read.markers[k].rows[visit];
    if (at === undefined) return;
    rows[at].values[k] = "";
    if (rows[at].values.every((v) => v.trim() === "")) rows.splice(at, 1);
    if (rows.length === 0) rows.push(this.row());
  }

  /** Back to what it was before visits were changed. */
  undo(): void {
    const { ghost } = this;
    if (ghost === null) return;
    this.patient.rows = ghost.rows.map((row) => ({ ...row, values: [...row.values], kept: [...row.kept] }));
    this.patient.start = ghost.start;
    this.ghost = null;
  }

  /** Keeps the changed visits as a patient of their own beside the one they were changed from. */
  keep(): void {
    if (this.ghost === null) return;
    const { patient } = this;
    const changed = $state.snapshot(patient) as Patient;
    const name = this.nameOf(this.at);
    this.undo();
    const many = this.list.filter((other) => other.name.startsWith(`${name}, what if`)).length;
    const rows = changed.rows.map((row) => ({ ...row, key: this.#nextKey++ }));
    const kept = {
      ...changed,
      key: this.#nextKey++,
      rows,
      name: `${name}, what if${many === 0 ? "" : ` ${many + 1}`}`,
    };
    this.list.splice(this.at + 1, 0, kept);
    this.at++;
  }

  #blank(): Patient {
    const { coding, markers } = this.study;
    return {
      key: this.#nextKey++,
      name: "",
      start: "",
      rows: [this.row(), this.row(), this.row()],
      covariates: coding === undefined ? {} : typicalRow(coding),
      thresholds: markers.map(({ threshold }) => threshold),
    };
  }

  /** Keeps the patient as it stands, once, before the first change on the chart. */
  #haunt(): void {
    if (this.ghost !== null) return;
    const { rows, start } = $state.snapshot(this.patient) as Patient;
    this.ghost = { rows, start, markers: this.read.markers, answers: this.answered.answers };
    const { counted } = this.read.times;
    // The first visit may be the one that moves: what times are counted from must not.
    if (counted !== null && start === "") this.patient.start = writeDay(counted.origin);
  }

  /** A time and a value as they would be typed. */
  #typed(k: number, time: number, value: number): [string, string] {
    const { words } = this.study.markers[k];
    const { counted } = this.read.times;
    const t = counted === null ? String(time) : writeDay(Math.round(counted.origin + time * counted.days));
    const y = words.transform === "identity" ? Number(value.toFixed(words.decimals)) : Number(value.toPrecision(3));
    return [t, String(y)];
  }

  #read({ rows, start }: Patient): ReadPatient {
    const { markers } = this.study;
    const times = readTimes(
      rows.map(({ time }) => time),
      this.#rule,
      start,
    );
    const read = markers.map(({ known, words }, k) =>
      usableVisits(
        rows.map(({ values, kept }, j) => ({
          time: times.times[j],
          value: values[k] ?? "",
          ...(kept[k] !== undefined && { kept: kept[k] }),
        })),
        known,
        markers.length > 1 ? words.name : "",
      ),
    );
    return {
      times,
      markers: read,
      complaints: [...times.complaints, ...read.flatMap(({ complaints }) => complaints)],
      asked: read.flatMap(({ asked }, marker) => asked.map((one) => ({ ...one, marker }))),
    };
  }

  #answer({ covariates, thresholds }: Patient, { markers: visits }: ReadPatient): Answered {
    const { study } = this;
    const { model, mixture, regions, coding, markers } = study;
    try {
      const coded = coding && { covariates: encodeFor(coding, covariates) };
      const last = Math.max(...visits.flatMap(({ times }) => times), Number.NEGATIVE_INFINITY);
      const answers = markers.map(({ times, words }, marker) => {
        const at = [...new Set([...times, horizonOf(last, words)])].sort((a, b) => a - b);
        const threshold = thresholds[marker];
        const asked = { id: "patient", visits, ...coded, marker, at, ...(threshold !== null && { threshold }) };
        return answerIndividual(model, mixture, regions, asked);
      });
      return { answers, problem: "" };
    } catch (error) {
      // The name of a function at the head of a message says nothing to a reader.
      return { answers: [], problem: (error instanceof Error ? error.message : String(error)).replace(/^\w+: /, "") };
    }
  }
}
