/** The page for one patient: what is typed goes to the server's own API (docs/server.md), and its answer is drawn. */

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const NUM_TIMES = 41;
const [WIDTH, HEIGHT, LEFT, BOTTOM] = [460, 240, 44, 30];
let model;
let map;

/** An element with attributes and children; text is never read as markup. */
function make(name, attributes = {}, ...children) {
  const element = SVG_NAMES.has(name) ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
const SVG_NAMES = new Set(["svg", "path", "circle", "rect", "line", "text", "title", "g"]);

async function ask(path, body) {
  const init = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(path, init);
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error.message);
  return value;
}

const short = (x) => (x === null || x === undefined ? "–" : String(Number(x.toPrecision(3))));
const percent = (p) => (p > 0 && p < 0.01 ? "< 1%" : `${Math.round(100 * p)}%`);
const unitOf = ({ unit }) => (unit === "" ? "" : ` (${unit})`);

/** The form for the chosen model. */
async function choose(name, models) {
  model = models.find((one) => one.name === name);
  map = await ask(`/v1/models/${encodeURIComponent(name)}/map`);
  const time = model.markers[0].timeUnit;
  const heads = [`Time${time && ` (${time})`}`, ...model.markers.map((own) => own.name + unitOf(own))];
  $("head").replaceChildren(...heads.map((text) => make("th", { scope: "col" }, text)));
  $("visits").replaceChildren();
  for (let k = 0; k < 3; k++) addVisit();
  $("which").replaceChildren(...model.markers.map((own) => make("option", {}, own.name)));
  $("of").hidden = model.markers.length === 1;
  $("covariates").hidden = model.covariates.length === 0;
  for (const label of $("covariates").querySelectorAll("label")) label.remove();
  $("covariates").append(...model.covariates.map(covariateField));
  $("result").hidden = true;
}

function covariateField({ name, levels }) {
  const field =
    levels.length === 0
      ? make("input", { "data-name": name, inputmode: "decimal", size: 8 })
      : make("select", { "data-name": name }, ...levels.map((level) => make("option", {}, level)));
  return make("label", {}, `${name} `, field);
}

function addVisit() {
  const row = $("visits").children.length + 1;
  const names = ["time", ...model.markers.map(({ name }) => name)];
  const cells = names.map((name) =>
    make("td", {}, make("input", { "aria-label": `${name}, visit ${row}`, inputmode: "decimal" })),
  );
  $("visits").append(make("tr", {}, ...cells));
}

/** A number if it is one; text as typed otherwise: limits such as <0.3, and what the server will complain about. */
const typed = (text) => (text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text.trim());

function typedVisits() {
  return [...$("visits").children].flatMap((row) => {
    const [time, ...values] = [...row.querySelectorAll("input")].map((input) => input.value.trim());
    return values.flatMap((value, k) =>
      value === "" ? [] : [{ time: typed(time), value: typed(value), marker: model.markers[k].name }],
    );
  });
}

async function submit(event) {
  event.preventDefault();
  const first = Math.min(...model.markers.map(({ times }) => times[0]));
  const last = Math.max(...model.markers.map(({ times }) => times[1]));
  const at = Array.from({ length: NUM_TIMES }, (_, k) => first + ((last - first) * k) / (NUM_TIMES - 1));
  const fields = [...$("covariates").querySelectorAll("[data-name]")];
  const covariates = Object.fromEntries(fields.map((field) => [field.dataset.name, typed(field.value)]));
  const threshold = $("threshold").value.trim();
  const visits = typedVisits();
  const request = {
    visits,
    at,
    ...(fields.length > 0 && { covariates }),
    ...(threshold !== "" && { threshold: { value: typed(threshold), marker: $("which").value } }),
  };
  $("result").hidden = false;
  try {
    const answer = await ask(`/v1/models/${encodeURIComponent(model.name)}/place`, request);
    $("problem").hidden = true;
    $("answer").replaceChildren(...show(answer, visits));
  } catch (error) {
    $("problem").hidden = false;
    $("problem").textContent = error.message;
    $("answer").replaceChildren();
  }
}

function show({ place, region, groups, forecasts, crossing, warnings }, visits) {
  const parts = [
    make("div", { class: "charts" }, ...forecasts.map((one) => chart(one, visits)), ...drawMap(place, region)),
  ];
  if (crossing !== null && crossing.probability !== null) {
    const middle = crossing.time50 === null ? "" : `, as likely as not by ${short(crossing.time50)}`;
    parts.push(
      make(
        "p",
        {},
        `${crossing.marker} goes ${crossing.direction} ${short(crossing.threshold)} with probability ${percent(crossing.probability)} until ${short(crossing.until)}${middle}.`,
      ),
    );
  }
  if (groups.length > 0) {
    parts.push(make("h2", {}, "Groups"));
    const sorted = [...groups].sort((a, b) => b.probability - a.probability);
    parts.push(
      ...sorted.map(({ letter, name, probability }) =>
        make(
          "div",
          { class: "group" },
          make("span", {}, percent(probability)),
          make("meter", { value: probability, "aria-label": letter }),
          make("span", {}, `${letter}: ${name}`),
        ),
      ),
    );
  }
  return [...parts, ...warnings.map((text) => make("p", { class: "warning" }, text))];
}

const scale =
  ([a, b], [from, to]) =>
  (x) =>
    from + ((to - from) * (x - a)) / (b - a || 1);

/** Measurements, median and band of one marker. */
function chart({ marker, unit, interval, level: share, rows }, visits) {
  const own = visits.filter((visit) => visit.marker === marker && typeof visit.time === "number");
  const limitOf = (value) => (typeof value === "number" ? value : Number(value.replace(/^[<>≤≥=\s]+/, "")));
  const values = [...rows.flatMap(({ lower, upper }) => [lower, upper]), ...own.map(({ value }) => limitOf(value))];
  const known = values.filter((value) => Number.isFinite(value));
  const range = [Math.min(...known), Math.max(...known)];
  const x = scale([rows[0].time, rows.at(-1).time], [LEFT, WIDTH - 8]);
  const { timeUnit, transform } = model.markers.find(({ name }) => name === marker);
  // Equal steps are equal changes on the scale of the model.
  const level = transform === "log" && range[0] > 0 ? Math.log : (value) => value;
  const linear = scale(range.map(level), [HEIGHT - BOTTOM, 10]);
  const y = (value) => linear(level(value));
  const line = (part, key) => part.map((row, k) => `${k === 0 ? "M" : "L"}${x(row.time)},${y(row[key])}`).join("");
  const band = (part) => `${line(part, "lower")}${line([...part].reverse(), "upper").replace("M", "L")}Z`;
  // Where little is known the band is paler; both parts share the time at which that begins.
  const from = rows.findIndex(
    (row, k) => row.extrapolated === 1 && rows.slice(k).every((later) => later.extrapolated === 1),
  );
  const sure = from < 0 ? rows : rows.slice(0, Math.max(from, 1));
  const unsure = from < 0 ? [] : rows.slice(Math.max(from - 1, 0));
  const kind = interval === "curve" ? "the curve" : `measurements${interval === "conformal" ? ", calibrated" : ""}`;
  const svg = make(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, role: "img", "aria-label": `Course of ${marker} with its band` },
    make("path", { class: "band", d: band(sure) }),
    ...(unsure.length > 1 ? [make("path", { class: "band unsure", d: band(unsure) })] : []),
    make("path", { class: "median", d: line(rows, "median") }),
    make("line", { class: "axis", x1: LEFT, x2: WIDTH - 8, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM }),
    ...range.map((value) => make("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, short(value))),
    make("text", { x: LEFT, y: HEIGHT - 10 }, short(rows[0].time)),
    make("text", { x: WIDTH - 8, y: HEIGHT - 10, "text-anchor": "end" }, `${short(rows.at(-1).time)} ${timeUnit}`),
    ...own.map(({ time, value }) =>
      make("circle", {
        class: typeof value === "number" ? "visit" : "limit",
        cx: x(time),
        cy: y(limitOf(value)),
        r: 4,
      }),
    ),
  );
  const caption = `Median and ${percent(share)} band of ${kind}${unsure.length > 1 ? "; paler where few similar individuals were followed that long" : ""}.`;
  return make(
    "figure",
    {},
    make("h2", {}, marker + unitOf({ unit })),
    svg,
    make("figcaption", { class: "note" }, caption),
  );
}

/** Where the place could be, among the groups. */
function drawMap({ location }, region) {
  if (region === null || location.length !== 2) return [];
  const size = 240;
  const x = scale([-2.6, 2.6], [0, size]);
  const y = scale([-2.6, 2.6], [size, 0]);
  const side = x(region.cell) - x(0);
  // The lattice may be turned: circles that overlap leave no gaps.
  const cells = region.cells.map(([a, b]) => make("circle", { class: "region", cx: x(a), cy: y(b), r: 0.75 * side }));
  const letters = map.groups.flatMap(({ letter, name, center }) =>
    center === null
      ? []
      : [make("text", { x: x(center[0]), y: y(center[1]), "text-anchor": "middle" }, letter, make("title", {}, name))],
  );
  const frame = make("rect", { class: "axis", x: 0.5, y: 0.5, width: size - 1, height: size - 1, fill: "none" });
  const place = make("circle", { class: "place", cx: x(location[0]), cy: y(location[1]), r: 5 });
  const svg = make(
    "svg",
    { viewBox: `0 0 ${size} ${size}`, width: size, role: "img", "aria-label": "Place on the map" },
    ...cells,
    frame,
    ...letters,
    place,
  );
  return [
    make(
      "figure",
      {},
      make("h2", {}, "Place"),
      svg,
      make("figcaption", { class: "note" }, "90% region; letters are the groups."),
    ),
  ];
}

const { models } = await ask("/v1/models");
$("model").append(...models.map(({ name }) => make("option", {}, name)));
$("model").addEventListener("change", () => choose($("model").value, models));
$("add").addEventListener("click", addVisit);
$("form").addEventListener("submit", submit);
await choose(models[0].name, models);
