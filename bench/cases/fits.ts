/** Whole fits at the paper's size against lme4's linear mixed model, ours and lme4's in turn. */
import { fitDtm, fitLmm } from "../../packages/core/src/models/fit-models.ts";
import { against, alone, type BenchCase, type Row } from "../case.ts";
import { registry, writeDesign } from "../cohorts.ts";
import { leastCpu, type Used } from "../measure.ts";
import { runR } from "../peers.ts";

export const fits: BenchCase = {
  name: "fits",
  about: "whole fits at m = 2,323, one thread, against lme4's linear mixed model",
  run: async ({ quick, say }) => {
    const cohort = quick ? registry(300) : registry();
    const design = writeDesign(cohort, "design.csv");
    const rounds = quick ? 1 : 2;
    let lmm: Used<number> | undefined;
    let paper: Used<string> | undefined;
    let map: Used<string> | undefined;
    let lme4: Record<string, number> | undefined;
    for (let round = 0; round < rounds; round++) {
      lmm = least(lmm, await leastCpu(() => fitLmm(cohort).record.trace.at(-1)!));
      paper = least(
        paper,
        await leastCpu(() => fitDtm(cohort, { kind: "dtm-paper", schedule: "paper" }).record.verdict),
      );
      map = least(map, await leastCpu(() => fitDtm(cohort).record.verdict));
      say("lme4");
      const next = runR("lme4.R", [design]);
      if (next !== undefined)
        lme4 = { logLik: next.logLik, cpu: Math.min(next.cpu, lme4?.cpu ?? Number.POSITIVE_INFINITY) };
    }
    return [
      ...linearRows(lmm!, lme4),
      ...fitRows("published map, paper schedule, linear start included", paper!, lme4, 1 / 10, 1),
      ...fitRows("recommended map to convergence, linear start included", map!, lme4, 1 / 5, 2),
    ];
  },
};

function linearRows({ cpu, value }: Used<number>, lme4: Record<string, number> | undefined): Row[] {
  const gap = lme4 && lme4.logLik - value;
  return [
    against("linear mixed model, maximum likelihood", "s cpu", cpu, "lme4", lme4?.cpu, { goal: 1 / 20 }),
    ...(gap === undefined
      ? []
      : [
          alone("log-likelihood below lme4's", "nats", gap, {
            goal: 0.01,
            note: `ours ${value.toFixed(4)}, lme4's ${lme4!.logLik.toFixed(4)}; negative: ours is higher`,
          }),
        ]),
  ];
}

function fitRows(
  what: string,
  { cpu, wall, value }: Used<string>,
  lme4: Record<string, number> | undefined,
  ratio: number,
  seconds: number,
): Row[] {
  return [
    against(what, "s cpu", cpu, "lme4's mixed model alone", lme4?.cpu, { goal: ratio, note: value }),
    alone(`${what}, wall clock`, "s", wall, { goal: seconds, note: "on a quiet machine" }),
  ];
}

/** The lesser figures of two runs. */
function least<T>(a: Used<T> | undefined, b: Used<T>): Used<T> {
  return a === undefined ? b : { cpu: Math.min(a.cpu, b.cpu), wall: Math.min(a.wall, b.wall), value: b.value };
}
