/** Risks after a landmark and checks of Cox's model, for a terminal. */
import { incidenceAt, type LandmarkSurvival } from "@trajectory-maps/core/study";
import {
  CROSS_FITTED,
  INCIDENCE_NOTE,
  POOLED_NOTE,
  PROPORTIONAL_NOTE,
  ratio,
  ratioInterval,
} from "@trajectory-maps/report";
import { showP } from "./results.ts";
import { table } from "./table.ts";
import { bounds, counted, line, percent, significant, whole } from "./words.ts";

/** Cumulative incidence, proportional hazards, Cox over draws of places, cross-fitted concordance and calibration. */
export function riskPage(survival: LandmarkSurvival, timeUnit: string): string {
  return [...incidenceLines(survival, timeUnit), ...coxLines(survival), ...crossFittedLines(survival, timeUnit)].join(
    "\n",
  );
}

const percentOf = (x: number) => (Number.isFinite(x) ? percent(x) : "-");
const share = (value: number, lower: number, upper: number) =>
  `${percentOf(value)} [${percentOf(lower)}, ${percentOf(upper)}]`;

function incidenceLines({ competing, groups, riskTimes, event }: LandmarkSurvival, timeUnit: string): string[] {
  if (competing === null) return [];
  const names = [event, ...competing.names];
  const unit = timeUnit && ` ${timeUnit}`;
  const rows = competing.curves.flatMap((curve, k) =>
    names.map((name, cause) => [
      `${groups[k]?.letter ?? ""}  ${name}`,
      whole(curve.causes[cause]?.numEvents ?? 0),
      ...incidenceAt({ ...curve, ...curve.causes[cause]! }, riskTimes).map(({ incidence, lower, upper }) =>
        share(incidence, lower, upper),
      ),
    ]),
  );
  return [
    line("Incidence", INCIDENCE_NOTE),
    "",
    table(["Group at the landmark", "events", ...riskTimes.map((t) => `by ${significant(t)}${unit} [95% CI]`)], rows),
    "",
  ];
}

function coxLines({ cox, coxCovariates, pooledCox, proportionalHazards }: LandmarkSurvival): string[] {
  const axes = cox.terms.length - coxCovariates.length;
  const names = cox.terms.map((_, k) => (k < axes ? `axis ${k + 1}` : (coxCovariates[k - axes] ?? "")));
  const withInterval = (value: number, lower: number, upper: number) =>
    `${ratio(value)} [${ratioInterval(lower, upper, ", ")}]`;
  const [km, identity] = proportionalHazards;
  const rows = cox.terms.map((term, k) => {
    const [visits, pooled] = [pooledCox?.visits.terms[k], pooledCox?.event.terms[k]];
    const over = (own: typeof pooled) =>
      own === undefined ? "-" : withInterval(own.hazardRatio, own.hazardLower, own.hazardUpper);
    return [
      names[k] ?? "",
      withInterval(term.hazardRatio, term.lower, term.upper),
      over(visits),
      over(pooled),
      pooled === undefined ? "-" : percent(pooled.missingInformation),
      showP(km?.terms[k]?.pValue ?? Number.NaN),
      showP(identity?.terms[k]?.pValue ?? Number.NaN),
    ];
  });
  const global = [km, identity].map((test) => showP(test?.global.pValue ?? Number.NaN));
  return [
    line(
      "Places",
      `${pooledCox === null ? "Places were not drawn: too few events, a hazard ratio without finite estimate, or too many individuals." : `${counted(pooledCox.event.draws, "draw")}. ${POOLED_NOTE}`}`,
    ),
    line("Hazards", PROPORTIONAL_NOTE),
    "",
    table(
      [
        "Cox, hazard ratio",
        "at mean places",
        "draws: visits",
        "draws: event too",
        "missing",
        "PH p (KM)",
        "PH p (time)",
      ],
      [...rows, ["all together", "", "", "", "", ...global]],
    ),
    "",
  ];
}

function crossFittedLines({ risk, cox, predictors, competing }: LandmarkSurvival, timeUnit: string): string[] {
  if (risk === null) return [line("Risk", "Too few events to cross-fit risks.")];
  const { value, lower, upper } = risk.concordance;
  const base = predictors.rows.find(({ predictors: known }) => known.endsWith("last value and visits"));
  const unit = timeUnit && ` ${timeUnit}`;
  const rows = risk.calibration.flatMap(({ time, overall, groups }) => [
    ...(groups.length > 1
      ? groups.map((group, k) => ({ name: `by ${significant(time)}${unit}, part ${k + 1} of ${groups.length}`, group }))
      : []),
    { name: `by ${significant(time)}${unit}, all`, group: overall },
  ]);
  return [
    line(
      "Risk",
      `${CROSS_FITTED} Concordance ${value.toFixed(2)} [${bounds(lower, upper, 0.5).join(", ")}], on the same individuals ` +
        `${cox.concordance.concordance.toFixed(2)}` +
        `${base !== undefined && Number.isFinite(base.value) ? `; ${base.predictors} alone, held out: ${base.value.toFixed(2)}` : ""}. ` +
        `Below: mean predicted risk beside what was observed (${competing === null ? "Kaplan–Meier" : "Aalen–Johansen"}), ` +
        "in parts from the lowest to the highest predicted risk.",
    ),
    "",
    table(
      ["Calibration", "individuals", "events", "predicted", "observed [95% CI]", "observed/predicted"],
      rows.map(({ name, group }) => [
        name,
        whole(group.numIndividuals),
        whole(group.numEvents),
        percent(group.predicted),
        share(group.observed, group.lower, group.upper),
        (group.observed / group.predicted).toFixed(2),
      ]),
    ),
  ];
}
