/**
 * A fit under way in the worker. It steps for some 40 ms at a time and then lets messages in, so that pause, stop and
 * cancel are heard, and questions about the map of the first start answered while others run; during the first start it
 * sends the places as they stand every half second.
 */
import { type Cohort, embed, resumeDtm, startDtm } from "@trajectory-maps/core";
import type { DtmProgress, DtmRun, DtmRunSnapshot, FitDtmOptions, LinearModels } from "@trajectory-maps/core/models";
import type { FitChoice, Fitted, FitUpdate, WorkerApi } from "./api.ts";

const SLICE_MS = 40;
const PLACES_MS = 500;

type FittingDoor = Pick<WorkerApi, "fit" | "pauseFit" | "endFit" | "fitSnapshot">;

interface Running {
  readonly run: DtmRun;
  paused: boolean;
  /** Whether the map of a start that has ended was told. */
  shown: boolean;
  ending: "keep" | "cancel" | null;
}

export function createFitting(
  cohort: (choice: FitChoice) => Cohort,
  onFitted: (fitted: Fitted, linear: LinearModels | null) => void,
): FittingDoor {
  let running: Running | null = null;
  /** Where the last fit stood when the user stopped it: "Continue" goes on from there. */
  let stopped: DtmRunSnapshot | null = null;
  return {
    fit: async (choice, onUpdate, from) => {
      const data = cohort(choice);
      const began = performance.now();
      const run = from === undefined ? startDtm(data, fitOptions(choice)) : resumeDtm(data, from);
      const current: Running = { run, paused: false, shown: false, ending: null };
      if (running !== null) running.ending = "cancel";
      running = current;
      const take = (finished: boolean): Fitted => {
        const model = run.finish();
        const placements = embed(model, data);
        const own = data.covariates === undefined ? {} : { cohort: data };
        const fitted = { model, placements, ...own, seconds: (performance.now() - began) / 1000, finished };
        onFitted(fitted, run.linear ?? null);
        return fitted;
      };
      try {
        const finished = await stepUntilDone(current, onUpdate, began, () => take(true));
        if (current.ending === "cancel") return null;
        stopped = finished ? null : run.snapshot();
        return take(finished);
      } finally {
        if (running === current) running = null;
      }
    },
    pauseFit: async (paused) => {
      if (running === null || running.shown) return false;
      running.paused = paused;
      return true;
    },
    endFit: async (keep) => {
      if (running !== null) running.ending = keep ? "keep" : "cancel";
    },
    fitSnapshot: async (): Promise<DtmRunSnapshot | null> => running?.run.snapshot() ?? stopped,
  };
}

/** Steps until the fit's own rule has ended a start and the others are done or stopped (true), or the user stops the first (false). */
async function stepUntilDone(
  current: Running,
  onUpdate: (update: FitUpdate) => void,
  began: number,
  takeFirst: () => Fitted,
): Promise<boolean> {
  const { run } = current;
  const { kind, finished } = run.snapshot();
  const rate = createRate();
  const look = createLook(run, kind);
  const send = (progress: DtmProgress, trace: readonly number[], more: Pick<FitUpdate, "places" | "first"> = {}) => {
    const time = performance.now();
    onUpdate({
      ...more,
      stage: progress.stage,
      iteration: progress.iteration,
      maxIterations: progress.maxIterations,
      value: progress.value,
      trace: trace.filter(Number.isFinite),
      seconds: (time - began) / 1000,
      secondsLeft: rate(progress.value, time),
      stopGain: progress.stopGain ?? null,
      movement: progress.movement ?? null,
      done: progress.startDone,
    });
  };
  for (;;) {
    await breathe();
    if (current.ending !== null) return current.shown;
    if (current.paused) {
      await new Promise((resolve) => setTimeout(resolve, 60));
      continue;
    }
    const slice = performance.now();
    let progress = run.step();
    let trace = [progress.value];
    while (!progress.startDone && performance.now() - slice < SLICE_MS) {
      const next = run.step();
      // Bounds of two stages do not compare: an update never holds both.
      if (next.stage !== progress.stage) {
        send(progress, trace);
        trace = [];
      }
      trace.push(next.value);
      progress = next;
    }
    const ended = progress.startDone || finished.length > 0;
    if (current.shown) send(progress, trace);
    else if (finished.length === 0) send(progress, trace, { places: look(progress.stage) });
    if (progress.done) return true;
    if (!current.shown && ended) {
      current.shown = true;
      const startsLeft = progress.startsLeft + (progress.startDone ? 0 : 1);
      send(progress, [], { first: { fitted: takeFirst(), startsLeft } });
    }
  }
}

/** Everybody's place as the fit stands, every half second, in the shown frame. */
function createLook(run: DtmRun, kind: DtmRunSnapshot["kind"]): (stage: string) => Float32Array | undefined {
  let last = performance.now() - PLACES_MS / 2;
  let orientation: Float64Array | null = null;
  let orientedIn = "";
  return (stage) => {
    if (performance.now() - last < PLACES_MS) return undefined;
    // Taken anew in each stage only: it costs a pass, and dots should not turn while they settle.
    if (kind === "dtm" && orientedIn !== stage) {
      orientation = run.finish().orientation;
      orientedIn = stage;
    }
    const places = shownPlaces(run.places(), orientation);
    last = performance.now();
    return places;
  };
}

/** Places in the shown frame, [m,q]. */
function shownPlaces(places: Float64Array, orientation: Float64Array | null): Float32Array {
  if (orientation === null) return Float32Array.from(places);
  const q = Math.round(Math.sqrt(orientation.length));
  const out = new Float32Array(places.length);
  for (let i = 0; i < places.length; i += q) {
    for (let c = 0; c < q; c++) for (let r = 0; r < q; r++) out[i + c] += orientation[r * q + c] * places[i + r];
  }
  return out;
}

/**
 * Seconds left, guessed from how fast the gain per second shrinks: with a gain falling like e^(−kt), the time until it is
 * a ten-thousandth of what it was. Null while there is too little to go by.
 */
function createRate(): (value: number, time: number) => number | null {
  const seen: { time: number; value: number }[] = [];
  return (value, time) => {
    if (!Number.isFinite(value)) return null;
    if (seen.length > 0 && value < seen[seen.length - 1].value) seen.length = 0;
    seen.push({ time, value });
    if (seen.length < 8) return null;
    const third = Math.floor(seen.length / 3);
    const [a, b, c, d] = [seen[0], seen[third], seen[2 * third], seen[seen.length - 1]];
    const early = (b.value - a.value) / Math.max(b.time - a.time, 1);
    const late = (d.value - c.value) / Math.max(d.time - c.time, 1);
    if (!(early > 0) || !(late > 0) || late >= early) return null;
    const k = Math.log(early / late) / ((c.time + d.time) / 2 - (a.time + b.time) / 2);
    const goal = 1e-4 * early;
    return late <= goal ? 1 : Math.min(Math.log(late / goal) / k / 1000, 3600);
  };
}

/** Lets messages in. A message of one's own is quicker than a timer, which browsers clamp to 4 ms. */
function breathe(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

function fitOptions(choice: FitChoice): FitDtmOptions {
  const { kind, mapDimension, schedule, mean, noise, learn, numBasis, restarts, tolerance, maxIterations, seed } =
    choice;
  const common = {
    mean,
    seed,
    ...(numBasis === undefined ? {} : { numBasis }),
    ...(tolerance === undefined ? {} : { tolerance }),
    ...(maxIterations === undefined ? {} : { maxIterations }),
  };
  if (kind === "dtm-paper" || mapDimension === 3) {
    return {
      ...common,
      kind: "dtm-paper",
      mapDimension,
      ...(schedule === undefined ? {} : { schedule }),
      ...(learn === undefined ? {} : { learn }),
    };
  }
  return {
    ...common,
    kind: "dtm",
    mapDimension,
    ...(noise === undefined ? {} : { noise }),
    ...(restarts === undefined ? {} : { restarts }),
    ...(schedule === "svi" ? { schedule } : {}),
  };
}
