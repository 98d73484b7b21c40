/**
 * The STROBE checklist for cohort studies (von Elm and others, Lancet 370, 2007), its twenty-two items answered from the run. What
 * a run cannot know, such as rationale, setting and funding, is answered with no and left to the authors.
 */
import { listWords } from "../numbers.ts";
import { riskTitle } from "../survival-words.ts";
import { capital, midSentence, outcomeName } from "../words.ts";
import { type ChecklistItem, type ChecklistState, SECTIONS } from "./checklist.ts";
import type { Context } from "./context.ts";
import { changedWords } from "./sensitivity-figure.ts";

const AUTHORS = "Not known to the run; to be written by the authors.";

/** All items in their published order. */
export function strobe({ study, groups, mapOutcome }: Context): ChecklistItem[] {
  const { association, survival, characteristics, comparison, cohort, sensitivity } = study;
  const { marker } = cohort;
  const item = (number: string, question: string, state: ChecklistState, answer: string): ChecklistItem => ({
    number,
    question,
    state,
    answer,
  });
  const outcomes = association?.outcomes ?? [];
  const adjusted = association?.adjustedFor ?? survival?.adjustedFor ?? [];
  const event = survival === undefined ? "" : midSentence(outcomeName(survival.event));
  const time = survival === undefined ? "" : `“Place at the landmark and time to ${event}”`;
  const hasOutcomes = outcomes.length > 0 || survival !== undefined;
  const shown = [...(outcomes.length > 0 ? [SECTIONS.outcomes] : []), ...(survival === undefined ? [] : [time])];
  // Visits, time and first value stand in every table; more comes from a table of individuals.
  const described = characteristics?.notListed !== undefined;
  const stability = study.groups?.stability;
  const dropout = survival?.dropout === undefined ? "" : `“${riskTitle(survival)}”`;
  const changed = changedWords(sensitivity);
  const checks = [
    ...(changed.length === 0 ? [] : [`${listWords(changed)} (${SECTIONS.sensitivity})`]),
    ...(dropout === "" ? [] : [`other courses of those who left (${dropout})`]),
    ...(stability === undefined ? [] : [`refits to 80% of the individuals (${SECTIONS.groups})`]),
    ...(outcomes.length > 0 ? [`another prior and a common time for outcomes (${SECTIONS.outcomes})`] : []),
  ];
  const others = [
    ...(comparison === undefined ? [] : [`comparison of models: ${SECTIONS.models}`]),
    ...(changed.length === 0 ? [] : [`sensitivity: ${SECTIONS.sensitivity}`]),
    ...(dropout === "" ? [] : [`those who left: ${dropout}`]),
  ];
  return [
    item("1a", "Indicate the study's design with a commonly used term in the title or the abstract", "no", AUTHORS),
    item(
      "1b",
      "Provide in the abstract an informative and balanced summary",
      "in part",
      "The first paragraph of this page says what was found; design and setting are to be added.",
    ),
    item("2", "Explain the scientific background and rationale", "no", AUTHORS),
    item("3", "State specific objectives, including any prespecified hypotheses", "no", AUTHORS),
    item(
      "4",
      "Present key elements of study design early in the paper",
      "in part",
      "Repeated measurements of individuals; why and how they were collected is to be added.",
    ),
    item("5", "Describe the setting, locations and relevant dates", "no", AUTHORS),
    item(
      "6a",
      "Give the eligibility criteria, and the sources and methods of selection of participants; describe methods of follow-up",
      "in part",
      `Numbers and follow-up: ${SECTIONS.individuals}; eligibility and selection are to be added.`,
    ),
    item("6b", "For matched studies, give matching criteria", "not applicable", "Nobody was matched."),
    item(
      "7",
      "Clearly define all outcomes, exposures, predictors, potential confounders, and effect modifiers",
      outcomes.length > 0 ? "in part" : "no",
      `Marker: ${marker.name}${marker.unit === "" ? "" : `, ${marker.unit}`}${outcomes.length > 0 ? `; outcomes by their columns: ${listWords(outcomes.map(({ outcome }) => midSentence(outcomeName(outcome))))}` : ""}. Clinical definitions are to be added.`,
    ),
    item(
      "8",
      "For each variable of interest, give sources of data and details of methods of assessment",
      "in part",
      `File, unit and scale of the marker are given; how it was measured is to be added.`,
    ),
    item(
      "9",
      "Describe any efforts to address potential sources of bias",
      outcomes.length > 0 ? "in part" : "no",
      outcomes.length > 0
        ? `Tests that allow for how individuals were seen, and negative controls: ${SECTIONS.outcomes}.`
        : "None in this run.",
    ),
    item("10", "Explain how the study size was arrived at", "no", AUTHORS),
    item(
      "11",
      "Explain how quantitative variables were handled in the analyses",
      "yes",
      `Scale of the marker and forms of covariates: ${SECTIONS.methods}.`,
    ),
    item(
      "12a",
      "Describe all statistical methods, including those used to control for confounding",
      study.model === undefined ? "no" : "yes",
      study.model === undefined
        ? "No model was fitted."
        : `${SECTIONS.methods}${adjusted.length > 0 ? `, adjusted for ${listWords(adjusted)}` : "; nothing was adjusted for"}.`,
    ),
    item(
      "12b",
      "Describe any methods used to examine subgroups and interactions",
      groups.length > 1 ? "in part" : "no",
      groups.length > 1
        ? `Groups were found from the courses (${SECTIONS.groups}); interactions were not examined.`
        : "None were examined.",
    ),
    item(
      "12c",
      "Explain how missing data were addressed",
      "yes",
      "Individuals enter with the visits they have (missing at random is assumed); those without an outcome or covariate take no part where it is needed.",
    ),
    item(
      "12d",
      "If applicable, explain how loss to follow-up was addressed",
      survival !== undefined ? "yes" : "in part",
      survival !== undefined
        ? `Censoring in ${time}; numbers followed beside every course${dropout === "" ? "" : `; other courses of those who left: ${dropout}`}.`
        : "Numbers followed stand beside every course; loss is assumed to be at random.",
    ),
    item(
      "12e",
      "Describe any sensitivity analyses",
      changed.length > 0 ? "yes" : checks.length > 0 ? "in part" : "no",
      checks.length > 0 ? `Sensitivity to ${listWords(checks)}.` : "None in this run.",
    ),
    item(
      "13a",
      "Report numbers of individuals at each stage of study",
      "in part",
      `From the table on: ${SECTIONS.individuals}; those eligible or approached are not known to the run.`,
    ),
    item(
      "13b",
      "Give reasons for non-participation at each stage",
      "in part",
      `Reasons why rows and individuals were left out of analyses: ${SECTIONS.individuals}.`,
    ),
    item("13c", "Consider use of a flow diagram", "yes", `${SECTIONS.individuals}.`),
    item(
      "14a",
      "Give characteristics of study participants and information on exposures and potential confounders",
      described ? "yes" : "in part",
      described
        ? `By group: ${SECTIONS.individuals}.`
        : "Only visits and the marker: no table of individuals was given.",
    ),
    item(
      "14b",
      "Indicate number of participants with missing data for each variable of interest",
      described ? "yes" : "in part",
      described
        ? `In the same table${outcomes.length > 0 ? `; outcomes: ${SECTIONS.outcomes}` : ""}.`
        : "No table of individuals was given.",
    ),
    item("14c", "Summarise follow-up time", "yes", `Time from first to last visit: ${SECTIONS.individuals}.`),
    item(
      "15",
      "Report numbers of outcome events or summary measures over time",
      hasOutcomes ? "yes" : "not applicable",
      hasOutcomes ? `${listWords(shown)}.` : "No outcome was studied.",
    ),
    item(
      "16a",
      "Give unadjusted estimates and, if applicable, confounder-adjusted estimates and their precision",
      !hasOutcomes ? "not applicable" : adjusted.length > 0 ? "in part" : "yes",
      !hasOutcomes
        ? "No outcome was studied."
        : adjusted.length > 0
          ? `Estimates adjusted for ${listWords(adjusted)} with 95% intervals; unadjusted ones are of another run.`
          : `Unadjusted estimates with 95% intervals: ${listWords(shown)}; none were adjusted for confounders.`,
    ),
    item(
      "16b",
      "Report category boundaries when continuous variables were categorized",
      mapOutcome !== undefined && /[<>]/.test(outcomes.map(({ outcome }) => outcome).join(" "))
        ? "yes"
        : "not applicable",
      mapOutcome !== undefined && /[<>]/.test(outcomes.map(({ outcome }) => outcome).join(" "))
        ? "They stand in the names of the outcomes."
        : "No continuous variable was cut.",
    ),
    item(
      "16c",
      "If relevant, consider translating estimates of relative risk into absolute risk for a meaningful time period",
      survival !== undefined ? "yes" : hasOutcomes ? "no" : "not applicable",
      survival !== undefined
        ? `Absolute risks at fixed times with 95% intervals: ${time}.`
        : hasOutcomes
          ? "Shares with an outcome are crude; no time to an event was studied."
          : "No outcome was studied.",
    ),
    item(
      "17",
      "Report other analyses done, e.g. analyses of subgroups and interactions, and sensitivity analyses",
      others.length === 0 ? "no" : "yes",
      others.length === 0 ? "None in this run." : `${capital(others.join("; "))}.`,
    ),
    item(
      "18",
      "Summarise key results with reference to study objectives",
      "in part",
      "The first paragraph of this page; objectives are to be added.",
    ),
    item(
      "19",
      "Discuss limitations, taking into account sources of potential bias or imprecision",
      "in part",
      "Notes beside the results say what they do not show; a discussion is to be written by the authors.",
    ),
    item("20", "Give a cautious overall interpretation of results", "no", AUTHORS),
    item(
      "21",
      "Discuss the generalisability (external validity) of the study results",
      "no",
      comparison === undefined
        ? AUTHORS
        : "Individuals held out are of the same cohort; nothing was tested in another.",
    ),
    item("22", "Give the source of funding and the role of the funders", "no", AUTHORS),
  ];
}
