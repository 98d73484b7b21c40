/** What all places of a spread fit agree on before it begins: basis, centre and noise, the model, who takes part, and what may not leave. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { planText, readPlan, type StatisticsPlan } from "@trajectory-maps/core/hosts";
import type { FitChoice } from "../commands/fit-model.ts";
import { FileError, UsageError } from "../exit-codes.ts";
import { checksumOf } from "./exchange.ts";
import type { StatisticsRows } from "./statistics-file.ts";
import { writeOutputs } from "./write.ts";

export const AGREEMENT = "agreement.json";
const FORMAT = "trajectory-maps-agreement";

export interface Agreement {
  readonly plan: StatisticsPlan;
  readonly choice: Omit<FitChoice, "noise" | "basis">;
  /** Names of the places, in the order in which their sums are added. */
  readonly places: readonly string[];
  /** The fewest individuals that a place may take part with. */
  readonly leastIndividuals: number;
  /** What rows of statistics each job reads (`dtm shards`); absent where places bring their own statistics. */
  readonly shards?: readonly (readonly StatisticsRows[])[];
}

/** Writes the agreement of a new fit. */
export function writeAgreement(folder: string, { plan, ...rest }: Agreement): string {
  if (existsSync(join(folder, AGREEMENT))) {
    throw new UsageError(`${folder} already holds ${AGREEMENT}. Name another folder: rounds of two fits do not mix.`);
  }
  const text = JSON.stringify({ format: FORMAT, formatVersion: 1, ...rest, plan: JSON.parse(planText(plan)) }, null, 2);
  // A plan of jobs has digests of statistics, which nobody else may try values against.
  return writeOutputs(folder, [{ name: AGREEMENT, text: `${text}\n`, private: rest.shards !== undefined }])[0]!;
}

/** The agreement of a folder, with the checksum by which its rounds know each other. */
export function readAgreement(folder: string): { readonly agreement: Agreement; readonly checksum: string } {
  const path = join(folder, AGREEMENT);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    throw new FileError(`${path} cannot be read. Begin with dtm federate init, or dtm shards plan.`);
  }
  const json = parsed(text) as Partial<Agreement> & { readonly format?: unknown };
  const { choice, places, leastIndividuals, shards } = json;
  if (
    json.format !== FORMAT ||
    !Array.isArray(places) ||
    choice === undefined ||
    typeof leastIndividuals !== "number"
  ) {
    throw new FileError(`${path}: expected an agreement as dtm federate init writes it, received something else.`);
  }
  const plan = readPlan(JSON.stringify(json.plan), path);
  const checksum = checksumOf(text);
  return { agreement: { plan, choice, places, leastIndividuals, ...(shards && { shards }) }, checksum };
}

function parsed(text: string): object {
  try {
    return (JSON.parse(text) as object | null) ?? {};
  } catch {
    return {};
  }
}
