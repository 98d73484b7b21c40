/**
 * Finds fixture files, recognises each by its fields (names do not matter) and recomputes it.
 * A kind of file that no code of ours can compute yet has no checker and counts as "not yet".
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { checkAssociation } from "./association.ts";
import { checkBasis } from "./basis.ts";
import type { Check, Checker } from "./checker.ts";
import { checkDtmPaper } from "./dtm-paper.ts";
import { checkFit } from "./fit.ts";
import { checkGrid } from "./grid.ts";
import { checkGridFit } from "./grid-fit.ts";
import { checkKde, checkKdeIndex, checkKdeTest } from "./kde.ts";
import { checkKernels } from "./kernels.ts";
import { checkMixed } from "./mixed.ts";
import { checkMulti } from "./multi.ts";
import { checkMultiFit } from "./multi-fit.ts";
import { checkNlme } from "./nlme.ts";
import { checkNoise } from "./noise.ts";
import { checkPsi } from "./psi.ts";
import { checkHclust, checkSurvival, checkVarimax } from "./r.ts";
import { checkSvi } from "./svi.ts";

export interface FileReport {
  /** Path below the folder asked for. */
  readonly name: string;
  readonly verdict: "ok" | "FAIL" | "not yet";
  /** The check nearest to, or furthest beyond, its tolerance. */
  readonly worst?: Check;
  readonly checks: readonly Check[];
  /** Why a file failed without a check, in words. */
  readonly reason?: string;
}

interface Kind {
  readonly name: string;
  /** Fields at the top, and fields of the first of `cases`, that tell this kind from the others. */
  readonly fields: readonly string[];
  readonly caseFields?: readonly string[];
  readonly check?: Checker;
}

const KINDS: readonly Kind[] = [
  { name: "basis", fields: ["cases"], caseFields: ["training_times", "rows"], check: checkBasis },
  { name: "psi statistics", fields: ["cases"], caseFields: ["K_chol", "subjects"], check: checkPsi },
  { name: "linear mixed model and FPCA", fields: ["data", "lmm", "fpca", "heldout"], check: checkMixed },
  { name: "published map, at given parameters", fields: ["data", "Z", "local", "qu"], check: checkDtmPaper },
  { name: "published map, stochastic steps", fields: ["data", "Z", "local", "steps"], check: checkSvi },
  { name: "published map, fitted", fields: ["data", "Z", "x_init", "results"], check: checkFit },
  { name: "map on nodes, fitted", fields: ["first", "F_default"], check: checkGridFit },
  { name: "map on nodes, at given parameters", fields: ["X", "G", "B1"], check: checkGrid },
  {
    name: "association by whole posteriors",
    fields: ["weights", "multipliers", "two_groups"],
    check: checkAssociation,
  },
  { name: "noise models", fields: ["whitened", "levels", "estep", "levelStep", "score"], check: checkNoise },
  { name: "two markers and covariates", fields: ["data", "greville", "statistics", "mlmm"], check: checkMulti },
  { name: "several markers, fitted", fields: ["markers", "single_bounds", "sharing_delta"], check: checkMultiFit },
  { name: "density test, list of cases", fields: ["ks_version", "cases"], check: checkKdeIndex },
  { name: "density test", fields: ["ks_version", "selector"], check: checkKde },
  { name: "hierarchical clustering", fields: ["cases"], caseFields: ["merge", "height"], check: checkHclust },
  { name: "varimax rotation", fields: ["cases"], caseFields: ["loadings", "rotated"], check: checkVarimax },
  { name: "mixed model of two markers", fields: ["visits", "cases"], caseFields: ["mean", "logLik"], check: checkNlme },
  { name: "survival", fields: ["cases"], caseFields: ["time", "event"], check: checkSurvival },
  { name: "kernels, byte for byte", fields: ["contract", "layout", "cases"], check: checkKernels },
  { name: "density test, statistic", fields: ["cases"], caseFields: ["H1", "H2"], check: checkKdeTest },
];

/** Reports on every .json file under `folder`, in order of path. */
export function checkFolder(folder: string, onFile: (report: FileReport) => void = () => {}): FileReport[] {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".json"))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort();
  return paths.map((path) => {
    const report = checkText(path, readFileSync(join(folder, path), "utf8"));
    onFile(report);
    return report;
  });
}

/** Reports on the text of one fixture file. */
export function checkText(name: string, text: string): FileReport {
  try {
    const fixture: unknown = JSON.parse(text);
    const kind = KINDS.find((k) => matches(k, fixture));
    if (kind === undefined) return failed(name, "unknown: no kind of fixture has these fields");
    if (kind.check === undefined) return { name, verdict: "not yet", checks: [], reason: kind.name };
    return judge(name, kind.check(fixture as never));
  } catch (error) {
    const unreadable = error instanceof SyntaxError ? "unknown: not JSON, " : "";
    return failed(name, unreadable + (error instanceof Error ? error.message : String(error)));
  }
}

function matches(kind: Kind, fixture: unknown): boolean {
  if (!hasFields(fixture, kind.fields)) return false;
  if (kind.caseFields === undefined) return true;
  const { cases } = fixture as { readonly cases?: unknown };
  return Array.isArray(cases) && hasFields(cases[0], kind.caseFields);
}

function hasFields(value: unknown, fields: readonly string[]): boolean {
  return typeof value === "object" && value !== null && fields.every((field) => Object.hasOwn(value, field));
}

function judge(name: string, checks: readonly Check[]): FileReport {
  if (checks.length === 0) return failed(name, "the file lists nothing to check");
  const worst = checks.reduce((a, b) => (severity(b) > severity(a) ? b : a));
  return { name, verdict: checks.every(passes) ? "ok" : "FAIL", worst, checks };
}

function failed(name: string, reason: string): FileReport {
  return { name, verdict: "FAIL", checks: [], reason };
}

/** NaN never passes. */
export function passes(check: Check): boolean {
  return check.error <= check.tolerance;
}

function severity(check: Check): number {
  if (Number.isNaN(check.error)) return Number.POSITIVE_INFINITY;
  if (check.tolerance > 0) return check.error / check.tolerance;
  return check.error > 0 ? Number.POSITIVE_INFINITY : 0;
}
