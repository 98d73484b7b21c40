import { describe, expect, it } from "vitest";
import { previewFile, previewTable, type TablePreview } from "./preview.ts";

const LONG = `id,time,value
a,0,10
a,1,11
a,2,12.5
b,0.5,8
b,1.5,
c,0.2,n/a
`;

/** Names of the guessed columns: individual, time, marker. */
function guessed({ columns, guesses }: TablePreview): (string | undefined)[] {
  return ["id", "time", "value"].map((role) => columns[guesses.find((g) => g.role === role)!.column]?.name);
}

/** Rows of 30 individuals with visits, as columns in any order. */
function table(header: string, row: (individual: number, visit: number) => string): string {
  const lines = [header];
  for (let i = 0; i < 30; i++) for (let j = 0; j < 1 + (i % 4); j++) lines.push(row(i, j));
  return lines.join("\n");
}

const level = (i: number, j: number) => (70 + ((i * 37 + j * 11) % 23) + 0.25 * j).toFixed(2);

describe("a preview of units and letters", () => {
  it("lists units in all and beside each name of a marker", () => {
    const { units } = previewTable("id,time,test,value,unit\na,0,crea,1,mg/dL\na,1,crea,80,umol/L\nb,0,alb,4,g/dL\n");
    expect(units).toEqual([
      {
        column: 4,
        units: ["mg/dL", "umol/L", "g/dL"],
        beside: expect.arrayContaining([
          { column: 2, level: "crea", units: ["mg/dL", "umol/L"] },
          { column: 2, level: "alb", units: ["g/dL"] },
        ]),
      },
    ]);
  });

  it("says how letters are encoded, as it was recognised or asked for", async () => {
    const text = "id,time,größe\na,0,1\na,1,2\n";
    const latin = [Uint8Array.from(text, (letter) => letter.charCodeAt(0))];
    expect((await previewFile([new TextEncoder().encode(text)])).encoding).toBe("utf-8");
    expect((await previewFile(latin)).encoding).toBe("windows-1252");
    const greek = await previewFile(latin, { encoding: "iso-8859-7" });
    expect([greek.encoding, greek.columns[2].name]).toEqual(["iso-8859-7", "grφίe"]);
  });
});

describe("previewTable", () => {
  it("takes usual names, and says so", () => {
    const preview = previewTable(LONG);
    expect(guessed(preview)).toEqual(["id", "time", "value"]);
    expect(preview.guesses[0].reason).toBe("its name is usual; 3 different ones in 6 rows");
    expect(preview.numRowsSeen).toBe(6);
  });

  it("describes columns by shares of numbers and of empty cells", () => {
    const value = previewTable(LONG).columns[2];
    expect(value).toEqual({ name: "value", numeric: 1, empty: 2 / 6, distinct: 4, levels: [] });
    const id = previewTable(LONG).columns[0];
    expect(id).toEqual({ name: "id", numeric: 0, empty: 0, distinct: 3, levels: ["a", "b", "c"] });
  });

  it("guesses odd names by contents: ids repeat, time grows, the marker changes", () => {
    const text = table("Pat.-Nr.;seit Beginn;Ergebnis FVC;weiblich", (i, j) =>
      [`X${i}`, (j * 0.75 + 0.1).toFixed(2), level(i, j), i % 2].join(";"),
    );
    const preview = previewTable(text);
    expect(guessed(preview)).toEqual(["Pat.-Nr.", "seit Beginn", "Ergebnis FVC"]);
    expect(preview.guesses.map((g) => g.reason)).toEqual([
      "unique per row 41%, looks like an id",
      "grows along the rows of an individual",
      "numbers that change between visits",
    ]);
  });

  it("guesses ids that are numbers, in whatever order the columns stand", () => {
    const text = table("fvc_pp,yrs_since_onset,mrn", (i, j) => [level(i, j), j * 0.5 + 0.2, 4000 + i].join(","));
    expect(guessed(previewTable(text))).toEqual(["mrn", "yrs_since_onset", "fvc_pp"]);
  });

  it("does not take a second clock for the marker", () => {
    const text = table("id,time,day,bili,stage", (i, j) => [i, j, 365 * j + i, level(i, j), 1 + (i % 4)].join(","));
    expect(guessed(previewTable(text))).toEqual(["id", "time", "bili"]);
  });

  it("takes a column of dates as time, though reading will ask for numbers", () => {
    const text = table("who,seen on,score", (i, j) =>
      [`p${i}`, `20${10 + j}-03-0${1 + (i % 9)}`, level(i, j)].join(","),
    );
    expect(guessed(previewTable(text))).toEqual(["who", "seen on", "score"]);
  });

  it("reads numbers with a decimal comma", () => {
    const text = table("who\tweeks\tscore", (i, j) => [`p${i}`, `${j},5`, level(i, j).replace(".", ",")].join("\t"));
    const preview = previewTable(text);
    expect(guessed(preview)).toEqual(["who", "weeks", "score"]);
    expect(preview.columns[2].numeric).toBe(1);
  });

  it("guesses past two columns of one name", () => {
    const text = table("id,id,t,fvc", (i, j) => [`p${i}`, i, j, level(i, j)].join(","));
    const { guesses } = previewTable(text);
    expect(guesses.map((g) => g.column)).toEqual([0, 2, 3]);
  });

  it("guesses each column once", () => {
    for (const text of [LONG, "a,b\n1,2\n", "x\n1\n2\n", table("a,b,c", (i, j) => `${i},${j},${level(i, j)}`)]) {
      const taken = previewTable(text)
        .guesses.map((g) => g.column)
        .filter((k) => k >= 0);
      expect(new Set(taken).size).toBe(taken.length);
    }
  });

  it("says why nothing fits", () => {
    for (const text of ["id,time,value\n", "\u0000\u0001,\u0002\n1,2\n"]) {
      const { guesses } = previewTable(text);
      expect(guesses.map((g) => g.role)).toEqual(["id", "time", "value"]);
      for (const guess of guesses) expect(guess.reason).not.toBe("");
    }
    expect(previewTable("word,other\na,b\nc,d\n").guesses[2]).toEqual({
      role: "value",
      column: -1,
      reason: "no column of numbers is left",
    });
  });

  it("shows as many rows as asked for and looks at no more than it may", () => {
    const text = table("id,time,value", (i, j) => `${i},${j},${level(i, j)}`);
    const preview = previewTable(text, { numRows: 4, numRowsSeen: 10 });
    expect(preview.rows).toHaveLength(4);
    expect(preview.numRowsSeen).toBe(10);
  });

  it("keeps cells as they are written", () => {
    const { rows } = previewTable('id,time,value\n"<img src=x>",0," 5 "\n');
    expect(rows).toEqual([["<img src=x>", "0", " 5 "]]);
  });

  it("refuses what can be no table, whatever the columns", () => {
    for (const text of ["", "\n\n"]) expect(() => previewTable(text)).toThrow(/a header and rows/);
    expect(() => previewTable('"unclosed,1\n')).toThrow(/a closing quote/);
    expect(() => previewTable("<html><body>Log in</body></html>")).toThrow(/a web page/);
    expect(() => previewTable('[{"id":"p1"}]')).toThrow(/JSON/);
    // The first visit stands where names should.
    expect(() => previewTable(table("p1,0,71.5", (i, j) => `p${i},${j},${level(i, j)}`))).toThrow(/looks like data/);
  });

  it("looks at fewer rows of a wide table, a hundred at least", () => {
    const wide = (columns: number, rows: number) => {
      const line = Array.from({ length: columns }, (_, k) => `c${k}`).join(",");
      return `${line}\n`.repeat(rows + 1);
    };
    expect(previewTable(wide(3, 3000)).numRowsSeen).toBe(2000);
    expect(previewTable(wide(400, 800)).numRowsSeen).toBe(500);
    expect(previewTable(wide(5000, 150)).numRowsSeen).toBe(100);
  });
});

describe("previewFile", () => {
  it("reads no more of a file than it looks at", async () => {
    const head = new TextEncoder().encode(table("id,time,value", (i, j) => `${i},${j},${level(i, j)}`));
    let blocks = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield head;
      for (;;) {
        blocks++;
        yield new TextEncoder().encode("9,9,9\n".repeat(1000));
      }
    }
    const preview = await previewFile(endless());
    expect(preview.numRowsSeen).toBe(2000);
    expect(blocks).toBeLessThan(20);
    expect(guessed(preview)).toEqual(["id", "time", "value"]);
  });
});

describe("numbers whose marks are asked about", () => {
  const marks = (...values: string[]) => {
    const text = `id;time;value\n${values.map((value, k) => `a${k >> 1};${k};${value}\n`).join("")}`;
    const { thousands, marked } = previewTable(text).columns[2];
    return [thousands, marked];
  };

  it("tells thousands for sure from a comma that may be either, and says nothing where decimals are plain", () => {
    expect(marks("1,234.5", "2,345.6")).toEqual([",", ["1,234.5", "2,345.6"]]);
    expect(marks("1,234", "998.5")).toEqual([",", ["1,234"]]);
    expect(marks("1.234,5", "998,5")).toEqual([".", ["1.234,5"]]);
    expect(marks("1,234", "2,345", "998")).toEqual([undefined, ["1,234", "2,345"]]);
    expect(marks("1,234", "12,5")).toEqual([undefined, undefined]);
    expect(marks("1.5", "12.25")).toEqual([undefined, undefined]);
  });
});

describe("a wide table", () => {
  it("is shown as the long one with its own columns, dates and guesses", () => {
    const { kind, wide } = previewTable(
      "id,sex,date_1,fvc_1,date_2,fvc_2\na,f,03/04/2020,80,05/06/2021,78\nb,m,07/08/2020,91,,\n",
    );
    expect(kind).toBe("wide");
    expect(wide?.columns.map(({ name }) => name)).toEqual(["id", "sex", "date", "fvc"]);
    expect(wide?.guesses.map(({ column }) => column)).toEqual([0, 2, 3]);
    expect(wide?.columns[2].dates?.form).toBe("ambiguous");
    expect(wide?.rows).toHaveLength(3);
  });

  it("is of individuals where a column that is called an identifier has each once, whatever other texts repeat", () => {
    const header = ["Pseudonymised identifier of the participant", "Death, any cause", "Age at onset", "Sex"];
    const rows = Array.from({ length: 40 }, (_, i) => [
      `ILD-2011-${i}-a`,
      i % 3 ? 0 : 1,
      40 + (i % 17),
      i % 2 ? "female" : "male",
    ]);
    const { kind, guesses } = previewTable(
      [header, ...rows].map((row) => row.map((cell) => `"${cell}"`).join(",")).join("\n"),
    );
    expect([kind, guesses.find(({ role }) => role === "id")?.column]).toEqual(["subjects", 0]);
  });
});
