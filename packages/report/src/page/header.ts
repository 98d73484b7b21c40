/** Top of the page: title, what was found in words, the facts in numbers. */
import { COMPARED_MODELS, verdictOnMap } from "@trajectory-maps/core/study";
import type { Context } from "../content/context.ts";
import {
  cell,
  counted,
  decimalsFor,
  fixed,
  interval,
  listWords,
  percent,
  signed,
  significant,
  whole,
} from "../numbers.ts";
import { midSentence, modelName, numberWord, outcomeName } from "../words.ts";
import { html, type Markup } from "./html.ts";

/** The study's title, or one from its marker. */
export function titleOf({ study }: Context): string {
  const names = study.several?.markers.map(({ cohort }) => cohort.marker.name) ?? [study.cohort.marker.name];
  return study.title ?? `Courses of ${listWords(names)}`;
}

/** The head of the page. */
export function headerHtml(context: Context): Markup {
  const { smallCell, individualLevel } = context;
  const share =
    individualLevel === "none"
      ? smallCell > 1
        ? `Report for sharing: no identifiers, no measurements, counts under ${smallCell} withheld`
        : "No identifiers and no measurements, but small counts are shown: not for sharing"
      : `Holds individual-level places${smallCell > 1 ? "" : " and every count"}: share only with those allowed to see them`;
  return html`<header>
<div class="kick"><svg width="18" height="14" viewBox="0 0 18 14" aria-hidden="true"><path d="M1 12C5 12 6 3 10 3s4 4 7 4" fill="none" stroke="currentColor" stroke-width="1.8"/><path d="M1 13c6 0 8-3 16-2" fill="none" stroke="currentColor" stroke-opacity=".45" stroke-width="1.4"/></svg><span>Disease trajectory map</span><span class="mu">${share}</span></div>
<h1>${titleOf(context)}</h1>
<p class="lede">${ledeOf(context)}</p>
${factsHtml(context)}
</header>`;
}

/** What was found, in sentences made by rule from the results. */
function ledeOf({ study, groups, smallCell, verdict }: Context): string {
  const { cohort, association, comparison } = study;
  const sentences: string[] = [];
  const who = counted(cohort.numIndividuals, "individual", smallCell);
  if (groups.length > 1 && verdict?.colour !== "grey") {
    const ends = `from \u201c${groups[0].name}\u201d to \u201c${groups[groups.length - 1].name}\u201d`;
    sentences.push(
      study.groups?.number?.separated === false
        ? `The courses of ${who} form a continuum, shown here in ${numberWord(groups.length)} regions, ${ends}.`
        : `The courses of ${who} fall into ${numberWord(groups.length)} groups, ${ends}.`,
    );
  } else sentences.push(`The courses of ${cohort.marker.name} in ${who}.`);
  // What should not be used says so first.
  if (verdict?.colour === "grey") sentences.unshift(verdict.headline);
  else if (verdict?.state === "caution") {
    // Where models were compared, the verdict below says with its numbers what the second sentence would.
    sentences.push(comparison === undefined ? verdict.headline : `${verdict.words}.`);
  }
  if (study.several?.sharing !== undefined) sentences.push(study.several.sharing.sentences[0]);
  if (comparison !== undefined) sentences.push(withoutNames(comparison.verdict));
  if (study.several?.comparison !== undefined) sentences.push(study.several.comparison.verdict);
  // A map of nothing makes no claims about outcomes.
  if (association !== undefined && association.outcomes.length > 0 && verdict?.colour !== "grey") {
    const related = association.outcomes.filter(({ adjusted }) => adjusted.holm < 0.05);
    const rest = association.outcomes.filter((outcome) => !related.includes(outcome));
    const names = (list: typeof related) => listWords(list.map(({ outcome }) => midSentence(outcomeName(outcome))));
    if (related.length > 0) {
      sentences.push(
        `Where an individual lies on the map is related to ${names(related)}, by a test that allows for how often and how long each was seen${association.adjustedFor?.length ? `, adjusted for ${listWords(association.adjustedFor)}` : ""}.`,
      );
      if (rest.length > 0) sentences.push(`No relation was found to ${names(rest)}.`);
    } else sentences.push(`No relation of the map to ${names(rest)} was found.`);
  }
  return sentences.join(" ");
}

/** A verdict with what the light says of the map. */
export function onMap({ verdict: map }: Context, verdict: string): string {
  return map === undefined ? verdict : verdictOnMap(verdict, map);
}

/** A verdict without the names that the program has for models: they stand beside their words. */
export function withoutNames(verdict: string): string {
  const names = COMPARED_MODELS.join("|");
  return verdict.replace(new RegExp(` \\((${names})\\)`, "g"), "");
}

function factsHtml({ study, smallCell, verdict, timeWord, visitCells }: Context): Markup {
  const { cohort, comparison } = study;
  const facts: { name: string; value: string; note: string; tone?: string }[] = [];
  const leftOut = cohort.numRowsLeftOut ?? 0;
  facts.push({
    name: "Individuals",
    value: cell(cohort.numIndividuals, smallCell),
    note: leftOut > 0 ? `${cell(leftOut, smallCell)} rows left out` : "no row left out",
  });
  const v = cohort.visitQuantiles;
  const single = visitCells[0];
  facts.push({
    name: "Observations",
    value: whole(cohort.numObservations),
    note: `median ${significant(v[2])} per individual (IQR ${significant(v[1])}–${significant(v[3])})`,
  });
  facts.push({
    name: "One visit only",
    value: single,
    note: /^\d/.test(single)
      ? `${percent(cohort.singleVisit / cohort.numIndividuals)}, placed mostly by the prior`
      : "placed mostly by the prior",
  });
  const { marker } = cohort;
  facts.push({
    name: "Time",
    value: `${fixed(cohort.firstTime, 1)} to ${fixed(cohort.lastTime, 1)}`,
    note: `${timeWord}s; marker: ${marker.transform === "identity" ? "" : `${marker.transform} `}${marker.name}${marker.unit === "" ? "" : `, ${marker.unit}`}`,
  });
  if (verdict !== undefined) {
    const { colour, advice, reason, lights } = verdict;
    facts.push({
      name: "Trust",
      value: advice,
      note: reason === "" ? listWords(lights.map(({ brief }) => brief)) : reason,
      tone: colour === "green" ? "good" : "caution",
    });
  }
  const difference =
    comparison?.differences.find(({ model }) => model === study.model?.kind) ??
    comparison?.differences.find(({ model }) => model.startsWith("dtm"));
  if (difference !== undefined) {
    facts.push({
      name: `Compared with ${midSentence(modelName(difference.reference))}`,
      value: signed(difference.mean, 2),
      note: `held-out log-likelihood per individual (95% CI ${interval(difference.lower, difference.upper, 2, 0)})`,
    });
    const scored = (name: string) => comparison?.models.find(({ model }) => model === name)?.nextVisit;
    const [own, reference] = [scored(difference.model), scored(difference.reference)];
    if (own !== undefined && reference !== undefined && own.count > 0) {
      const decimals = Math.max(0, decimalsFor(own.crps) + 2);
      facts.push({
        name: "Forecast of the next visit",
        value: `CRPS ${fixed(own.crps, decimals)}`,
        note: `${midSentence(modelName(difference.reference))} ${fixed(reference.crps, decimals)}; 50% and 90% intervals held ${percent(own.coverage.p50)} and ${percent(own.coverage.p90)}`,
      });
    }
  }
  return html`<dl class="facts" style="--columns:${factColumns(facts.length)}">${facts.map(({ name, value, note, tone }) => html`<div><dt>${name}</dt><dd class="${tone ?? "value"}">${value}</dd><dd>${note}</dd></div>`)}</dl>`;
}

/** Columns in which facts stand in rows of nearly one length, six at most. */
export function factColumns(count: number): number {
  return Math.ceil(count / Math.ceil(count / MOST_COLUMNS));
}

const MOST_COLUMNS = 6;
