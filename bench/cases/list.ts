/** All benchmarks, in the order of the table. */
import type { BenchCase } from "../case.ts";
import { bound } from "./bound.ts";
import { browser } from "./browser.ts";
import { choleskyInverse } from "./cholesky.ts";
import { compare } from "./compare.ts";
import { expectation } from "./expectation.ts";
import { explorer } from "./explorer.ts";
import { fits } from "./fits.ts";
import { ingest } from "./ingest.ts";
import { iteration } from "./iteration.ts";
import { kde } from "./kde.ts";
import { localKernel } from "./local.ts";
import { localSolve } from "./local-solve.ts";
import { million } from "./million.ts";
import { noise } from "./noise.ts";
import { oneIndividual } from "./one.ts";
import { parquet } from "./parquet.ts";
import { scaling } from "./scaling.ts";
import { serve } from "./serve.ts";
import { stochastic } from "./stochastic.ts";
import { threads } from "./threads.ts";
import { visits } from "./visits.ts";

export const CASES: readonly BenchCase[] = [
  localKernel,
  localSolve,
  choleskyInverse,
  fits,
  expectation,
  iteration,
  noise,
  compare,
  stochastic,
  million,
  scaling,
  parquet,
  visits,
  kde,
  bound,
  oneIndividual,
  browser,
  explorer,
  threads,
  ingest,
  serve,
];
