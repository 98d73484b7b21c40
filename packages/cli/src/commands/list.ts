/**
 * The commands of `dtm`: the line that help has for each, and how it is loaded. A command is loaded when it is asked
 * for, so that help, version and small answers do not wait for every part of the program.
 */
import type { Command } from "./command.ts";

export interface CommandEntry {
  readonly name: string;
  /** Its arguments, as help writes them. */
  readonly usage: string;
  /** What it does, in one line. */
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "inspect",
    usage: "[visits]",
    summary: "check the quality of a table of visits",
    load: async () => (await import("./inspect.ts")).inspect,
  },
  {
    name: "fit",
    usage: "[visits] [subjects]",
    summary: "fit a model, place every individual, write a run",
    load: async () => (await import("./fit.ts")).fit,
  },
  {
    name: "statistics",
    usage: "[visits]",
    summary: "reduce visits to what a fit reads of them",
    load: async () => (await import("./statistics.ts")).statisticsCommand,
  },
  {
    name: "plan",
    usage: "",
    summary: "time, memory and shards of a large fit",
    load: async () => (await import("./plan.ts")).planCommand,
  },
  {
    name: "shards",
    usage: "<action> <folder>",
    summary: "fit in many jobs of a cluster: plan, run, reduce",
    load: async () => (await import("./shards.ts")).shardsCommand,
  },
  {
    name: "federate",
    usage: "<action> <folder>",
    summary: "fit one map at several sites without sharing rows",
    load: async () => (await import("./federate.ts")).federateCommand,
  },
  {
    name: "embed",
    usage: "<model> [visits]",
    summary: "place individuals on a fitted map",
    load: async () => (await import("./embed.ts")).embedCommand,
  },
  {
    name: "predict",
    usage: "<model> [visits]",
    summary: "forecast the courses of individuals",
    load: async () => (await import("./predict.ts")).predictCommand,
  },
  {
    name: "calculator",
    usage: "<model>",
    summary: "write one offline page that forecasts one patient",
    load: async () => (await import("./calculator.ts")).calculatorCommand,
  },
  {
    name: "summary",
    usage: "<run>",
    summary: "print the summary of a run again",
    load: async () => (await import("./summary.ts")).summaryCommand,
  },
  {
    name: "coef",
    usage: "<model>",
    summary: "print the coefficients of a model as a table",
    load: async () => (await import("./coef.ts")).coefCommand,
  },
  {
    name: "compare",
    usage: "[visits]",
    summary: "compare models on held-out individuals",
    load: async () => (await import("./compare.ts")).compare,
  },
  {
    name: "groups",
    usage: "<run>",
    summary: "group individuals on the map",
    load: async () => (await import("./groups.ts")).groups,
  },
  {
    name: "sensitivity",
    usage: "<run>",
    summary: "refit with one choice changed at a time",
    load: async () => (await import("./sensitivity.ts")).sensitivity,
  },
  {
    name: "calibrate",
    usage: "<run>",
    summary: "make forecast bands hold what they promise",
    load: async () => (await import("./calibrate.ts")).calibrate,
  },
  {
    name: "associate",
    usage: "<run> <subjects>",
    summary: "test outcomes for association with the map",
    load: async () => (await import("./associate.ts")).associate,
  },
  {
    name: "covariates",
    usage: "<run>",
    summary: "test whether covariates move places on the map",
    load: async () => (await import("./covariate-screen.ts")).covariatesCommand,
  },
  {
    name: "report",
    usage: "<run>",
    summary: "write the study as one self-contained page",
    load: async () => (await import("./report.ts")).report,
  },
  {
    name: "explore",
    usage: "[run]",
    summary: "serve the explorer and print its address",
    load: async () => (await import("./explore.ts")).explore,
  },
  {
    name: "serve",
    usage: "<models...>",
    summary: "serve places and forecasts to programs",
    load: async () => (await import("./serve.ts")).serve,
  },
  {
    name: "study",
    usage: "[visits] [subjects]",
    summary: "run a whole study from one file of settings",
    load: async () => (await import("./study.ts")).study,
  },
  {
    name: "simulate",
    usage: "<what>",
    summary: "simulate a cohort: pfvc, tss, or from a model",
    load: async () => (await import("./simulate.ts")).simulate,
  },
  {
    name: "power",
    usage: "[visits]",
    summary: "what a planned study would find",
    load: async () => (await import("./power.ts")).power,
  },
  {
    name: "demo",
    usage: "",
    summary: "run a whole study on the bundled cohort",
    load: async () => (await import("./demo.ts")).demo,
  },
  {
    name: "template",
    usage: "[table]",
    summary: "print a small example table",
    load: async () => (await import("./template.ts")).template,
  },
  {
    name: "doctor",
    usage: "",
    summary: "check this machine",
    load: async () => (await import("./doctor.ts")).doctor,
  },
];

/** Every command, loaded. */
export function loadAll(): Promise<readonly Command[]> {
  return Promise.all(COMMANDS.map(({ load }) => load()));
}
