/**
 * One run for all iterative fits: stepped, watched, stored and resumed bit for bit, started several times, finished at
 * any moment. What a model brings is an `IterativeFit` over a state of plain data; the run adds what every model needs
 * alike: cancelling, progress, the clock, snapshots bound to their data, the best of several starts, and the record.
 */
import { cohortSizes } from "../basis/cohort-sums.ts";
import { type BasisStatistics, type CohortStatistics, statisticsColumns } from "../basis/statistics.ts";
import { DtmError } from "../errors.ts";
import { bytesChecksum } from "../numeric/crc.ts";
import { procrustes } from "../numeric/procrustes.ts";
import {
  checkCancelled,
  type FitControl,
  type FitProgress,
  type FitRecord,
  LIBRARY_VERSION,
  now,
  type StartResult,
} from "./fit.ts";
import { startName } from "./map-start.ts";
import type { RowSums } from "./shards.ts";

/** What the state of every fit holds beside the model's own: plain data throughout, so that it can be stored. */
export interface FitState {
  /** The stage under way; "done" after the last. */
  stage: string;
  iteration: number;
  /** Bound after each iteration; those of different stages need not compare. */
  trace: number[];
}

interface Fitted {
  readonly kind: string;
}

/** A fit as a run turns it. Functions that take a state may change it, unless they say otherwise. */
export interface IterativeFit<State extends FitState, Inputs, Model extends Fitted> {
  readonly kind: Model["kind"];
  readonly mapDimension: number;
  /** Further starts after the first. */
  readonly restarts: number;
  /** What the fit was made from beside the statistics, plain data; `startsLeft` is false once no start is to come. */
  inputs(startsLeft: boolean): Inputs;
  /** The state before the first step of a start; 0 is the recommended one. */
  begin(start: number): State;
  /** One step; sets the stage to "done" after the last one. */
  step(state: State): void;
  /** Where the state stands, left as it is. */
  progress(state: State): FitProgress;
  /** Under which name the time of the next step is recorded. */
  clock(state: State): string;
  /** Means of everybody's place under the state, fit's frame, [m,q]; the state stays as it is. */
  places(state: State): Float64Array;
  /** Ends a state that is not done where it stands: no further iterations. */
  close(state: State): void;
  /** The model of a state that is done or closed. */
  model(state: State, story: RunStory): Model;
}

/** What a record tells beside the state. */
export interface RunStory {
  /** Whether the caller ended the fit before it was done. */
  readonly interrupted: boolean;
  /** What the starts came to, the best first. */
  readonly starts: readonly StartResult[];
  readonly milliseconds: { readonly [stage: string]: number };
}

/** Where a run stands. */
export interface RunProgress extends FitProgress {
  /** Whether the start under way has just ended, and how many are to come: the run is done when none is. */
  readonly startDone: boolean;
  readonly startsLeft: number;
  readonly done: boolean;
}

/** A fit under way. */
export interface FitRun<State extends FitState, Inputs, Model extends Fitted> {
  /** One step; `done` when the fit has stopped. */
  step(): RunProgress;
  progress(): RunProgress;
  /** A copy of all that is needed to resume; survives structured clone. */
  snapshot(): RunSnapshot<State, Inputs, Model["kind"]>;
  /** Means of everybody's place as the fit stands, its own frame, [m,q]: for watching a fit settle; one pass over the cohort. */
  places(): Float64Array;
  /** The model of the best start that has ended or, before one has, of the first where it stands; the run can go on. */
  finish(): Model;
}

/** A stored run. */
export interface RunSnapshot<State extends FitState, Inputs, Kind extends string> {
  readonly kind: Kind;
  /** Version of the library that took it. */
  readonly version: string;
  /** Checksum of the statistics: a snapshot is only good for the cohort it was taken from. */
  readonly data: string;
  /** Basis of each marker, and the noise by which its statistics were whitened. */
  readonly markers: readonly Pick<BasisStatistics, "basis" | "noise">[];
  readonly inputs: Inputs;
  /** Index of the start under way, and its state. */
  readonly start: number;
  readonly state: State;
  readonly finished: readonly FinishedStart[];
  readonly best: { readonly start: number; readonly state: State } | null;
  readonly milliseconds: { readonly [stage: string]: number };
}

/** What is kept of a finished start for comparison. */
export interface FinishedStart {
  readonly start: number;
  readonly bound: number;
  /** Means of the places, [m,q]; empty without restarts. */
  readonly places: Float64Array;
}

/** Starts a run, or goes on with a stored one; nothing is computed before the first `step`. */
export function openRun<State extends FitState, Inputs, Model extends Fitted>(
  fit: IterativeFit<State, Inputs, Model>,
  statistics: CohortStatistics,
  control: FitControl,
  stored: RunSnapshot<State, Inputs, Model["kind"]> | null = null,
): FitRun<State, Inputs, Model> {
  if (stored !== null) {
    checkSnapshot(stored, [fit.kind]);
    checkSnapshotData(stored, statistics);
  }
  let start = stored?.start ?? 0;
  let state = stored === null ? fit.begin(0) : clonePlain(stored.state);
  let ended: Ended<State> = { finished: stored?.finished ?? [], best: stored?.best ?? null };
  const milliseconds: Record<string, number> = { ...stored?.milliseconds };
  const startsLeft = () => fit.restarts - start;
  const isDone = () => state.stage === "done";
  const progress = (): RunProgress => {
    const told = fit.progress(state);
    const stage = fit.restarts === 0 ? told.stage : `${told.stage}, start ${start + 1} of ${fit.restarts + 1}`;
    const left = startsLeft();
    return { ...told, stage, startDone: isDone(), startsLeft: left, done: isDone() && left === 0 };
  };
  return {
    progress,
    step: () => {
      if (isDone()) return progress();
      checkCancelled(control.signal);
      const began = now();
      const clock = fit.clock(state);
      fit.step(state);
      if (isDone()) ended = withStart(fit, ended, start, state);
      milliseconds[clock] = (milliseconds[clock] ?? 0) + now() - began;
      const told = progress();
      control.onProgress?.(told);
      if (told.startDone && !told.done) state = fit.begin(++start);
      return told;
    },
    snapshot: () => ({
      kind: fit.kind,
      version: LIBRARY_VERSION,
      data: statisticsChecksum(statistics),
      markers: statistics.map(({ basis, noise }) => ({ basis, noise })),
      inputs: fit.inputs(startsLeft() > 0 || state.iteration === 0),
      start,
      state: clonePlain(state),
      ...ended,
      milliseconds: { ...milliseconds },
    }),
    places: () => fit.places(state),
    finish: () => {
      const interrupted = ended.best === null;
      if (interrupted && state.iteration === 0) {
        throw new DtmError("not-fitted", `${fit.kind}: finish was called before the first step; call step first.`);
      }
      let last = ended.best?.state;
      if (last === undefined) {
        last = clonePlain(state);
        fit.close(last);
      }
      const kept = ended.best?.start ?? start;
      const starts = compareStarts(ended.finished, kept, fit.mapDimension, control.shards?.spread?.rows);
      return fit.model(last, { interrupted, starts, milliseconds: { ...milliseconds } });
    },
  };
}

/** Steps until done, and finishes. */
export function completeRun<Model>(run: { step(): RunProgress; finish(): Model }): Model {
  while (!run.step().done);
  return run.finish();
}

interface Ended<State> {
  readonly finished: readonly FinishedStart[];
  readonly best: { readonly start: number; readonly state: State } | null;
}

/**
 * Starts that end on one map differ by what the stop rule leaves, and which of their bounds is larger is chance: by less
 * than this many units of log evidence no later start is better than an earlier one.
 */
const SAME_BOUND = 0.1;

/** With a start that has ended; the larger bound is kept. */
function withStart<State extends FitState, Inputs, Model extends Fitted>(
  fit: IterativeFit<State, Inputs, Model>,
  { finished, best }: Ended<State>,
  start: number,
  state: State,
): Ended<State> {
  const bound = lastValue(state.trace);
  const places = fit.restarts > 0 ? fit.places(state) : new Float64Array(0);
  const better = best === null || bound > lastValue(best.state.trace) + SAME_BOUND;
  return {
    finished: [...finished, { start, bound, places }],
    best: better ? { start, state: clonePlain(state) } : best,
  };
}

/** Refuses what is no snapshot of a fit of these kinds, or one of another version of the library. */
export function checkSnapshot(snapshot: Stored, kinds: readonly string[]): void {
  const isOne = kinds.includes(snapshot?.kind) && snapshot.state !== undefined;
  if (!isOne || !(snapshot.markers?.[0]?.basis.knots instanceof Float64Array)) {
    throw new DtmError(
      "bad-snapshot",
      "resumeDtm: expected a snapshot as `snapshot()` returned it, received other data. Typed arrays must survive: use structured clone.",
    );
  }
  if (snapshot.version !== LIBRARY_VERSION) {
    throw new DtmError(
      "other-version",
      `resumeDtm: expected a snapshot of version ${LIBRARY_VERSION}, received ${String(snapshot.version)}. Start the fit anew.`,
    );
  }
}

/** Refuses a snapshot of other data. */
function checkSnapshotData({ data }: Stored, statistics: CohortStatistics): void {
  if (data === statisticsChecksum(statistics)) return;
  throw new DtmError(
    "other-data",
    "resumeDtm: expected the data the snapshot was taken from, received others. Resume with the same data, or start a new fit.",
  );
}

type Stored = Pick<RunSnapshot<FitState, unknown, string>, "kind" | "version" | "data" | "markers"> & {
  readonly state: unknown;
};

/** CRC of all statistics; equal for equal cohorts under one basis. */
function statisticsChecksum(statistics: CohortStatistics): string {
  return bytesChecksum(statistics.flatMap(statisticsColumns));
}

/** A deep copy of plain data with typed arrays. */
export function clonePlain<T>(value: T): T {
  if (value instanceof Float64Array || value instanceof Int32Array) return value.slice() as T;
  if (Array.isArray(value)) return value.map(clonePlain) as T;
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, clonePlain(v)])) as T;
}

/** The last of a trace; NaN of an empty one. */
export function lastValue(trace: readonly number[]): number {
  return trace.length > 0 ? trace[trace.length - 1] : Number.NaN;
}

/** Counts gains below the threshold in a row; true once there have been `enough`. */
export function countSmallGain(
  state: { smallGains: number },
  gain: number,
  threshold: number,
  enough: number,
): boolean {
  state.smallGains = gain < threshold ? state.smallGains + 1 : 0;
  return state.smallGains >= enough;
}

/** The record of a fit to these statistics. */
export function fitRecord(
  statistics: CohortStatistics,
  told: Omit<FitRecord, "version" | "numIndividuals" | "numObservations">,
): FitRecord {
  return { version: LIBRARY_VERSION, ...cohortSizes(statistics), ...told };
}

/** Below this Procrustes R² two maps count as different; within this many units of log evidence as equally good. */
export const SAME_MAP = 0.9;
const SIMILAR_BOUND = 2;

/** The finished starts of a run, the one that is kept first, each compared with it. */
export function compareStarts(
  finished: readonly FinishedStart[],
  kept: number,
  mapDimension: number,
  rows?: RowSums,
): StartResult[] {
  if (finished.length < 2) return [];
  const rank = ({ start, bound }: FinishedStart) => (start === kept ? Number.POSITIVE_INFINITY : bound);
  const starts = [...finished].sort((a, b) => rank(b) - rank(a));
  return starts.map(({ start, bound, places }) => {
    const best = starts[0];
    const agreement = procrustes(best.places, places, places.length / mapDimension, mapDimension, rows).rSquared;
    const similarBound = best.bound - bound <= SIMILAR_BOUND;
    return { name: startName(start), bound, agreement, sameMap: agreement >= SAME_MAP, similarBound };
  });
}
