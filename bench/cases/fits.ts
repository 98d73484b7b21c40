/** Whole fits at the paper's size against lme4's linear mixed model, ours and lme4's in turn. */
import type { Cohort } from "../../packages/core/src/cohort/cohort.ts";
import { fitDtm, fitLmm } from "../../packages/core/src/models/fit-models.ts";
import { against, alone, type BenchCase, type Row } from "../case.ts";
import { bendingCohort, registry, writeDesign } from "../cohorts.ts";
import { leastCpu, type Used } from "../measure.ts";
import { runR } from "../peers.ts";

export const fits: BenchCase = {
  name: "fits",
  about: "whole fits at m = 2,323, one thread, against lme4's linear mixed model",
  // How long lme4 takes depends on the data as much as how long we do: two cohorts.
  run: async ({ quick, say }) => {
    const m = quick ? 300 : undefined;
    const rounds = quick ? 1 : 2;
    say("simulated registry");
    const first = await fitRows(registry(m), "registry", rounds);
    say("bending cohort");
    return [...first, ...(await fitRows(bendingCohort(m), "bending", rounds))];
  },
};

/** lme4's CPU seconds and log-likelihood. */
type Peer = Record<string, number> | undefined;

async function fitRows(cohort: Cohort, name: string, rounds: number): Promise<Row[]> {
  const design = writeDesign(cohort, `${name}.csv`);
  let lmm: Used<number> | undefined;
  let paper: Used<string> | undefined;
  let map: Used<string> | undefined;
  let lme4: Peer;
  for (let round = 0; round < rounds; round++) {
    lmm = least(lmm, await leastCpu(() => fitLmm(cohort, { priors: "none" }).record.trace.at(-1)!));
    const published = () => fitDtm(cohort, { kind: "dtm-paper", schedule: "paper" }).record.verdict;
    paper = least(paper, await leastCpu(published));
    map = least(map, await leastCpu(() => fitDtm(cohort).record.verdict));
    const next = runR("lme4.R", [design]);
    if (next !== undefined) lme4 = { ...next, cpu: Math.min(next.cpu, lme4?.cpu ?? Number.POSITIVE_INFINITY) };
  }
  return [
    ...linearRows(lmm!, lme4, name),
    ...mapRows(`published map, paper schedule (${name})`, paper!, lme4, 1 / 10, 1),
    ...mapRows(`recommended map to convergence (${name})`, map!, lme4, 1 / 5, 2),
  ];
}

function linearRows({ cpu, value }: Used<number>, lme4: Peer, name: string): Row[] {
  const row = against(`linear mixed model (${name})`, "s cpu", cpu, "lme4", lme4?.cpu, { goal: 1 / 20 });
  if (lme4 === undefined) return [row];
  const note = `ours ${value.toFixed(4)}, lme4's ${lme4.logLik.toFixed(4)}; negative: ours is higher`;
  return [row, alone(`log-likelihood below lme4's (${name})`, "nats", lme4.logLik - value, { goal: 0.01, note })];
}

function mapRows(what: string, { cpu, wall, value }: Used<string>, lme4: Peer, ratio: number, seconds: number): Row[] {
  return [
    against(what, "s cpu", cpu, "lme4's mixed model", lme4?.cpu, { goal: ratio, note: value }),
    alone(`${what}, wall clock`, "s", wall, { goal: seconds, note: "linear start included; on a quiet machine" }),
  ];
}

/** The lesser figures of two runs. */
function least<T>(a: Used<T> | undefined, b: Used<T>): Used<T> {
  return a === undefined ? b : { cpu: Math.min(a.cpu, b.cpu), wall: Math.min(a.wall, b.wall), value: b.value };
}
