/** The map, its groups, and the models side by side. */
import { markerModel } from "@trajectory-maps/core";
import { refitsText, stabilityWord, UNSTABLE_BELOW } from "@trajectory-maps/core/study";
import { listWords, maskSmall, percent } from "../numbers.ts";
import { midSentence, modelName, outcomeName } from "../words.ts";
import { html } from "./html.ts";
import { COLUMN, figureHtml, noteHtml, type PageContext, type Section } from "./parts.ts";

export function mapSection(context: PageContext): Section | undefined {
  const map = figureHtml(context, "map");
  if (map === undefined) return undefined;
  const { model, several } = context.study;
  const of = several === undefined || model === undefined ? "" : ` in ${markerModel(model).marker.name}`;
  const share =
    model?.kind === "dtm"
      ? ` In-sample the map carries ${percent(markerModel(model).varianceShare)} of the variance between individuals${of}; the rest is residual individual effects, which are capped, so that this share cannot fall far.`
      : "";
  const title = "The map";
  const body = html`<p class="sub">Individuals with similar courses lie close together. The directions have no unit; distances are in standard deviations of the prior.${share}</p>
<div class="two">${map}${figureHtml(context, "coefficient")}</div>`;
  return { id: "map", title, body };
}

export function groupSection(context: PageContext): Section | undefined {
  const { study, groups } = context;
  const figure = figureHtml(context, "groups");
  if (figure === undefined || study.groups === undefined) return undefined;
  const { method, number, stability } = study.groups;
  const made = method ?? "Groups were cut from a tree of the places.";
  const loose = groups.filter(
    ({ pairsKept }) => pairsKept !== undefined && Number.isFinite(pairsKept) && stabilityWord(pairsKept) === "unstable",
  );
  const word = stability && stabilityWord(stability.meanAdjustedRand);
  const kept = groups.flatMap(({ letter, pairsKept }) =>
    pairsKept === undefined ? [] : [`${letter} ${percent(pairsKept)}`],
  );
  const back = html`<div>
${
  stability !== undefined &&
  html`<h3>Stability of the groups</h3><p class="sub">Over ${refitsText(stability.adjustedRand)} to 80% of the individuals the mean adjusted Rand index was ${stability.meanAdjustedRand.toFixed(2)} (${word}; 1 is perfect agreement, 0 is chance).${kept.length > 0 ? ` Pairs of members kept together: ${kept.join(", ")}.` : ""}</p>`
}
${word === "unstable" && noteHtml("The groups are unstable.", "Refits to other 80% of the individuals give visibly different groups. Read the map as a continuum; use the groups only as names for its regions.")}
${loose.length > 0 && word !== "unstable" && noteHtml(`${loose.length === 1 ? "Group" : "Groups"} ${listWords(loose.map(({ letter }) => letter))} ${loose.length === 1 ? "is" : "are"} unstable.`, `Fewer than ${percent(UNSTABLE_BELOW)} of pairs of members stay together over refits.`)}
</div>`;
  const evidence = ["tree", "distinct-courses", "number-of-groups"]
    .filter((key) => context.figures.has(key))
    .map((key, _, keys) => figureHtml(context, key, keys.length > 2 ? COLUMN.three : COLUMN.two));
  const body = html`<p class="sub">${maskSmall(made, 1)} ${number?.sentence ?? ""}</p>
${back}
${figure}
${evidence.length > 0 && html`<div class="${evidence.length > 2 ? "three" : "two"}" style="margin-top:28px">${evidence}</div>`}`;
  return { id: "groups", title: "Groups of similar courses", body };
}

export function outcomeMapSection(context: PageContext): Section | undefined {
  const figure = figureHtml(context, "outcome-maps");
  if (figure === undefined || context.mapOutcome === undefined) return undefined;
  const others = (context.study.baselines ?? []).map(({ name }) =>
    midSentence(modelName(name)).replace(/^mixed/, "the mixed"),
  );
  const title = others.length === 0 ? "An outcome on the map" : "An outcome on the maps of the models";
  const body = html`<p class="sub">${outcomeName(context.mapOutcome.name)}${others.length === 0 ? "" : `, on the places given by ${listWords([...others, "the map"])}`}. Shown only where there are data. A share is not a risk: places use all visits.</p>
${figure}`;
  return { id: "outcome-maps", title, body };
}
