/** Every kind of model, with every number and every list of it spoilt: loading refuses, with a code, the field and what to do. */
import { describe, expect, it } from "vitest";
import { makeCohort } from "../../cohort/cohort.ts";
import { codeCovariates } from "../../covariates/code.ts";
import { withCovariates } from "../../covariates/covariates.ts";
import { DtmError } from "../../errors.ts";
import { calibrateForecasts, withCalibrations } from "../../evaluate/calibrate.ts";
import { simulateCohort } from "../../simulate/cohorts.ts";
import { simulatePlaces } from "../../simulate/places.ts";
import { fitDtm, fitFpca, fitLinear, fitLmm } from "../fit-models.ts";
import type { TrajectoryModel } from "../model.ts";
import { loadModel, saveModel } from "../save.ts";
import { canonicalJson, checksum } from "./canonical-json.ts";
import { MODEL_REMEDY } from "./expect-field.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 60, seed: 3 });
const quick = { mapDimension: 1, numBasis: 3, nodes: { step: 0.8 }, restarts: 0, maxIterations: 3 } as const;
const several = simulatePlaces({ numIndividuals: 40, seed: 5 }).cohort;
const ids = cohort.ids;
const table = {
  ids,
  columns: [
    { name: "age", cells: ids.map((_, i) => String(40 + ((7 * i) % 31))) },
    { name: "sex", cells: ids.map((_, i) => (i % 3 === 0 ? "m" : "f")) },
  ],
};
const coded = (effect: "places" | "level") =>
  withCovariates(cohort, codeCovariates(table, ids, { covariates: [{ name: "age" }, { name: "sex" }], effect }));
const limited = makeCohort({
  ids: Array.from({ length: 90 }, (_, k) => `p${k % 18}`),
  times: Array.from({ length: 90 }, (_, k) => Math.floor(k / 18) + (k % 7) / 10),
  values: Array.from({ length: 90 }, (_, k) => Math.max(3, 3 + (k % 18) / 3 + Math.sin(k))),
  censored: Array.from({ length: 90 }, (_, k) => (3 + (k % 18) / 3 + Math.sin(k) < 3 ? -1 : 0)),
});

const lmm = fitLmm(cohort, { noise: "level" });
const KINDS: Readonly<Record<string, () => TrajectoryModel>> = {
  "lmm with levels and a calibration": () => withCalibrations(lmm, [calibrateForecasts([{ model: lmm, cohort }])]),
  "lmm of values below a limit": () => fitLmm(limited),
  "lmm with effects": () => fitLinear(coded("level"), { effects: "level" }).lmm,
  "fpca with serial noise": () => fitFpca(cohort, { noise: "serial" }),
  "fpca of several markers": () => fitLinear(several).fpca!,
  dtm: () => fitDtm(cohort, { ...quick, mapDimension: 2, inducing: { perDimension: 3 } }),
  "dtm of several markers": () => fitDtm(several, quick),
  "dtm with shifted places": () => fitDtm(coded("places"), quick),
  "dtm with effects": () => fitDtm(coded("level"), quick),
  "dtm-paper": () => fitDtm(cohort, { kind: "dtm-paper", mapDimension: 1, numBasis: 4, maxIterations: 3 }),
};

type Path = readonly (string | number)[];
type Json = Record<string | number, unknown>;
const at = (value: unknown, path: Path): unknown => path.reduce((v, key) => (v as Json)[key], value);

/** The file with the value at a path of its model changed, and its checksum made anew. */
function spoilt(text: string, path: Path, change: (value: never) => unknown): string {
  const file = JSON.parse(text);
  const holder = at(file.model, path.slice(0, -1)) as Json;
  const key = path[path.length - 1];
  holder[key] = change(holder[key] as never);
  const content = canonicalJson({ model: file.model, probe: file.probe });
  return JSON.stringify({ ...file, checksum: checksum(content) });
}

/** Paths of numbers: of a list, its first and its last but one. */
function numberPaths(value: unknown, path: Path = []): Path[] {
  if (typeof value === "number") return [path];
  if (Array.isArray(value) && typeof value[0] === "number") {
    return [...new Set([0, Math.max(0, value.length - 2)])].map((k) => [...path, k]);
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, own]) => numberPaths(own, [...path, key]));
}

/** What refuses a file: its code and words. */
function refusal(text: string): { readonly code: string; readonly message: string } {
  try {
    loadModel(text);
  } catch (error) {
    if (error instanceof DtmError) return error;
    throw error;
  }
  return { code: "none", message: "" };
}

/** Names of the field on the way to a number, its list or what holds it. */
const fieldOf = (path: Path) => path.filter((key) => typeof key === "string" && !/^\d+$/.test(key));

function expectRefused(text: string, path: Path): void {
  const { code, message } = refusal(text);
  expect([path.join("."), code]).toEqual([path.join("."), "bad-model"]);
  expect(message).toContain(MODEL_REMEDY);
  const [name, holder] = fieldOf(path).reverse();
  expect(message.includes(name as string) || message.includes(holder as string), `${path.join(".")}: ${message}`).toBe(
    true,
  );
}

describe.each(Object.entries(KINDS))("a file of %s", (_, fit) => {
  const text = saveModel(fit());
  const { model } = JSON.parse(text);
  const paths = numberPaths(model).filter(([first]) => first !== "record");

  it("is read as it was written", () => {
    expect(refusal(spoilt(text, ["mapDimension"], (q) => q)).code).toBe("none");
    expect(paths.length).toBeGreaterThan(10);
  });

  it("is refused with any number too large or missing", () => {
    for (const path of paths) {
      for (const other of [1e300, null]) {
        // Factors of a calibration, and limits of a residual, may be none.
        if (other === null && /lower|upper|tau$|cap$/.test(path.join())) continue;
        expectRefused(
          spoilt(text, path, () => other),
          path,
        );
      }
    }
  });

  it("is refused with any list of numbers one too short or too long", () => {
    const lists = [
      ...new Set(paths.filter((path) => typeof path.at(-1) === "number").map((path) => path.slice(0, -1).join())),
    ];
    for (const list of lists.filter((name) => !/levels|knownFrom|horizonFrom|limits$/.test(name))) {
      const path = list.split(",");
      expectRefused(
        spoilt(text, path, (numbers: number[]) => numbers.slice(1)),
        path,
      );
      expectRefused(
        spoilt(text, path, (numbers: number[]) => [...numbers, 0]),
        path,
      );
    }
  });

  it("is refused with an indefinite covariance", () => {
    const isCovariance = (path: Path) => /[cC]ovariance$/.test(String(path.at(-2))) && path.at(-1) === 0;
    for (const path of paths.filter(isCovariance).map((own) => own.slice(0, -1))) {
      const n = Math.sqrt((at(model, path) as number[]).length);
      if (n < 2) continue;
      const indefinite = spoilt(text, path, (S: number[]) => {
        const beyond = 2 * Math.sqrt(S[0] * S[n + 1]) + 1;
        return S.map((v, e) => (e === 1 || e === n ? beyond : v));
      });
      expectRefused(indefinite, path);
      expectRefused(
        spoilt(text, path, (S: number[]) => S.map((v, e) => (e === 0 ? -v - 1 : v))),
        path,
      );
    }
  });

  it("is refused with knots or variances out of range", () => {
    const knots = ["markers", 0, "basis", "knots"];
    const changes = [
      (t: number[]) => [...t].reverse(),
      (t: number[]) => t.map(() => t[0]),
      (t: number[]) => t.map((v, k) => (k === 0 ? v - 1 : v)),
      (t: number[]) => t.map((v, k) => (k === 3 ? t[0] : v)),
      (t: number[]) => t.map((v, k) => (k === 3 ? t[t.length - 1] + 1 : v)),
    ];
    for (const change of changes) expectRefused(spoilt(text, knots, change), knots);
    for (const [name, others] of [
      ["variance", [0, -1, 1e-250]],
      ["spread", [-1, 1e3]],
    ] as const) {
      const path = ["markers", 0, "noise", name];
      if (at(model, path) === undefined) continue;
      for (const other of others)
        expectRefused(
          spoilt(text, path, () => other),
          path,
        );
    }
  });

  it("is refused with a centre so far from the values that their digits are lost", () => {
    const path = ["markers", 0, "center"];
    expectRefused(
      spoilt(text, path, () => 2 ** 53),
      path,
    );
  });

  it("is refused with options or fields that are not known", () => {
    for (const path of [["record", "options", "individuals"], ["individuals"], ["markers", 0, "values"]]) {
      expect(refusal(spoilt(text, path, () => [["p1", 71]]))).toMatchObject({ code: "bad-model" });
      expect(refusal(spoilt(text, path, () => [["p1", 71]])).message).toContain(String(path.at(-1)));
    }
  });
});
