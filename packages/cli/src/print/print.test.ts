import { fitDtm, fitLmm, simulateCohort, type TrajectoryModel } from "@trajectory-maps/core";
import { csvPieces, toCsv } from "@trajectory-maps/report";
import { describe, expect, it } from "vitest";
import { modelTable } from "./summary.ts";
import { table } from "./table.ts";
import { createTalk } from "./talk.ts";
import { textMap } from "./text-map.ts";
import { counted, significant, whole, wrap } from "./words.ts";

describe("words", () => {
  it("show numbers with the digits that matter", () => {
    expect([0, 0.03124, 1.931, 14.105, 99.96, 1718.4, -2.5, 1e-7].map((x) => significant(x))).toEqual([
      "0",
      "0.0312",
      "1.93",
      "14.1",
      "100",
      "1,718",
      "−2.5",
      "1 × 10⁻⁷",
    ]);
    expect(whole(1234567)).toBe("1,234,567");
    expect([counted(1, "individual"), counted(312, "individual")]).toEqual(["1 individual", "312 individuals"]);
  });

  it("wrap at spaces and indent later lines", () => {
    expect(wrap("one two three four", 12, "  ")).toBe("one two\n  three four");
  });
});

describe("textMap", () => {
  it("puts the first axis to the right and the second upwards, and marks counts", () => {
    const lines = textMap(Float64Array.of(2, 0, -2, 0, 0, 2, 0, 2), 2, 5, 5).split("\n");
    expect(lines[0]).toBe("   2.0 |  +");
    expect(lines[2]).toBe("     0 |·   ·");
    expect(lines[4]).toBe("  -2.0 |");
  });

  it("draws a map of one dimension on its middle line", () => {
    const lines = textMap(Float64Array.of(-1, 1), 1, 5, 5).split("\n");
    expect(lines[2]).toBe("     0 |·   ·");
  });
});

describe("table", () => {
  it("aligns text to the left and numbers to the right, without frames or trailing spaces", () => {
    expect(
      table(
        ["a", "n"],
        [
          ["long name", "1"],
          ["x", "100"],
        ],
      ),
    ).toBe("a            n\nlong name    1\nx          100");
  });
});

describe("modelTable", () => {
  it("says that a constant mean beside a map is no measure of what the map adds, and nothing of a mean curve", () => {
    const cohort = simulateCohort("pfvc", { numIndividuals: 30, seed: 1 }).cohort;
    const told = (mean: "scalar" | "spline", ...others: TrajectoryModel[]) => {
      const models = [fitLmm(cohort, { mean, mapDimension: 1 }), ...others];
      return modelTable(
        models.map((model) => ({ model, logLikelihood: -1 })),
        30,
      );
    };
    const map = fitDtm(cohort, { mapDimension: 1, restarts: 0, maxIterations: 2 });
    expect(told("scalar", map)).toContain("A constant mean leaves the curve");
    expect(told("spline", map)).not.toContain("constant mean");
    expect(told("scalar")).not.toContain("constant mean");
  });
});

describe("toCsv", () => {
  it("quotes what needs it, disarms formulas, and keeps numbers exact", () => {
    const text = toCsv(
      ["id", "x"],
      [
        ["a,b", -0.1],
        ['say "hi"', 1e-300],
        ["=1+1", Number.NaN],
        ["\tx", 3],
      ],
    );
    expect(text).toBe(`id,x\n"a,b",-0.1\n"say ""hi""",1e-300\n"'=1+1",\n"'\tx",3\n`);
  });
});

describe("csvPieces", () => {
  it("cuts between rows, in pieces of about a megabyte that make up the whole", () => {
    const rows = Array.from({ length: 60_000 }, (_, i) => [`individual ${i}`, i / 7, -i]);
    const pieces = [...csvPieces(["id", "x", "y"], rows)];
    expect(pieces.length).toBeGreaterThan(1);
    for (const piece of pieces) {
      expect(piece.endsWith("\n")).toBe(true);
      expect(piece.length).toBeLessThan(2 ** 20 + 200);
    }
    expect(pieces.join("")).toBe(toCsv(["id", "x", "y"], rows));
    expect(pieces.join("").split("\n")).toHaveLength(60_002);
  });
});

describe("createTalk", () => {
  const listen = (quiet: boolean) => {
    let heard = "";
    const stream = { write: (text: string) => (heard += text) };
    return { talk: createTalk({ quiet, stream, color: false }), heard: () => heard };
  };

  it("says what is being done, without a bar when not on a terminal", () => {
    const { talk, heard } = listen(false);
    const result = talk.during("Fitting", (onProgress) => {
      onProgress({ stage: "EM", iteration: 1, maxIterations: 9, value: -3 });
      return 7;
    });
    expect(result).toBe(7);
    expect(heard()).toMatch(/^Fitting +0\.0 s\n$/);
  });

  it("does not report work as done that failed", () => {
    const { talk, heard } = listen(false);
    const failing = () =>
      talk.during("Fitting", () => {
        throw new Error("no");
      });
    expect(failing).toThrow("no");
    expect(heard()).toBe("");
  });

  it("breaks lines between words on a terminal, and nowhere else", () => {
    const text = "expected values near those of the same individual";
    const heard: string[] = [];
    const write = (part: string) => heard.push(part);
    const narrow = createTalk({ quiet: false, color: false, stream: { isTTY: true, columns: 30, write } });
    narrow.warn(text);
    narrow.fail(`${text}\nmore`);
    narrow.insist(text);
    createTalk({ quiet: false, color: false, stream: { write } }).warn(text);
    expect(heard).toEqual([
      "warning: expected values near\nthose of the same individual\n",
      "error: expected values near\nthose of the same individual\nmore\n",
      `${text}\n`,
      `warning: ${text}\n`,
    ]);
  });

  it("keeps quiet but for errors", () => {
    const { talk, heard } = listen(true);
    talk.say("a");
    talk.warn("b");
    talk.during("c", () => {});
    talk.fail("d");
    expect(heard()).toBe("error: d\n");
  });
});
