/**
 * Makes the tables of this folder: synthetic, the same on every machine, each with one thing that is usual in files as people have
 * them. Everybody's marker begins at a level of their own and changes by a slope of their own; nobody in them exists.
 *
 * Usage: node examples/messy/make.mjs
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { strToU8, zipSync } from "fflate";
import { parquetWriteBuffer } from "hyparquet-writer";

const HERE = import.meta.dirname;
const DAY = 86_400_000;

/** Numbers between 0 and 1, the same every time (a linear congruential generator). */
function numbers(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** People with an id, a level, a slope per year, and visits as days since 2015-01-01. */
function people(seed, count, numVisits, prefix = "p") {
  const random = numbers(seed);
  return Array.from({ length: count }, (_, k) => {
    const first = Math.floor(random() * 900);
    const days = Array.from({ length: numVisits }, (_, j) => first + j * 180 + Math.floor(random() * 40));
    const person = {
      id: `${prefix}${String(k + 1).padStart(3, "0")}`,
      level: 60 + 40 * random(),
      slope: -6 * random(),
      days,
    };
    return { ...person, at: (years) => person.level + person.slope * years + 2 * (random() - 0.5), random };
  });
}

const date = (day) => new Date(Date.UTC(2015, 0, 1) + day * DAY);
const two = (n) => String(n).padStart(2, "0");
const iso = (day) => date(day).toISOString().slice(0, 10);
const german = (day) =>
  `${two(date(day).getUTCDate())}.${two(date(day).getUTCMonth() + 1)}.${date(day).getUTCFullYear()}`;
const years = (person, day) => (day - person.days[0]) / 365.25;
const csv = (rows, delimiter = ",") => `${rows.map((row) => row.join(delimiter)).join("\n")}\n`;
const save = (name, content) => writeFileSync(join(HERE, name), content);
const rowsOf = (persons, row) => persons.flatMap((person) => person.days.map((day, j) => row(person, day, j)));

// 1. A German Excel: semicolons, decimal commas, dd.mm.yyyy, Windows-1252.
const comma = (x, digits) => x.toFixed(digits).replace(".", ",");
save(
  "01-german.csv",
  Buffer.from(
    csv(
      [
        ["Patient", "Datum", "FVC (% Soll)", "Körpergröße"],
        ...rowsOf(people(1, 40, 5, "Ä"), (p, day) => [p.id, german(day), comma(p.at(years(p, day)), 1), "172,5"]),
      ],
      ";",
    ).replaceAll("\n", "\r\n"),
    "latin1",
  ),
);

// 2. Month and day first, no day above 12: nobody can tell which is which.
const american = (p, j) => `${two(1 + ((j * 5 + p.days[0]) % 12))}/${two(1 + (p.days[0] % 12))}/${2016 + j}`;
save(
  "02-us-dates.csv",
  csv([
    ["subject_id", "visit_date", "egfr"],
    ...rowsOf(people(2, 40, 5), (p, _, j) => [p.id, american(p, j), p.at(j).toFixed(1)]),
  ]),
);

// 3. A column for each time, in months that nobody names.
const wide = (p, times) => times.map((t) => (p.random() < 0.1 ? "" : p.at(t).toFixed(1)));
save(
  "03-wide-months.csv",
  csv([
    ["id", "sex", "fvc_0", "fvc_6", "fvc_12", "fvc_18", "fvc_24"],
    ...people(3, 40, 1).map((p, k) => [p.id, k % 2 === 0 ? "f" : "m", ...wide(p, [0, 0.5, 1, 1.5, 2])]),
  ]),
);

// 4. A column for each year of the calendar.
save(
  "04-wide-years.csv",
  csv([
    ["patient", "2019", "2020", "2021", "2022", "2023"],
    ...people(4, 40, 1).map((p) => [p.id, ...wide(p, [0, 1, 2, 3, 4])]),
  ]),
);

// 5. Commas between thousands.
const grouped = (x) => x.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ",");
save(
  "05-thousands.csv",
  csv([
    ["id", "years", "NT-proBNP (pg/ml)"],
    ...rowsOf(people(5, 40, 5), (p, day) => [
      p.id,
      years(p, day).toFixed(2),
      `"${grouped(1050 + 60 * p.at(years(p, day)))}"`,
    ]),
  ]),
);

// 6. Creatinine in two units, each named beside its value.
save(
  "06-two-units.csv",
  csv([
    ["id", "date", "creatinine", "unit"],
    ...rowsOf(people(6, 40, 5), (p, day) => {
      const mg = 0.5 + (100 - p.at(years(p, day))) / 30;
      const si = Number(p.id.slice(1)) % 3 === 0;
      return [p.id, iso(day), si ? (mg * 88.42).toFixed(0) : mg.toFixed(2), si ? "umol/L" : "MG/DL"];
    }),
  ]),
);

// 7. Values below the limit of the assay, and three ways to write that there is none.
const missing = ["", "NA", "."];
save(
  "07-limits.csv",
  csv([
    ["id", "years", "crp"],
    ...rowsOf(people(7, 40, 5), (p, day, j) => {
      const x = Math.max(0.05, (p.at(years(p, day)) - 60) / 12);
      const cell = p.random() < 0.08 ? missing[j % 3] : x < 0.3 ? "<0.3" : x.toFixed(1);
      return [p.id, years(p, day).toFixed(2), cell];
    }),
  ]),
);

// 8. Visits with dates, and the onset of each individual in a second table.
const followed = people(8, 40, 5);
save(
  "08-visits.csv",
  csv([["id", "date", "fvc"], ...rowsOf(followed, (p, day) => [p.id, iso(day), p.at(years(p, day)).toFixed(1)])]),
);
save(
  "08-subjects.csv",
  csv([
    ["id", "onset", "sex", "death"],
    ...followed.map((p, k) => [
      p.id,
      iso(p.days[0] - 30 - Math.floor(700 * p.random())),
      k % 2 === 0 ? "f" : "m",
      k % 5 === 0 ? 1 : 0,
    ]),
  ]),
);

// 9. A workbook: a first sheet with words, a second with a title above the table and dates of Excel.
const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const cell = (content, r, c) => {
  const at = `r="${String.fromCharCode(65 + c)}${r + 1}"`;
  if (typeof content === "string") return `<c ${at} t="inlineStr"><is><t>${content}</t></is></c>`;
  return typeof content === "number" ? `<c ${at}><v>${content}</v></c>` : `<c ${at} s="1"><v>${content.serial}</v></c>`;
};
const sheet = (rows) =>
  `${XML}<worksheet xmlns="${MAIN}"><sheetData>${rows
    .map((row, r) => `<row r="${r + 1}">${row.map((content, c) => cell(content, r, c)).join("")}</row>`)
    .join("")}</sheetData></worksheet>`;
// Days of Excel are counted from 30 December 1899; 2015-01-01 is 42005.
const visits = rowsOf(people(9, 40, 5), (p, day) => [
  p.id,
  { serial: 42_005 + day },
  Number(p.at(years(p, day)).toFixed(1)),
]);
const names = ["Visits", "Laboratory"];
const laboratory = rowsOf(people(10, 40, 2), (p, day) => [
  p.id,
  { serial: 42_005 + day },
  Number((p.level / 20).toFixed(1)),
]);
const workbook = {
  "[Content_Types].xml": `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>${names.map((_, k) => `<Override PartName="/xl/worksheets/sheet${k + 1}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>`).join("")}<Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>`,
  "_rels/.rels": `${XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  "xl/workbook.xml": `${XML}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><workbookPr/><sheets>${names.map((name, k) => `<sheet name="${name}" sheetId="${k + 1}" r:id="rId${k + 1}"/>`).join("")}</sheets></workbook>`,
  "xl/_rels/workbook.xml.rels": `${XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${names.map((_, k) => `<Relationship Id="rId${k + 1}" Type="${OFFICE}/worksheet" Target="worksheets/sheet${k + 1}.xml"/>`).join("")}<Relationship Id="rId9" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
  "xl/styles.xml": `${XML}<styleSheet xmlns="${MAIN}"><fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>`,
  "xl/worksheets/sheet1.xml": sheet([["Registry export"], ["patient", "visit date", "FVC"], ...visits]),
  "xl/worksheets/sheet2.xml": sheet([["patient", "sample date", "albumin"], ...laboratory]),
};
save(
  "09-workbook.xlsx",
  zipSync(Object.fromEntries(Object.entries(workbook).map(([name, text]) => [name, strToU8(text)])), {
    mtime: new Date(2020, 0, 1),
  }),
);

// 10. Parquet with one value column, and a column that says which marker it is of.
const long = rowsOf(people(11, 40, 5), (p, day) => [
  [p.id, iso(day), "fvc", Number(p.at(years(p, day)).toFixed(1))],
  [p.id, iso(day), "dlco", Number((p.at(years(p, day)) - 12).toFixed(1))],
]).flat();
const column = (name, k, type) => ({ name, data: long.map((row) => row[k]), type });
save(
  "10-long.parquet",
  new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        column("person_id", 0, "STRING"),
        column("visit_date", 1, "STRING"),
        column("test", 2, "STRING"),
        column("result", 3, "DOUBLE"),
      ],
    }),
  ),
);
