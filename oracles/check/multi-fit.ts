/**
 * Checks pbc3_fit.json: a converged map of three markers of the bundled cohort and those of each marker alone, from principal components,
 * without priors, nodes of step 0.4. The bounds are those of local maxima, which others may exceed: they are asked for from below, their
 * difference within 8.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { sharingVerdict } from "../../packages/core/src/evaluate/sharing.ts";
import { readCohort } from "../../packages/core/src/ingest/read-cohort.ts";
import { fitDtm, fitFpca, fitLmm } from "../../packages/core/src/models/fit-models.ts";
import { atLeast, type Check, compareAbsolute } from "./checker.ts";

export interface MultiFitFixture {
  readonly markers: readonly string[];
  readonly individuals: number;
  readonly bound: number;
  readonly share: readonly number[];
  readonly single_bounds: readonly number[];
  readonly sharing_delta: number;
}

/** Columns of the bundled cohort by the words of the file. */
const COLUMNS: Readonly<Record<string, string>> = {
  bilirubin: "bili",
  albumin: "albumin",
  "prothrombin time": "protime",
  "alkaline phosphatase": "alk_phos",
  AST: "ast",
  platelets: "platelet",
};

export function checkMultiFit(fixture: MultiFitFixture): Check[] {
  const markers = fixture.markers.map((words) => {
    const name = words.replace(/^log /, "");
    return { column: COLUMNS[name] ?? name, transform: words === name ? ("identity" as const) : ("log" as const) };
  });
  const { cohort } = readCohort(readFileSync(bundledVisits(), "utf8"), { markers });
  // The start of the file: the mixed model after 200 iterations of EM, which are not enough to converge.
  const em = { rounded: false, priors: "none", algorithm: "em", maxEmIterations: 200 } as const;
  const lmm = fitLmm(cohort, em);
  const linear = { lmm, fpca: fitFpca(cohort, { ...em, lmm }), leftOut: [], warnings: [] };
  const nodes = { step: 0.4, radius: 4 };
  const model = fitDtm(cohort, { rounded: false, nodes, priors: "none", restarts: 0, maxIterations: 300, linear });
  const { difference, markers: each } = sharingVerdict(cohort, model);
  return [
    compareAbsolute("individuals", cohort.ids.length, fixture.individuals, 0),
    atLeast("bound", model.bound, fixture.bound, 3),
    compareAbsolute("sharing_delta", difference, fixture.sharing_delta, 8),
    ...each.flatMap(({ varianceShare, singleBound }, k) => [
      atLeast(`single_bounds[${k}]`, singleBound, fixture.single_bounds[k], 3),
      compareAbsolute(`share[${k}]`, varianceShare, fixture.share[k], 0.06),
    ]),
  ];
}

/** The visits of the bundled cohort, from this file or from what is built of it. */
function bundledVisits(): string {
  const found = ["../examples/pbc/visits.csv", "../../examples/pbc/visits.csv"]
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find(existsSync);
  if (found === undefined) throw new Error("Expected the bundled cohort in examples/pbc, found none.");
  return found;
}
