import { describe, expect, it } from "vitest";
import { onlyMarker } from "../cohort/cohort.ts";
import type { DtmError } from "../errors.ts";
import { previewTable } from "./preview.ts";
import { readCohort } from "./read-cohort.ts";
import type { ReadCohortOptions } from "./read-options.ts";
import { TEMPLATES } from "./templates.ts";
import { findWide } from "./wide.ts";

const found = (names: string, wide: true | string = true) => {
  const layout = findWide(names.split(","), wide);
  return layout && { markers: layout.markers, times: layout.points.map(({ time }) => time), unit: layout.unit };
};

function complaintOf(text: string, options: ReadCohortOptions = {}) {
  try {
    readCohort(text, options);
  } catch (error) {
    return (error as DtmError).complaints;
  }
  throw new Error("the text was accepted");
}

describe("findWide", () => {
  it.each([
    ["id,fvc_0,fvc_6,fvc_12", ["fvc"], ["0", "6", "12"], undefined],
    ["id,sex,fvc0,fvc6,dlco0,dlco6", ["fvc", "dlco"], ["0", "6"], undefined],
    ["id,2019,2020,2021", ["value"], ["2019", "2020", "2021"], undefined],
    ["id,month0,month6", ["value"], ["0", "6"], "months"],
    ["id,fvc_-6,fvc_0,fvc_6", ["fvc"], ["-6", "0", "6"], undefined],
    ["id,fvc_m-6,fvc_m0,fvc_m6", ["fvc"], ["-6", "0", "6"], "months"],
    ["id,fvc_m-0,fvc_m-6", ["fvc"], ["0", "6"], "months"],
    ["id,fvc-6,fvc-12", ["fvc"], ["6", "12"], undefined],
    ["id,fvc_baseline,fvc_6wk,fvc_3mo,fvc_1yr", ["fvc"], ["0", "42", "91.3125", "365.25"], "days"],
    ["id,fvc_m0,fvc_m6,age", ["fvc"], ["0", "6"], "months"],
    ["id,fvc_baseline,fvc_6mo,fvc_12mo", ["fvc"], ["0", "6", "12"], "months"],
    ["id,v1_fvc,v2_fvc", ["fvc"], ["1", "2"], undefined],
    ["id,fvc 2019-01-31,fvc 2020-01-31", ["fvc"], ["2019-01-31", "2020-01-31"], undefined],
    ["id,fvc_0,fvc_6,fvc_12,hla_a1,hla_a2", ["fvc"], ["0", "6", "12"], undefined],
    ["id,fvc_0.5,fvc_1.5", ["fvc"], ["0.5", "1.5"], undefined],
    ["id,2019Q1,2019Q2,2020Q1", ["value"], ["2019-01-01", "2019-04-01", "2020-01-01"], undefined],
    ["id,fvc_Q4_2019,fvc_Q1_2020", ["fvc"], ["2019-10-01", "2020-01-01"], undefined],
    ["id,fvc 2019-H1,fvc 2019-H2", ["fvc"], ["2019-01-01", "2019-07-01"], undefined],
    ["id,2019-01,2019-02,2020-01", ["value"], ["2019-01-01", "2019-02-01", "2020-01-01"], undefined],
    ["id,01/2019,07/2019,01/2020", ["value"], ["2019-01-01", "2019-07-01", "2020-01-01"], undefined],
    ["id,1/2019,12/2019", ["value"], ["2019-01-01", "2019-12-01"], undefined],
    ["id,fvc 01.2019,fvc 07.2019", ["fvc"], ["2019-01-01", "2019-07-01"], undefined],
    ["id,fvc_01-2019,fvc_07-2019", ["fvc"], ["2019-01-01", "2019-07-01"], undefined],
    ["id,2019/01,2019/07", ["value"], ["2019-01-01", "2019-07-01"], undefined],
    ["id,fvc_Mai_2019,fvc_Juni_2019", ["fvc"], ["2019-05-01", "2019-06-01"], undefined],
    ["id,fvc_q1,fvc_q2", ["fvc"], ["1", "2"], undefined],
    ["id,Ausgangswert,Monat 6,Monat 12", ["value"], ["0", "6", "12"], "months"],
    ["id,fvc_mois_3,fvc_mois_6", ["fvc"], ["3", "6"], "months"],
    ["id,fvc 1 año,fvc 2 años", ["fvc"], ["1", "2"], "years"],
  ])("of %s", (names, markers, times, unit) => {
    expect(found(names)).toEqual({ markers, times, unit });
  });

  it("takes numbers with a unit beside numbers without one for no series", () => {
    expect(findWide("id,fvc_v1,fvc_month6,fvc_month12".split(","))).toBeUndefined();
    expect(findWide("id,fvc_6,fvc_12mo".split(","))).toBeUndefined();
  });

  it("takes times with a decimal point that names could not keep for none, unless a pattern says the marker", () => {
    const halves = "id,fvc_0_0,fvc_0_5,fvc_1_0,fvc_1_5";
    expect(found(halves)).toBeUndefined();
    expect(found(halves, "fvc_*")).toEqual({ markers: ["fvc"], times: ["0", "0.5", "1", "1.5"], unit: undefined });
    expect(found("id,fvc_0_0,fvc_0_5,fvc_1_0,fvc_1_5", "fvc_0_*,fvc_1_*")?.markers).toEqual(["fvc_0", "fvc_1"]);
    for (const names of [
      "id,m0_5,m1_0,m1_5",
      "id,0_5,1_0,1_5",
      "id,fvc_m0_5,fvc_m1_0,fvc_m1_5",
      "id,fvc_0_25,fvc_1_0",
    ]) {
      expect(found(names)).toBeUndefined();
    }
    // Beside columns that are read, they are named.
    expect(findWide(`${halves},dlco_0,dlco_6`.split(","))).toMatchObject({
      markers: ["dlco"],
      unread: halves.split(",").slice(1),
    });
    // Markers with numbers in their names stay markers.
    expect(found("id,cd4_0,cd4_6,cd8_0,cd8_6")?.markers).toEqual(["cd4", "cd8"]);
    expect(found("id,il_6_0,il_6_12,il_8_0,il_8_12")?.markers).toEqual(["il_6", "il_8"]);
    expect(found("id,fev_1_0,fev_1_6")?.markers).toEqual(["fev_1"]);
  });

  it("takes days whose order is not said for no times", () => {
    expect(findWide("id,01/01/2019,01/07/2019,01/01/2020".split(","))).toBeUndefined();
    expect(findWide("id,fvc_01.02.2019,fvc_01.02.2020".split(","))).toBeUndefined();
  });

  it.each([
    ["id,01/2019,07/2019,13/2019", ["13/2019"]],
    ["id,fvc_pre,fvc_post6,fvc_post12,sex", ["fvc_pre"]],
    ["id,patient_sex,patient_fvc_0,patient_fvc_6", []],
    ["id,sex,fvc_screening,fvc_0,fvc_6", ["fvc_screening"]],
    ["id,screening_fvc,baseline_dose,fvc_0,fvc_6", ["screening_fvc"]],
    ["id,Screening,month0,month6", ["Screening"]],
    ["id,baseline,fvc_6,fvc_12", ["baseline"]],
    ["id,fvc_0,fvc_6,dlco_3,dlco_03", ["dlco_3", "dlco_03"]],
    ["id,fvc_0,fvc_6,dlco_3,dlco_6mo", ["dlco_3", "dlco_6mo"]],
    ["id,fvc_0,fvc_6,dlco_0,dlco_2019Q1", ["dlco_0", "dlco_2019Q1"]],
    ["id,il6,sex,age,fvc_0,fvc_6", []],
  ])("names what it does not read of %s", (names, unread) => {
    expect(findWide(names.split(","))?.unread).toEqual(unread);
  });

  it("takes columns by patterns", () => {
    expect(findWide("id,fvc_scr,fvc_0,fvc_6,il6,il8".split(","), "fvc_*")?.unread).toEqual(["fvc_scr"]);
    expect(found("id,fvc_0,fvc_6,il6,il8", "fvc_*")?.markers).toEqual(["fvc"]);
    expect(found("id,fvc_0,fvc_6,il6,il8", "il*,fvc_*")?.markers).toEqual(["fvc", "il"]);
    expect(found("id,m0_fvc,m6_fvc", "m*_fvc")).toMatchObject({ times: ["0", "6"] });
    expect(found("id,fvc_0,fvc_6", "dlco_*")).toBeUndefined();
  });

  it("finds none in long tables", () => {
    expect(found("id,time,value")).toBeUndefined();
    expect(found("id,age,fvc_0")).toBeUndefined();
  });
});

describe("a wide table", () => {
  const WIDE = "id,sex,fvc_0,fvc_6,fvc_12\na,f,80,78,\nb,m,90,NA,85\n";
  const LONG = "id,time,fvc\na,0,80\na,6,78\nb,0,90\nb,12,85\n";

  it("is asked about in one complaint", () => {
    const [complaint, ...others] = complaintOf(WIDE);
    expect(others).toEqual([]);
    expect(complaint).toMatchObject({ code: "missing-column", where: { line: 1 } });
    expect(complaint.received).toContain('"fvc" at 0, 6, 12');
    expect(complaint.remedy).toContain("--wide");
    expect(complaintOf("id,2019,2020\na,1,2\n")[0].remedy).toContain("--wide");
    expect(complaintOf("id,age,fvc_0,fvc_6\na,50,1,2\n")[0].remedy).toContain("--wide");
    expect(complaintOf("id,time,il6,il8\na,50,1,2\n")[0].remedy).toContain("--markers il6,il8");
  });

  it("says what it does not read, in the question, the notes and a preview", () => {
    const screened = WIDE.replace("sex", "fvc_screening");
    expect(complaintOf(screened)).toHaveLength(1);
    expect(complaintOf(screened)[0].remedy).toContain('"fvc_screening"');
    const { notes } = readCohort(screened, { wide: true, marker: { timeUnit: "months" } });
    expect(notes.join(" ")).toContain('Not read, as no time is known that fits: "fvc_screening"');
    expect(previewTable(screened).wide?.notes.join(" ")).toContain('"fvc_screening"');
  });

  it("takes quarters at their first day, and says so", () => {
    const text = "id,2019Q1,2019Q2\na,80,78\nb,90,85\n";
    const { cohort, notes } = readCohort(text, { wide: true, marker: { timeUnit: "days" } });
    expect(Array.from(onlyMarker(cohort).times)).toEqual([0, 90, 0, 90]);
    expect(notes.join(" ")).toContain("at their first day");
  });

  it("is read as the long one", () => {
    const marker = { timeUnit: "months" };
    expect(readCohort(WIDE, { wide: true, marker }).cohort).toEqual(readCohort(LONG, { marker }).cohort);
    expect(readCohort(WIDE, { wide: "fvc_*", marker }).columns).toEqual({ id: "id", time: "time", value: "fvc" });
  });

  it("takes several markers, the unit that names say, and dates of each visit", () => {
    const read = readCohort(TEMPLATES.wide, { wide: true });
    expect(read.cohort.markers.map(({ marker }) => [marker.name, marker.timeUnit])).toEqual([
      ["fvc", "months"],
      ["dlco", "months"],
    ]);
    expect(Array.from(read.cohort.markers[1].times)).toEqual([0, 6, 0, 12, 0, 6]);
    const dated = "id,date_1,fvc_1,date_2,fvc_2\na,2020-01-01,80,2020-01-11,78\nb,2020-01-01,80,,\n";
    const series = onlyMarker(readCohort(dated, { wide: true, marker: { timeUnit: "days" } }).cohort);
    expect(Array.from(series.times)).toEqual([0, 10, 0]);
  });

  it("counts times whose unit names say in the one that is asked for, and says in which", () => {
    const mixed = "id,fvc_baseline,fvc_6mo,fvc_1yr\na,80,78,77\nb,90,,85\n";
    const timesIn = (timeUnit: string, text = mixed) => {
      const { cohort, notes } = readCohort(text, { wide: true, marker: { timeUnit } });
      const { times, marker } = onlyMarker(cohort);
      return { times: Array.from(times), unit: marker.timeUnit, note: notes.find((note) => note.includes(" at ")) };
    };
    expect(timesIn("years")).toMatchObject({ times: [0, 0.5, 1, 0, 1], unit: "years" });
    expect(timesIn("years").note).toContain('"fvc" at 0, 0.5, 1 years');
    expect(timesIn("").note).toContain('"fvc" at 0, 182.625, 365.25 days');
    expect(complaintOf(mixed)[0].received).toContain('"fvc" at 0, 182.625, 365.25 days');
    expect(timesIn("years", "id,month0,month6\na,1,2\n")).toMatchObject({ times: [0, 0.5], unit: "years" });
    expect(() => timesIn("visits")).toThrow('names of columns say days, received "visits"');
  });

  it("complains by the columns of the file", () => {
    const [complaint] = complaintOf(WIDE.replace("85", "high"), { wide: true });
    expect(complaint).toMatchObject({ code: "not-a-number", where: { line: 3, column: "fvc_12", columnNumber: 5 } });
    expect(complaintOf(`${WIDE}c,f,1\n`, { wide: true })[0]).toMatchObject({ code: "ragged-row", where: { line: 4 } });
    expect(complaintOf(LONG, { wide: true })[0].code).toBe("missing-column");
  });

  it("is seen by a preview, with its long rows, as are visits and individuals", () => {
    const preview = previewTable(WIDE);
    expect(preview.kind).toBe("wide");
    expect(preview.wide).toMatchObject({ header: ["id", "sex", "time", "fvc"], markers: ["fvc"] });
    expect(preview.wide?.rows[1]).toEqual(["a", "f", "6", "78"]);
    expect(previewTable(LONG).kind).toBe("visits");
    expect(previewTable(TEMPLATES.visits).kind).toBe("visits");
    expect(previewTable(TEMPLATES.subjects).kind).toBe("subjects");
  });
});

describe("marks in numbers", () => {
  const table = (...cells: string[]) => `id,time,value\n${cells.map((cell, k) => `p${k},${k},"${cell}"`).join("\n")}\n`;

  it("are asked about once", () => {
    const complaints = complaintOf(table("1,234.5", "2,345.6", "3,456.7", "4,567.8"));
    expect(complaints).toHaveLength(1);
    expect(complaints[0].received).toContain("4 cells such as");
    expect(complaints[0].remedy).toContain('--thousands ","');
    expect(complaintOf(table("71,2", "70,1"))).toHaveLength(1);
    expect(complaintOf("id;time;value\na;0;1,234\nb;1;2,345\n")[0].remedy).toContain("--thousands");
  });

  it.each([
    [",", table("1,234.5", "987", "1,234,567"), [1234.5, 987, 1234567]],
    [".", table("1.234,5", "987", "12.345"), [1234.5, 987, 12345]],
    ["'", table("1'234.5", "9’870", "5"), [1234.5, 9870, 5]],
    [" ", table("1 234.5", "9\u202f870", "5"), [1234.5, 9870, 5]],
  ] as const)("are read with thousands separated by '%s'", (thousands, text, values) => {
    expect(Array.from(onlyMarker(readCohort(text, { thousands }).cohort).values)).toEqual(values);
  });

  it("are never guessed from groups that are none", () => {
    expect(complaintOf(table("12,34"), { thousands: "," })[0].code).toBe("not-a-number");
    expect(() => readCohort(table("1"), { thousands: ",", decimal: "," })).toThrow(
      expect.objectContaining({ code: "option" }),
    );
  });

  it("leave several value columns to be named", () => {
    expect(complaintOf("id,time,fvc,dlco\na,0,1,2\n")[0].remedy).toContain("--markers fvc,dlco");
  });

  it("propose markers as a shell and the list take them, and never an id or a time", () => {
    const named = 'Patient ID,Visit no,Months since onset,Time (years),"FVC, % pred","6"" walk",DLCO\na,1,2,0,1,2,3\n';
    const [complaint, ...others] = complaintOf(named);
    expect(others).toEqual([]);
    expect(complaint.remedy).toContain('(--value "FVC, % pred")');
    expect(complaint.remedy).toContain(`(--markers '"FVC, % pred","6"" walk",DLCO')`);
    expect(complaintOf("id,time,fvc l,$x\na,0,1,2\n")[0].remedy).toContain("(--markers 'fvc l,$x')");
    const timeless = complaintOf("Patient ID,Seen at (years),FVC,Follow-up time\na,0,1,2\n");
    expect(timeless.at(-1)?.remedy).not.toContain("time");
  });

  it("take names before a unit in brackets for usual ones", () => {
    const { columns, notes } = readCohort('Patient ID,Time (years),"FVC, % pred"\na,0,80\nb,1,70\n');
    expect(columns).toEqual({ id: "Patient ID", time: "Time (years)", value: "FVC, % pred" });
    expect(notes).toContain('Column "Time (years)" is taken as time.');
    // A name in full goes before one with a unit.
    expect(readCohort("id,age [y],time,value\na,50,0,80\nb,51,1,70\n").columns.time).toBe("time");
    expect(complaintOf("id,Age (years),fvc_0,fvc_6\na,50,1,2\n")[0].remedy).toContain("--wide");
  });
});
