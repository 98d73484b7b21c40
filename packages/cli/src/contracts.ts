/**
 * The JSON that commands print, as schemas: a contract with the programs that read it. Names are fixed; new fields may be
 * added. `packages/cli/schemas/*.json` are made from these and held equal by a test.
 */
import * as z from "zod";
import { associateContract, covariatesContract } from "./contract-associate.ts";
import { compareContract, compareMarkersContract } from "./contract-compare.ts";
import { coefContract, fitContract, groupsContract, runContract, summaryContract } from "./contract-fit.ts";
import {
  calculatorContract,
  calibrateContract,
  calibrateMarkersContract,
  embedContract,
  predictContract,
  simulateContract,
} from "./contract-individuals.ts";
import { count, number, text } from "./contract-parts.ts";
import { powerContract } from "./contract-power.ts";
import { sensitivityContract } from "./contract-sensitivity.ts";
import { federateContract, shardsContract } from "./contract-spread.ts";
import {
  inspectCodesContract,
  inspectContract,
  inspectMarkersContract,
  planContract,
  statisticsContract,
  templateContract,
} from "./contract-tables.ts";

export const reportContract = z.looseObject({
  report: text,
  figures: z.array(text),
  computed: z.array(text),
  reused: z.array(text),
});

export const doctorContract = z.looseObject({
  checks: z.array(z.looseObject({ part: text, ok: z.boolean(), found: text })),
  ok: z.boolean(),
});

/** A study: its protocol and the results of its steps; or, with --plan, what they will take. */
const studyContract = z.looseObject({
  folder: text,
  protocol: z.looseObject({
    format: z.literal("dtm-protocol"),
    version: text,
    date: text,
    inputs: z.array(z.looseObject({ name: text, sha256: z.nullable(text) })),
    settings: z.record(z.string(), z.unknown()),
    steps: z.array(z.looseObject({ name: text, command: text })),
  }),
  plan: z.optional(z.literal(true)),
  times: z.optional(z.array(z.looseObject({ step: text, fits: count, seconds: number }))),
  inspect: z.optional(z.unknown()),
  run: z.optional(runContract),
  groups: z.optional(groupsContract),
  compare: z.optional(z.unknown()),
  associate: z.optional(associateContract),
  sensitivity: z.optional(sensitivityContract),
});

/** Every contract by the name of its file in packages/cli/schemas. */
export const CONTRACTS = {
  associate: associateContract,
  calculator: calculatorContract,
  calibrate: calibrateContract,
  "calibrate-markers": calibrateMarkersContract,
  coef: coefContract,
  compare: compareContract,
  covariates: covariatesContract,
  "compare-markers": compareMarkersContract,
  doctor: doctorContract,
  embed: embedContract,
  federate: federateContract,
  fit: fitContract,
  groups: groupsContract,
  inspect: inspectContract,
  "inspect-codes": inspectCodesContract,
  "inspect-markers": inspectMarkersContract,
  plan: planContract,
  power: powerContract,
  predict: predictContract,
  report: reportContract,
  run: runContract,
  sensitivity: sensitivityContract,
  shards: shardsContract,
  simulate: simulateContract,
  statistics: statisticsContract,
  study: studyContract,
  summary: summaryContract,
  template: templateContract,
} as const;

/** The JSON Schema of a contract, as text. */
export function contractSchema(name: keyof typeof CONTRACTS): string {
  return `${JSON.stringify({ title: `dtm ${name}`, ...z.toJSONSchema(CONTRACTS[name]) }, null, 2)}\n`;
}
