/** What docs/calibration.md says beside its tables: where each test is measured, with the figures of the study that has most of them. */
import { markdownTable } from "./cohorts.ts";

const study = (name: string) => `[${name}](studies/${name}.md), \`npm run study:${name}\``;

export const MEASURED = markdownTable(
  ["what is shown", "where there is nothing to find", "measured by"],
  [
    [
      "outcome against places: p by multipliers, its approximation",
      "3.9 to 5.9% with unequal numbers of visits, follow-up, entry and spacing (1,000 studies a row); 3.5 to 6.0% where visits follow values that were seen, 3.4 to 5.6% where all come when a value is bad, known or not. **Fails** where one group comes because of a value nobody had seen: 8.8 to 57%",
      study("type-one"),
    ],
    [
      "the same among people seen equally often",
      "3.2 to 4.8% where the outcome was drawn from visits that follow the course; 36, 33 and 45% power for 98% of the test alone",
      study("visit-outcomes"),
    ],
    [
      "the same adjusted for covariates; time to an event adjusted",
      "4.0 to 7.4%; 12.7% with a very strong confounder and squares alone at 1,000 individuals (the product takes cubes from 500 on: 6.6%)",
      study("adjusted"),
    ],
    [
      "difference map, its band and outlined areas",
      "band 3.8 to 6.0%, drawn 1.4 to 3.6%; shares of an area in the people who drew it flatter it by a third",
      study("visit-outcomes"),
    ],
    [
      "AUC and its interval",
      "leaves out ½ in 1.5 and 3.0% (200 studies)",
      `${study("type-one")} \`-- --effects\`; below`,
    ],
    [
      "what the place adds to last value and visits",
      'above 0 in 0 to 2 of 100 studies, below 0 in 10 to 20 of 100: held out, noise costs, and the sentence says "no gain shown"',
      `${study("place-adds")}; below`,
    ],
    ["test under an estimated prior; density test as published", "", "below, outcomes"],
    [
      "score test of covariates",
      "4.0 to 6.0% (2,000 studies a row); χ² down to 2.6% with ten in a level",
      study("adjusted"),
    ],
    [
      "intervals of covariates' effects in the mean; ellipse of shifts",
      "95% intervals cover 95 to 97%; columns of noise on real courses leave out 0 in 3 to 6%. Ellipse 5.8, 10.0 and 7.5% without 0 (120, 40, 40 fits); shifts of 150 individuals a quarter too long",
      study("covariates"),
    ],
    [
      "survival: whole posteriors, log-rank, Cox, Cox over draws of places, proportional hazards, C, observed against predicted risk",
      "",
      "below, times to an event",
    ],
    ["power of a planned study", "3.4 to 6.2% predicted and 3.8 to 6.4% found at odds ratio 1", study("power")],
    ["calibrated bands (`dtm calibrate`)", "88 to 92% by visits known and time", study("conformal")],
    [
      "comparison with simpler models; warning of informative dropout; one map or several",
      "",
      `below, verdicts; ${study("markers")} has the sharing verdict right in 9 of 9`,
    ],
    ["suspect values", "6 of 1,945 told in bilirubin as it is", study("suspect")],
    [
      "groups by course, characteristics by group, dropout sensitivity, sensitivity to choices",
      "no test and no interval is shown: standardised differences, shifts and agreement only",
      "",
    ],
  ],
);

export const NOT_MEASURED = `Permutation of places, also within strata of visits, is no longer part of the product; [type-one](studies/type-one.md) has why. Not measured: the test of an outcome from values up to a landmark, competing events, survival adjusted for covariates beside the
test on whole posteriors, maps fitted to each study in the parts below (the [power](studies/power.md) study and \`--refit\` of type-one fit them), several markers, groups seen differently that have an informative event, simultaneous bands, times to a threshold and bands of rates.`;

/** Written by hand from the rows of studies/calibration.jsonl that were there; whoever adds rows reads them anew. */
export const READING = `Reading (bands and regions: of the first rows, mostly one seed a cell; the tables may have more by now):

- **Forecast bands hold** for every model with the noise that \`auto\` takes, on its own data and on other families, at each number of visits known: no 50 or 90% share is too low by more than three standard errors and three points. These are averages over
  everybody: a model with white noise also holds its share where people differ in their noise, by bands too wide for some and too narrow for others.
- **Too wide** with heavy-tailed noise: 50% bands hold 54 to 60%, also with levels, since the tails are those of visits and not of people.
- **Bounded values**: 90% bands of LMM, FPCA and \`dtm\` hold 88 to 89%.
- **Regions** of maps hold their level. Ellipses of LMM and FPCA hold 84 to 85% where noise levels differ between people or values are bounded: lower, within three standard errors.
- **\`auto\` took the noise that data were drawn with** in every cell, levels for heavy-tailed noise.
- **The density test as published fails** where groups are seen differently: found in all of 20 studies with 2 against 8 visits and in 15 of 20 where cases leave after a bad value, with nothing to find. It is shown beside the test on whole posteriors, which keeps its level.
- **The interval of the C of cross-fitted risks** leaves out ½ in 23 of 500 null studies, since it always reaches ½: below it is nothing to find ([survival §9](math/survival.md)).
- **Cox on mean places** finds something in 13 of 100 null studies where everybody is seen at a rate of their own, and its second axis leaves out the truth in 12 of these; elsewhere in 3 to 6. The test on whole posteriors, which is the one that is read out, does in 2, and in 16 of all 500.
- **Proportional hazards** are doubted in 6 to 7% of 500 null studies, and in 82 and 85 of 100 where the effect turns round.
- **Observed risks** never leave out the predicted one, in all 800 studies: the interval is that of a Kaplan–Meier curve, and predicted risks follow the same people's events.
- **Cox over draws given visits alone** is drawn towards no effect (the truth is left out in 57 of 200 studies with an effect), as it says of itself; given the event too it is not (7).
- **What the place adds** is below 0 in about a tenth of studies without anything to add, and above in 2 of 497.`;
