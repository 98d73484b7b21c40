import { previewTable } from "@trajectory-maps/core/ingest";
import { describe, expect, it } from "vitest";
import {
  assign,
  COLUMNS_SHOWN,
  choiceAsSaid,
  choiceForModel,
  guessChoice,
  guessTimeUnit,
  missingRole,
  otherThanModel,
  readChoice,
  roleOf,
  saidTimeUnit,
  shownColumns,
  splitUnit,
  takeMarkerOf,
} from "./table-choice.ts";

const TEXT = `patient;months since onset;FVC (% predicted);ILD
a;0,5;91,3;0
a;1,5;88,0;0
b;0,2;70,1;1
b;2,5;71,4;1
`;
const preview = previewTable(TEXT);
const names = preview.columns.map((column) => column.name);

describe("guessChoice", () => {
  it("takes columns from the preview and units from names", () => {
    const choice = guessChoice(preview);
    expect(choice.positions).toEqual({ id: 0, time: 1, value: 2 });
    expect(choice.timeUnit).toBe("months");
    expect([choice.markerName, choice.markerUnit]).toEqual(["FVC", "% predicted"]);
    expect(missingRole(choice)).toBeNull();
  });

  it("becomes a choice of the reader with the names as written", () => {
    expect(readChoice({ ...guessChoice(preview), decimal: "," }, preview)).toEqual({
      columns: { id: "patient", time: "months since onset", value: "FVC (% predicted)" },
      marker: { name: "FVC", unit: "% predicted", timeUnit: "months", transform: "identity" },
      decimal: ",",
    });
    expect(readChoice(guessChoice(preview), preview)).not.toHaveProperty("decimal");
  });
});

describe("assign", () => {
  it("swaps two columns, so that one press mends a swapped guess", () => {
    const swapped = assign(guessChoice(preview), 1, "value", preview);
    expect(swapped.positions).toEqual({ id: 0, time: 2, value: 1 });
    expect(assign(swapped, 2, "value", preview)).toEqual(guessChoice(preview));
  });

  it("takes the name and unit of a newly chosen marker, and keeps them otherwise", () => {
    const named = { ...guessChoice(preview), markerName: "lung function" };
    expect(assign(named, 3, "value", preview).markerName).toBe("ILD");
    expect(assign(named, 3, "id", preview).markerName).toBe("lung function");
  });

  it("says what is missing when a column is set free", () => {
    const free = assign(guessChoice(preview), 1, "none", preview);
    expect(roleOf(free, 1)).toBe("none");
    expect(missingRole(free)).toBe("Choose the column for: time.");
  });
});

describe("choiceForModel", () => {
  const file = {
    model: {
      marker: { name: "PFVC", unit: "%", timeUnit: "years", transform: "logit" },
      columns: { id: "patient", time: "gone", value: "ILD" },
    },
  };

  it("takes marker and columns of the model where the table has them", () => {
    const choice = choiceForModel(guessChoice(preview), preview, JSON.stringify(file));
    expect(choice.positions).toEqual({ id: 0, time: 1, value: 3 });
    expect([choice.markerName, choice.markerUnit, choice.transform]).toEqual(["PFVC", "%", "logit"]);
  });

  it("keeps what the table says otherwise, and names the differences until they are taken back", () => {
    const text = JSON.stringify({ model: { ...file.model, columns: { id: "who", time: "when", value: "PFVC" } } });
    const choice = choiceForModel(guessChoice(preview), preview, text);
    expect([choice.markerName, choice.markerUnit, choice.timeUnit]).toEqual(["FVC", "% predicted", "months"]);
    expect(otherThanModel(choice, text)).toEqual([
      "marker “PFVC”, here “FVC”",
      "unit “%”, here “% predicted”",
      "unit of time “years”, here “months”",
    ]);
    expect(otherThanModel(takeMarkerOf(choice, text), text)).toEqual([]);
  });

  it("takes a column whose name says nothing of the marker for the model's", () => {
    const plain = previewTable("id,time,value\na,0,1\na,1,2\nb,0,1\nb,1,3\n");
    const text = JSON.stringify({ model: { ...file.model, columns: { id: "who", time: "when", value: "PFVC" } } });
    expect(otherThanModel(choiceForModel(guessChoice(plain), plain, text), text)).toEqual([]);
  });

  it("leaves the choice as it is for what is no model", () => {
    for (const other of ["", "{}", "[1]", '{"model":{"marker":{"name":5,"transform":"cube"}}}']) {
      expect(choiceForModel(guessChoice(preview), preview, other)).toEqual({
        ...guessChoice(preview),
        form: { origin: "none" },
      });
    }
  });
});

describe("choiceAsSaid", () => {
  it("takes columns and marker named on the command line, and asks for a column that is not there", () => {
    const said = { columns: { value: "ILD", time: "gone" }, marker: { transform: "log", limits: [0, null] } } as const;
    const choice = choiceAsSaid(guessChoice(preview), preview, said);
    expect(choice.positions).toEqual({ id: 0, time: -1, value: 3 });
    expect([choice.markerName, choice.transform, choice.limits]).toEqual(["ILD", "log", [0, null]]);
    expect(missingRole(choice)).toBe("Choose the column for: time.");
    expect(choiceAsSaid(guessChoice(preview), preview, {})).toEqual(guessChoice(preview));
  });
});

describe("guessTimeUnit", () => {
  it("knows usual words and falls back to years", () => {
    expect(["t_days", "Week", "follow-up (mo)", "yrs", "daylight"].map(guessTimeUnit)).toEqual([
      "days",
      "weeks",
      "months",
      "years",
      "years",
    ]);
  });

  it("tells a name that says years from one that says nothing", () => {
    expect(["followup_years", "event_months", "followed", "yrs"].map(saidTimeUnit)).toEqual([
      "years",
      "months",
      undefined,
      "years",
    ]);
  });
});

describe("splitUnit", () => {
  it("splits at brackets at the end only", () => {
    expect(splitUnit("bilirubin [mg/dl]")).toEqual({ name: "bilirubin", unit: "mg/dl" });
    expect(splitUnit("FVC")).toEqual({ name: "FVC", unit: "" });
    expect(splitUnit("FVC (percent predicted)").unit).toBe("percent predicted");
    expect(splitUnit("FVC (% Soll)").unit).toBe("% Soll");
    // A remark is no unit: it would be told of every value.
    expect(splitUnit("FVC (central reading)")).toEqual({ name: "FVC (central reading)", unit: "" });
    expect(splitUnit("(odd)")).toEqual({ name: "(odd)", unit: "" });
    expect(splitUnit("log(x) value")).toEqual({ name: "log(x) value", unit: "" });
  });
});

describe("shownColumns", () => {
  const choice = guessChoice(preview);
  const wide = [...names, ...Array.from({ length: 1000 }, (_, k) => `gene ${k}`)];

  it("are all of a table of usual width", () => {
    expect(shownColumns(names, choice, "nothing like it")).toEqual([0, 1, 2, 3]);
  });

  it("are those in use and some others of a wide one, each to be found by its name", () => {
    const far = { ...choice, positions: { id: 0, time: 1, value: 900 } };
    expect(shownColumns(wide, far)).toHaveLength(COLUMNS_SHOWN + 3);
    expect(shownColumns(wide, far)).toContain(900);
    expect(shownColumns(wide, far, " GENE 999 ")).toEqual([0, 1, 900, 1003]);
    expect(shownColumns(wide, { ...choice, positions: { id: 0, time: -1, value: -1 } }, "gene 77")).toEqual([
      0,
      81,
      ...Array.from({ length: 10 }, (_, k) => 774 + k),
    ]);
  });
});
