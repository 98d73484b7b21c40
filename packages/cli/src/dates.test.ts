import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run, workplace } from "../test/harness.ts";

const here = workplace();
afterAll(here.clear);

/** Visits of 30 individuals as rows of id, day, month, year and value, each a half year apart, and the onset 100 days before the first. */
const DAY = 86_400_000;
const start = (i: number) => Date.UTC(2015, 0, 1) + 37 * i * DAY;
const iso = (at: number) => new Date(at).toISOString().slice(0, 10);
const value = (i: number, j: number) => 80 + ((i * 7) % 13) - (1 + (i % 3)) * j + ((i * 5 + j * 3) % 4) / 4;
const rows = Array.from({ length: 30 }, (_, i) =>
  Array.from({ length: 5 }, (_, j) => ({ id: `Müller${i}`, at: start(i) + 180 * j * DAY, value: value(i, j) })),
).flat();
const table = (header: string, row: (one: (typeof rows)[number]) => string, of = rows) =>
  `${header}\n${of.map(row).join("\n")}\n`;

const visits = here.file(
  "visits.csv",
  table("id,date,fvc", ({ id, at, value }) => `${id},${iso(at)},${value}`),
);
const subjects = here.file(
  "subjects.csv",
  table(
    "patient,onset,sex",
    ({ id, at }) => `${id},${iso(at - 100 * DAY)},f`,
    rows.filter((_, k) => k % 5 === 0),
  ),
);
const german = table("Patient;Datum;FVC", ({ id, at, value }) => {
  const [y, m, d] = iso(at).split("-");
  return `${id};${d}.${m}.${y} 08:30;${String(value).replace(".", ",")}`;
});
writeFileSync(here.at("german.csv"), Buffer.from(german, "latin1"));

describe("a run of dates", () => {
  const folder = here.at("run");
  const since = ["--origin", "column:onset", "--time-unit", "days"];
  beforeAll(async () => {
    const fitted = await run("fit", subjects, visits, ...since, "--model", "lmm", "-o", folder);
    expect(fitted.talk).toContain("visits.csv is taken as the visits");
    expect(fitted.code).toBe(0);
  });

  it("keeps from when times are counted in model and record", async () => {
    const columns = { time: "date", origin: "column:onset", dates: true };
    const model = JSON.parse(here.text("run", "model.json"));
    expect(model.formatVersion).toBe(4);
    expect(model.model.markers[0]).toMatchObject({ columns, marker: { timeUnit: "days" } });
    expect(JSON.parse(here.text("run", "run.json"))).toMatchObject({ columns });
    expect(here.text("run", "visits.csv").split("\n")[1]).toBe("Müller0,100,80");
  });

  it("reads new tables alike, whatever their dialect", async () => {
    const own = await run("embed", folder, visits, "--subjects", subjects);
    expect(own.code).toBe(0);
    const foreign = await run("embed", folder, here.at("german.csv"), "--subjects", subjects);
    expect(foreign.talk).toContain("Windows-1252");
    expect(foreign.out).toBe(own.out);
    const swapped = await run("embed", folder, subjects, "--subjects", visits);
    expect(swapped.out).toBe(own.out);
    expect((await run("embed", folder, visits)).talk).toContain("--subjects FILE");
  });

  it("refuses dates for a model of numbers, until it is said from when they count", async () => {
    const numbers = here.file(
      "numbers.csv",
      table("id,time,fvc", ({ id, at, value }) => `${id},${at / DAY / 365.25},${value}`),
    );
    const other = here.at("other");
    expect((await run("fit", numbers, "--time-unit", "years", "--model", "lmm", "-o", other)).code).toBe(0);
    const refused = await run("embed", other, visits);
    expect(refused.code).toBe(3);
    expect(refused.talk).toContain("dates-need-origin");
    expect((await run("embed", other, visits, "--origin", "date:1970-01-01")).code).toBe(0);
  });
});

describe("tables as they come", () => {
  it("ask one question, answered by the flag that it names", async () => {
    const open = here.file(
      "open.csv",
      table("id,date,fvc", ({ id, at, value }) => `${id},0${1 + (at % 9)}/02/2020,${value}`),
    );
    const asked = await run("inspect", open);
    expect(asked.code).toBe(3);
    expect(asked.talk.match(/error|ambiguous-date/g)).toEqual(["error", "ambiguous-date"]);
    expect((await run("inspect", open, "--date-order", "dmy", "--keep-repeats")).code).toBe(0);
  });

  it("have day and month swapped back with --swapped-dates, where a spreadsheet swapped them", async () => {
    const days = ["2020-05-03", "2020-07-03", "2020-09-03", "2020-11-03", "2020-12-03"];
    const texts = [13, 15, 17, 19, 21].map((day) => `${day}/03/2020`);
    const rows = [...days, ...texts].map((date, k) => `p${k % 5},${date},${k}`);
    const swapped = here.file("swapped.csv", `id,date,fvc\n${rows.join("\n")}\n`);
    const asked = await run("inspect", swapped);
    expect(asked.code).toBe(3);
    expect(asked.talk).toContain("--swapped-dates");
    const { code, talk } = await run("inspect", swapped, "--swapped-dates");
    expect(code).toBe(0);
    expect(talk).toContain("Day and month of 5 dates such as 2020-05-03 were swapped back.");
  });

  it("are reshaped with --wide, which stands behind the table", async () => {
    const wide = here.file(
      "wide.csv",
      `id,fvc_0,fvc_6\n${Array.from({ length: 30 }, (_, i) => `p${i},${80 + (i % 7)},${78 + (i % 5)}`).join("\n")}\n`,
    );
    expect((await run("inspect", wide)).talk).toContain("--wide");
    const { out, code } = await run("inspect", wide, "--time-unit", "months", "--json", "--wide");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      individuals: 30,
      observations: 60,
      marker: { name: "fvc", timeUnit: "months" },
    });
    expect((await run("fit", "--wide", wide)).talk).toContain("Write --wide last");
  });

  it("come with templates", async () => {
    const { out } = await run("template", "subjects");
    expect(out.split("\n")[0]).toBe("id,onset,birth,sex,death");
    expect((await run("template", "wide", "-o", here.at("form.csv"))).code).toBe(0);
    expect(here.text("form.csv")).toContain("fvc_month12");
    expect((await run("template", "wide", "-o", here.at("form.csv"))).code).toBe(2);
  });

  it("are not read where nothing of them is asked for", async () => {
    const { talk, code } = await run("fit", visits, subjects, "--dry-run", "-o", here.at("none"));
    expect(code).toBe(0);
    expect(talk).toContain("subjects.csv is not read");
    expect((await run("fit", visits, here.at("german.csv"), "--dry-run", "-o", here.at("none"))).code).toBe(2);
    expect((await run("inspect", visits, "--subjects", subjects)).code).toBe(2);
    const twice = await run("fit", visits, visits, "--dry-run", "-o", here.at("none"));
    expect(twice.code).toBe(2);
    expect(twice.talk).toContain("visits.csv twice");
  });
});
