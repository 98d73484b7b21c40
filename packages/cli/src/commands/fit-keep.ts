/** Keeping a fit under way: every now and then, when its model is fitted, and when it is asked to stop. */
import { saveModel, type TrajectoryModel } from "@trajectory-maps/core";
import { FileError, StoppedError } from "../exit-codes.ts";
import type { Checkpoint, Checkpoints } from "../io/checkpoint.ts";
import type { StopSignal } from "../io/signals.ts";
import { textOption } from "./command.ts";
import type { Work } from "./fit-finish.ts";
import type { Keep } from "./fit-model.ts";
import { positiveNumber } from "./numbers.ts";

export interface Keeper {
  /** Keeps the state of a map if it is time. */
  readonly offer: Keep;
  /** Keeps a model whose baselines and places are not there yet, if it is time. */
  readonly offerModel: (model: TrajectoryModel) => void;
  /** Keeps the state of a map, or its model, and says how to go on. */
  readonly stopped: (signal: StopSignal, state: Checkpoint["snapshot"] | TrajectoryModel) => StoppedError;
  /** What was kept, in words for who could not write results; "" if nothing was. */
  readonly remedy: () => string;
}

/** At most this share of the time goes into keeping: large states are kept less often. */
const SHARE = 0.1;

export function openKeeper(work: Omit<Work, "signals" | "shards" | "keeper">): Keeper {
  const { folder, options, context, checkpoints } = work;
  const every = 1000 * positiveNumber("--checkpoint", textOption(options, "checkpoint") ?? "30");
  const resume = `dtm fit${options.visits === false ? " VISITS" : ""} --resume ${folder}`;
  let last = performance.now();
  let pause = every;
  let isKept = false;
  const offer = (state: () => Parameters<typeof stateOf>[1]) => {
    const now = performance.now();
    if (now - last < pause) return;
    try {
      checkpoints.keep(stateOf(work, state()));
      isKept = true;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      context.talk.warn(`${error.message} The fit goes on.`);
    }
    last = performance.now();
    pause = Math.max(every, (last - now) / SHARE);
  };
  return {
    offer,
    offerModel: (model) => offer(() => model),
    stopped: (signal, state) => {
      checkpoints.keep(stateOf(work, state));
      const kept = isModel(state) ? "the model is kept" : "the state is kept";
      return new StoppedError(signal, `Stopped; ${kept}. Resume with: ${resume}`);
    },
    remedy: () => (isKept ? ` The fit is kept: ${resume}.` : ""),
  };
}

function isModel(state: Checkpoint["snapshot"] | TrajectoryModel): state is TrajectoryModel {
  return state !== null && "record" in state;
}

function stateOf(
  { source, read, choice }: Pick<Work, "source" | "read" | "choice">,
  state: Checkpoint["snapshot"] | TrajectoryModel,
): Parameters<Checkpoints["keep"]>[0] {
  const { cohort, columns, ...reading } = read;
  const snapshot = isModel(state) ? null : state;
  return {
    kind: snapshot?.kind ?? choice.kind,
    mapDimension: choice.mapDimension,
    mean: choice.mean,
    seed: choice.seed,
    markers: cohort.markers.map(({ marker }) => marker),
    columns,
    source,
    reading,
    covariates: cohort.covariates ?? null,
    snapshot,
    model: isModel(state) ? saveModel(state) : null,
  };
}
