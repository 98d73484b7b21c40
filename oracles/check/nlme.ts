/**
 * fixtures/r/two_markers.json, written by oracles/nlme.R: the mixed model of two markers with an intercept and a slope each. Lines are
 * spanned by two basis functions, so the likelihood is the same function of other coefficients; its maximum may lie above nlme's, but
 * not by more than 1e-4 of it: then one of the two would be another function. Effects of the covariate are compared with their standard errors.
 */

import { prepareMarkers } from "../../packages/core/src/models/choose-noise.ts";
import { fitLmmEffects } from "../../packages/core/src/models/linear/covariate-effects.ts";
import { fitLmm } from "../../packages/core/src/models/linear-models.ts";
import { atLeast, type Check, compare, compareAbsolute, fixtureMarkers } from "./checker.ts";

interface NlmeFixture {
  readonly tolerance: number;
  readonly visits: { readonly [column in "id" | "marker" | "time" | "value"]: readonly number[] };
  readonly covariate: readonly number[];
  readonly cases: readonly {
    readonly mean: "scalar" | "spline";
    readonly logLik: number;
    readonly effects?: readonly {
      readonly coefficients: readonly number[];
      readonly standard_errors: readonly number[];
    }[];
  }[];
}

export function checkNlme({ visits, covariate, cases, tolerance }: NlmeFixture): Check[] {
  const cohort = fixtureMarkers(
    [...new Set(visits.marker)].map((name) => {
      const own = [...visits.marker.keys()].filter((j) => visits.marker[j] === name);
      const column = (from: readonly number[]) => own.map((j) => from[j]);
      return { individual: column(visits.id), time: column(visits.time), value: column(visits.value) };
    }),
  );
  const basis = { numBasis: 2, degree: 1, rounded: false };
  const { statistics } = prepareMarkers(cohort, basis);
  return cases.flatMap(({ mean, logLik, effects }) => {
    const options = { mean, priors: "none" } as const;
    const covariates = { form: "level-and-rate", numCovariates: 1, covariates: Float64Array.from(covariate) } as const;
    const adjusted = effects && fitLmmEffects(statistics, covariates, { ...options, tolerance: 1e-9 });
    const model = adjusted ?? fitLmm(cohort, { ...options, ...basis });
    const found = model.record.trace.at(-1)!;
    const name = effects === undefined ? mean : `${mean}, covariate`;
    const errors = adjusted?.covariateEffects.covariance.filter((_, e) => e % 5 === 0).map(Math.sqrt);
    return [
      atLeast(`${name}: logLik`, found, logLik, tolerance * Math.abs(logLik)),
      compareAbsolute(`${name}: logLik, distance`, found, logLik, 1e-4 * Math.abs(logLik)),
      ...(effects ?? []).flatMap((own, k) => [
        compare(
          `${name}: effects.${k}.coefficients`,
          adjusted!.covariateEffects.coefficients[k],
          own.coefficients,
          1e-4,
        ),
        compare(`${name}: effects.${k}.standard_errors`, errors!.slice(2 * k, 2 * k + 2), own.standard_errors, 1e-4),
      ]),
    ];
  });
}
