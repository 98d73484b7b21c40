/**
 * Several markers on one map: bilirubin, albumin and prothrombin time of the bundled cohort by five-fold cross-validation, and the sharing
 * verdict on simulated pairs of markers with the same place, one shared axis, or nothing in common. Writes docs/studies/markers.md.
 * Usage: npm run study:markers
 */
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { compareSeveral, type SeveralDifference } from "../packages/core/src/evaluate/several-compare.ts";
import { type SharingVerdict, sharingVerdict } from "../packages/core/src/evaluate/sharing.ts";
import { fitDtm, readCohort, simulatePlaces } from "../packages/core/src/index.ts";
import { MARKER_RELATIONS } from "../packages/core/src/simulate/places.ts";
import { SEVERAL_WORDS } from "../packages/report/src/words.ts";
import { markdownTable } from "./shared/cohorts.ts";

const FOLDS = 5;
const SEEDS = [1, 2, 3];

const signed = (x: number, digits = 2) => `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(digits)}`;
const withError = ({ mean, se }: Pick<SeveralDifference, "mean" | "se">, digits = 2) =>
  `${signed(mean, digits)} (${se.toFixed(digits)})`;

/** What the verdict should be: nothing in common is no map. */
const isRight = (relation: string, { state }: SharingVerdict) => (relation === "unrelated") === (state === "separate");

const { cohort } = readCohort(readFileSync("examples/pbc/visits.csv", "utf8"), {
  markers: [{ column: "bili", transform: "log" }, { column: "albumin" }, { column: "protime", transform: "log" }],
});
const compared = (noise: "white" | "level") =>
  compareSeveral(cohort, {
    folds: FOLDS,
    noise,
    onProgress: ({ iteration }) => process.stderr.write(`${noise}, fold ${iteration}\n`),
  });
const { models, differences, markers, area } = compared("white");
const leveled = compared("level");
const shared = sharingVerdict(cohort, fitDtm(cohort));
process.stderr.write(`${shared.sentences[0]}\n`);

const jointOf = (of: typeof models) =>
  of.map(({ model, perIndividual }) => [SEVERAL_WORDS[model], perIndividual.toFixed(3)]);
const pairedOf = (of: typeof differences) =>
  of.map((own) => [
    `${SEVERAL_WORDS[own.model]} − ${SEVERAL_WORDS[own.reference]}`,
    withError(own),
    signed(own.trimmed),
    `${Math.round(100 * own.above)}%`,
  ]);
const JOINT_HEAD = ["model", "log-likelihood per individual"];
const PAIRED_HEAD = ["difference per individual", "mean", "5% trimmed", "individuals above 0"];
const forecasts = markers.map(({ marker, numFuture, forecast, fromOthers, coverage, areaAlone }) => [
  marker,
  String(numFuture),
  withError(forecast.dtm, 3),
  withError(forecast.lmm, 3),
  withError(forecast.othersAdd, 3),
  withError(fromOthers.dtm),
  withError(fromOthers.lmm),
  `${(100 * coverage.p50).toFixed(1)}%, ${(100 * coverage.p90).toFixed(1)}%`,
  areaAlone.toFixed(1),
]);

let right = 0;
const simulated = MARKER_RELATIONS.map((relation) => [
  relation,
  ...SEEDS.map((seed) => {
    const { cohort: pair } = simulatePlaces({ relation, seed });
    const verdict = sharingVerdict(pair, fitDtm(pair));
    if (isRight(relation, verdict)) right++;
    process.stderr.write(`${relation}, seed ${seed}: ${verdict.sentences[0]}\n`);
    return `${signed(verdict.difference, 0)} (${verdict.state})`;
  }),
]);
const numSimulated = MARKER_RELATIONS.length * SEEDS.length;

const page = `# Several markers on one map

\`npm run study:markers\` writes this page. Log-likelihoods and densities are held-out, differences paired by individual, standard errors in brackets. Noise
is white where nothing else is said, means of mixed models are curves.

## Bilirubin (log), albumin and prothrombin time (log) of the PBC cohort

312 individuals, 1,945 values of each marker, ${FOLDS} folds, one start of each map.

${markdownTable(JOINT_HEAD, jointOf(models))}

${markdownTable(PAIRED_HEAD, pairedOf(differences))}

Marker by marker: log density of future values (after the median visit) per value against the marker's own map given its own past, for the shared map and for
the mixed model given the past of all markers; what the pasts of the others add within the shared map; the marker predicted from the other markers alone, per
individual, against its own map without any; how many of the future values the 50% and 90% intervals of the shared map hold; median area of the 90% region of
places by the marker alone. By all markers it is ${area.toFixed(1)}.

${markdownTable(["marker", "future values", "one map", "mixed model", "others add", "from others: one map", "from others: mixed model", "50%, 90% hold", "area alone"], forecasts)}

Fitted to everybody: ${shared.sentences[0]}

## The same with a level of the noise for each individual and marker (\`--noise level\`)

All models have levels, so that like is compared with like.

${markdownTable(JOINT_HEAD, jointOf(leveled.models))}

${markdownTable(PAIRED_HEAD, pairedOf(leveled.differences))}

The 50% and 90% intervals of the shared map hold, marker by marker: ${leveled.markers
  .map(({ marker, coverage }) => `${marker} ${(100 * coverage.p50).toFixed(1)}%, ${(100 * coverage.p90).toFixed(1)}%`)
  .join("; ")}. Median area of the 90% region of places by all markers: ${leveled.area.toFixed(1)}.

## The sharing verdict on simulated pairs

200 individuals, ${SEEDS.length} seeds of each relation (\`simulate/places.ts:simulatePlaces\`): the bound of the shared map less those of the markers' own maps, and the
verdict. Right in ${right} of ${numSimulated}: only markers with nothing in common are to be refused.

${markdownTable(["relation", ...SEEDS.map((seed) => `seed ${seed}`)], simulated)}
`;
writeFileSync("docs/studies/markers.md", page);
