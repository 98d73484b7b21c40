/** Comparison, groups, associations and survival as a biostatistician would like to read them in a terminal. */
import type { Association, Comparison, Marker } from "@trajectory-maps/core";
import type { Outcome } from "@trajectory-maps/core/ingest";
import { decimalsApart, GROUP_METHODS, type LandmarkSurvival, stabilityText } from "@trajectory-maps/core/study";
import {
  adjustedSentence,
  coxCautions,
  gainSentence,
  outcomeLines,
  outcomeNote,
  PREDICTOR_METHOD,
  ratio,
  ratioInterval,
  SEPARATION_NOTE,
  timeWord,
} from "@trajectory-maps/report";
import type { StudiedGroups } from "../commands/study-parts.ts";
import { table } from "./table.ts";
import { bounds, counted, line, percent, significant, whole } from "./words.ts";

/** A p-value: four decimals, more where it would read like 0.05 and is not, or its size where it is smaller. */
export function showP(p: number): string {
  if (!Number.isFinite(p)) return "-";
  if (p >= 1e-4) return p.toFixed(decimalsApart([p], 0.05, 4));
  return p < 1e-99 ? "<1e-99" : p.toExponential(0);
}

/** Two decimals, and no minus before a zero. */
const decimals = (x: number) => x.toFixed(2).replace(/^-(0\.00)$/, "$1");

const plusMinus = (x: { readonly mean: number; readonly se: number }) => `${x.mean.toFixed(2)} (${x.se.toFixed(2)})`;

const covers = ({ p50, p90 }: { readonly p50: number; readonly p90: number }) => `${percent(p50)}, ${percent(p90)}`;

/** Table 1: held-out log-likelihood, forecasts, coverage; differences; the verdict. */
export function comparisonPage({ models, differences, folds, repeats, verdict, warnings }: Comparison): string {
  const rows = models.map(({ model, mean, subjectLogLik, observationLogLik }) => {
    const difference = differences.find((d) => d.model === model);
    return [
      model,
      mean,
      plusMinus(subjectLogLik),
      `${observationLogLik.mean.toFixed(3)} (${observationLogLik.se.toFixed(3)})`,
      difference === undefined
        ? ""
        : `${difference.mean >= 0.005 ? "+" : ""}${decimals(difference.mean)} [${decimals(difference.lower)}, ${decimals(difference.upper)}]`,
    ];
  });
  const reference = differences[0]?.reference;
  const header = [
    "Model",
    "mean",
    "per individual",
    "per observation",
    reference === undefined ? "" : `minus ${reference}`,
  ];
  const forecasts = models.map(({ model, nextVisit: next, forecast, coverage }) => [
    model,
    next.crps.toFixed(3),
    next.mae.toFixed(3),
    covers(next.coverage),
    forecast.crps.toFixed(3),
    forecast.mae.toFixed(3),
    covers(coverage),
  ]);
  const main = models.find(({ model }) => model === "dtm") ?? models[models.length - 1];
  const known = (main?.nextVisit.byKnown ?? [])
    .map(({ from, to, p50, p90 }) => `${from === to ? from : `${from} to ${to}`}: ${covers({ p50, p90 })}`)
    .join("; ");
  const repeated = repeats > 1 ? `, ${repeats} times` : "";
  return [
    line("Compared", `held-out log-likelihood, ${folds} folds${repeated} (standard error over folds)`),
    "",
    table(header, rows, [1]),
    "",
    line("Forecasts", "of the next visit from all before it, and of the second half of the visits from the first"),
    "",
    table(["Model", "next CRPS", "MAE", "50%, 90% cover", "second half CRPS", "MAE", "50%, 90% cover"], forecasts),
    "",
    ...(known === ""
      ? []
      : [line("Coverage", `of ${main?.model} by visits known, 50% and 90% intervals: ${known}`), ""]),
    line("Verdict", verdict),
    ...warnings.map(({ code, message }) => line("Warning", `${message} [${code}]`)),
  ].join("\n");
}

/** Groups with names, sizes, courses, evidence and stability. */
export function groupsPage(
  { groups: { method, groups, choice, certainty }, stability }: StudiedGroups,
  marker: Marker,
): string {
  const total = groups.reduce((sum, { numMembers }) => sum + numMembers, 0);
  const rows = groups.map(({ letter, name, summary, rate, numMembers, numSeen, until }, k) => {
    const kept = stability?.groups.find(({ group }) => group === k)?.pairsKept;
    return [
      letter,
      name,
      whole(numMembers),
      percent(numMembers / total),
      rate === "" ? summary : `${summary}, ${rate}`,
      whole(numSeen),
      significant(Math.floor(10 * until + 1e-9) / 10),
      kept === undefined || Number.isNaN(kept) ? "" : percent(kept),
    ];
  });
  const unit = marker.timeUnit && ` ${marker.timeUnit}`;
  const lines = [
    line(
      "Groups",
      `${counted(groups.length, "group")} of ${counted(total, "individual")}, ` +
        `by ${GROUP_METHODS[method]} the places` +
        (method === "mixture" ? `; membership is ${percent(certainty)} certain (groups.csv has the shares)` : ""),
    ),
    ...(choice === null ? [] : [line("", choice.sentence)]),
    "",
    table(
      [
        "",
        "Name",
        "size",
        "share",
        "median course",
        "seen that long",
        `told to${unit && ` (${marker.timeUnit})`}`,
        "pairs kept",
      ],
      rows,
      [1, 4],
    ),
    "",
    line(
      "",
      "Names and numbers are of the median of the members' expected courses while at least half of them are followed.",
    ),
  ];
  const others = groups.flatMap(({ letter, markers = [] }) =>
    markers.slice(1).map((own) => [letter, own.marker, own.name, own.summary]),
  );
  if (others.length > 0) lines.push("", table(["", "Marker", "in this group", "median course"], others, [1, 2, 3]));
  if (stability !== null) {
    const advice =
      stability.verdict === "stable" ? "" : " Read them as regions of a continuum, not as disease subtypes.";
    lines.push("", line("Stability", `${stabilityText(stability)} to 80% of the individuals.${advice}`));
  }
  return lines.join("\n");
}

/** Outcomes in sentences, then Table 2 with every statistic: p-values as published too, effect sizes, checks and warnings. */
export function associationPage(association: Association, timeUnit = "", read: readonly Outcome[] = []): string {
  const { outcomes, controls, visitsFollow, primary, draws, madeUp, adjustedFor } = association;
  const { related, rest } = outcomeLines(
    outcomes.map((o) => ({ ...o, caseMeans: read.find(({ name }) => name === o.outcome)?.caseMeans })),
    { timeWord: timeWord(timeUnit) },
  );
  const isAdjusted = adjustedFor.length > 0;
  const names = Object.keys(outcomes[0]?.representations ?? {});
  const rows = outcomes.map((o) => [
    o.outcome,
    whole(o.cases),
    whole(o.controls),
    showFloor(o),
    showP(o.adjusted.holm),
    Number.isFinite(o.p) ? decimals(o.effect.auc.value) : "-",
    Number.isFinite(o.p) ? bounds(o.effect.auc.lower, o.effect.auc.upper, 0.5).join(" to ") : "-",
    showP(o.priorP),
    o.seenEqually === null ? "-" : showP(o.seenEqually.p),
    ...(isAdjusted ? [] : names.map((name) => showP(o.representations[name]?.kde?.p ?? Number.NaN))),
  ]);
  const header = [
    "Outcome",
    "with",
    "without",
    "p",
    "Holm",
    "AUC",
    "95% CI",
    "prior p",
    "seen alike",
    ...(isAdjusted ? [] : names.map((name) => `KDE ${name}`)),
  ];
  const floors = rows.some(([, , , p]) => p?.includes("(")) ? "; in brackets by moments, where no draw was as far" : "";
  const warnings = outcomes.flatMap((o) =>
    o.warnings.map(({ code, message }) => line("Warning", `${o.outcome}: ${message} [${code}]`)),
  );
  const checks = controls.map(({ control, p }) => `${control} ${showP(p)}`).join("; ");
  const made =
    madeUp === null ? "" : ` Of ${madeUp.labellings} made-up outcomes ${percent(madeUp.below)} were below 0.05.`;
  return [
    line("Outcomes", outcomeNote(outcomes)),
    ...related.flatMap(({ name, sentence, p }) => ["", line("", `${name}: ${sentence} p ${p}.`)]),
    ...(rest === "" ? [] : ["", line("", rest)]),
    "",
    line(
      "Details",
      `p: are those with and without it spread differently over the map (${primary}, ${whole(draws)} draws${floors})? ` +
        "Uses all that is known and not known about each place; number, length and spacing of visits may differ between " +
        "the groups. Holm: p adjusted over outcomes. AUC: from these records, one with it is placed on their side of one " +
        "without in this share of pairs; 0.5 is chance. Prior p: with an estimated spread of places. Seen alike: p beside number, first and last " +
        "time of visits, asked where p is below 0.05" +
        (isAdjusted ? "" : ". KDE: as published"),
    ),
    ...(isAdjusted ? [line("", adjustedSentence(adjustedFor, association.leftOut))] : []),
    "",
    table(header, rows),
    "",
    line(
      "Separates",
      `AUC of simple predictors and of the place. ${gainSentence(outcomes)} ${PREDICTOR_METHOD} ${SEPARATION_NOTE}`,
    ),
    "",
    table(
      [
        ...["Outcome", ...(isAdjusted ? ["covariates"] : []), "last value", "visits only", "place"],
        ...[isAdjusted ? "first three" : "value, visits", "and place", "place adds", "95% CI"],
      ],
      outcomes.map(({ outcome, predictors: { rows, added, placeUsed } }) => [
        outcome,
        ...rows.map(({ value }) => (Number.isFinite(value) ? decimals(value) : "too few")),
        ...showAdded(added, placeUsed),
      ]),
    ),
    ...(warnings.length > 0 ? ["", ...warnings] : []),
    ...(checks === "" ? [] : ["", line("Visits", `${visitsFollow ?? `tested like an outcome, p: ${checks}.`}${made}`)]),
  ].join("\n");
}

/** What the place adds, and its interval; or that it was shrunk out of every fold. */
function showAdded(
  { value, lower, upper }: { value: number; lower: number; upper: number },
  placeUsed: boolean,
): [string, string] {
  const three = (x: number) => x.toFixed(3).replace(/^-(0\.000)$/, "$1");
  if (Number.isFinite(value) && !placeUsed) return ["not used", "-"];
  return Number.isFinite(value) ? [three(value), bounds(lower, upper, 0, 3).join(" to ")] : ["-", "-"];
}

/** p; at the floor of the draws with its approximation, which is not to be relied on with few cases. */
function showFloor({ p, draws, approximation, cases, controls }: Association["outcomes"][number]): string {
  if (!(p <= 1.5 / (draws + 1)) || Math.min(cases, controls) < 50 || !(approximation < p)) return showP(p);
  return `${showP(p)} (${approximation < 1e-99 ? "<1e-99" : approximation.toExponential(0)})`;
}

/** Median with its interval; "-" for an end that is not reached. */
function showMedian({ time, lower, upper }: LandmarkSurvival["curves"][number]["median"]): string {
  const end = (t: number) => (Number.isFinite(t) ? significant(t) : "-");
  return Number.isFinite(time) ? `${significant(time)} [${end(lower)}, ${end(upper)}]` : "not reached";
}

/** Survival after the landmark: groups, log-rank, Cox. */
export function survivalPage(survival: LandmarkSurvival, timeUnit: string): string {
  const { event, landmark, curves, groups, emptyGroups, crossTable, logRank, cox, leftOut, numIndividuals, numEvents } =
    survival;
  const all = [...groups, ...emptyGroups].sort((a, b) => a.group - b.group);
  const { mapTest, predictors, competing, adjustedFor, withoutCovariates, coxCovariates, placeTest } = survival;
  const unit = timeUnit && ` ${timeUnit}`;
  const rows = curves.map((curve, k) => [
    `${groups[k]?.letter ?? ""}  ${groups[k]?.name ?? ""}`,
    whole(curve.numIndividuals),
    whole(curve.numEvents),
    // With competing events censored a median is of no use; cumulative incidence is told apart.
    ...(competing === null ? [showMedian(curve.median)] : []),
  ]);
  const left =
    `${leftOut.eventBefore} with the event by then, ${leftOut.censoredBefore} whose follow-up had ended, ` +
    `${leftOut.noVisitBefore} not yet seen, ${leftOut.unknown} unknown`;
  const empty = emptyGroups.map(({ letter, name }) => `${letter} (${name})`).join(", ");
  const terms = cox.terms
    .slice(0, cox.terms.length - coxCovariates.length)
    .map((t, k) => `axis ${k + 1}: ${ratio(t.hazardRatio)} [${ratioInterval(t.lower, t.upper, ", ")}]`)
    .join("; ");
  const cautions = coxCautions(cox.warnings, adjustedFor.length > 0 ? "term" : "axis");
  return [
    line(
      "Survival",
      `time to ${event} from the landmark at ${significant(landmark)}${unit} on. Each place uses visits up to the landmark only; ` +
        "the map itself was fitted on all visits.",
    ),
    line(
      "",
      `${counted(numIndividuals, "individual")}, ${counted(numEvents, "event")}` +
        `${competing === null ? "" : `, competing: ${competing.names.map((name, k) => `${whole(competing.numEvents[k] ?? 0)} ${name}`).join(", ")}`}` +
        `; left out: ${left}`,
    ),
    ...(adjustedFor.length === 0
      ? []
      : [line("", `${adjustedSentence(adjustedFor, withoutCovariates)} Curves, medians and log-rank are not.`)]),
    "",
    table(
      [
        "Group at the landmark",
        "individuals",
        "events",
        ...(competing === null ? [`median [95% CI]${unit && `, ${timeUnit} since the landmark`}`] : []),
      ],
      rows,
    ),
    "",
    line("", "The groups are those at the landmark. Against the final ones, from all visits:"),
    "",
    table(
      ["at the landmark", ...all.map(({ letter }) => `${letter} finally`)],
      crossTable.map((row, early) => [all[early]?.letter ?? "", ...row.map(whole)]),
    ),
    ...(empty === "" ? [] : ["", line("", `Nobody is in ${empty} at the landmark.`)]),
    "",
    line(
      "Map",
      `does the time go with the place? Score test on whole posteriors, from all values up to each one's end of follow-up: ` +
        `p ${showP(mapTest.p)} (${counted(mapTest.numIndividuals, "individual")}, ${counted(mapTest.numEvents, "event")})`,
    ),
    ...(logRank === null
      ? []
      : [line("Log-rank", `p ${showP(logRank.pValue)}, between the groups of five individuals or more`)]),
    line(
      "Cox",
      `hazard ratios per unit of the map, ${terms}; p ${showP(placeTest.pValue)}${adjustedFor.length > 0 ? " of the place beside the covariates" : ""}; concordance ` +
        `${cox.concordance.concordance.toFixed(2)} on the same individuals` +
        `${cautions.length === 0 ? "" : `. Caution: ${cautions.join("; ")}`}`,
    ),
    "",
    line(
      "Predicts",
      `concordance of what was known at the landmark. ${predictors.verdict} ${PREDICTOR_METHOD} The map was fitted on all visits, which favours the place.`,
    ),
    "",
    table(
      ["Known at the landmark", "C", "95% CI"],
      predictors.rows.map(({ predictors: known, value, lower, upper }) => [
        known,
        ...(Number.isFinite(value)
          ? [decimals(value), bounds(lower, upper, 0.5).join(" to ")]
          : ["too few events", "-"]),
      ]),
    ),
  ].join("\n");
}
