import { outcomeName } from "@trajectory-maps/report";
import { describe, expect, it } from "vitest";
import type { IndividualAnswer } from "../../worker/api.ts";
import {
  cautionSentences,
  courseSentence,
  coverageSentence,
  factsUntil,
  heldSentence,
  individualSentence,
  noiseSentence,
  seenTo,
  severalSentences,
  spokenSentence,
  suspectSentence,
} from "./sentence.ts";
import { markerWords } from "./words.ts";

const PART = {
  marker: { name: "FVC", unit: "% predicted", timeUnit: "years", transform: "identity" },
  noise: { kind: "white", variance: 4 },
  basis: { degree: 1, numBasis: 2, knots: Float64Array.of(0, 0, 10, 10) },
};
/** A model of one marker with some of its fields changed. */
const modelOf = (change: object) =>
  ({ markers: [{ ...PART, ...change }] }) as unknown as Parameters<typeof markerWords>[0];
const words = markerWords(modelOf({}), 80);
const times = Float64Array.from({ length: 41 }, (_, k) => k / 4);

function answer(over: Partial<IndividualAnswer>, course: (t: number) => number, half: number): IndividualAnswer {
  const median = times.map(course);
  const series = {
    times,
    median,
    mean: median,
    sd: median.map(() => half / 1.645),
    lower: median.map((v) => v - half),
    upper: median.map((v) => v + half),
    level: 0.9,
    interval: "curve" as const,
    extrapolated: new Uint8Array(41),
    beyondLimits: new Uint8Array(41),
  };
  return {
    curve: series,
    observation: series,
    numUsed: 6,
    lastUsed: 7.5,
    outsideMass: 0,
    membership: Float64Array.of(0.02, 0.98),
    farCovariates: [],
    ...over,
  } as IndividualAnswer;
}

describe("courseSentence", () => {
  it("says two pieces with rates in points", () => {
    const course = times.map((t) => 104 - 1.5 * t - 3.5 * Math.max(0, t - 5));
    expect(courseSentence(times, course, words)).toBe(
      "Falls about 1.5 points a year until about year 5, then about 5 points a year.",
    );
  });

  it("says a level as steady, and one line with its span", () => {
    expect(
      courseSentence(
        times,
        times.map(() => 96),
        words,
      ),
    ).toBe("Steady near 96.");
    expect(
      courseSentence(
        times,
        times.map((t) => 50 + 3 * t),
        words,
      ),
    ).toBe("Rises about 3 points a year from year 0 to 10.");
  });

  it("of less than half a year says what changed, not what it would be in a year", () => {
    const short = markerWords(modelOf({ basis: { ...PART.basis, knots: Float64Array.of(0, 0, 1.5, 1.5) } }), 80);
    const weeks = times.map((t) => 0.15 * t);
    const course = weeks.map((t) => 60 + 80 * Math.min(t, 0.25) - 5 * Math.max(0, t - 0.25));
    expect(courseSentence(weeks, course, short)).toMatch(
      /^Rises by about (19|20) points until about year 0\.\d+, then falls about 5 points a year\.$/,
    );
  });

  it("says percentages for a marker on the log scale", () => {
    const log = markerWords(
      modelOf({ marker: { ...PART.marker, transform: "log" }, noise: { kind: "white", variance: 0.04 } }),
      2,
    );
    const course = times.map((t) => 2 * 1.2 ** t);
    expect(courseSentence(times, course, log)).toBe("Rises about 20% a year from year 0 to 10.");
  });
});

describe("sentences about noise", () => {
  it("say who was measured unusually, as far as that is sure and beyond what is usual", () => {
    expect(noiseSentence({ ratio: 2.31, lower: 1.42, upper: 3.6 }, 0.8)).toBe(
      "Measured unusually irregularly: noise sd 2.3 times the middle (90%: 1.4 to 3.6).",
    );
    expect(noiseSentence({ ratio: 0.4, lower: 0.2, upper: 0.81 }, 0.8)).toBe(
      "Measured unusually steadily: noise sd 0.4 times the middle (90%: 0.2 to 0.81).",
    );
    expect(noiseSentence({ ratio: 2.31, lower: 0.9, upper: 3.6 }, 0.8)).toBe("");
    expect(noiseSentence({ ratio: 1.3, lower: 1.1, upper: 1.5 }, 0.2)).toBe("");
    // Where people differ as much, it is not unusual.
    expect(noiseSentence({ ratio: 2.31, lower: 1.42, upper: 3.6 }, 2)).toBe("");
  });

  it("say what was expected in the place of a suspect value, and what bands hold", () => {
    const suspect = { id: "a", marker: "FVC", time: 3, value: 800, expected: 80.2, probability: 0.9999 };
    expect(suspectSentence(suspect, words)).toBe("suspect value: expected about 80, P > 0.99");
    expect(coverageSentence({ own: 0.842, calibrated: 0.901 })).toBe(
      "The outer band of the forecast holds 90% of visits of people who were not in the fit; the model's own holds 84%.",
    );
    expect(coverageSentence(undefined)).toBe("");
  });
});

describe("individualSentence", () => {
  it("announces the forecast after the last used visit", () => {
    expect(
      individualSentence(
        answer({}, () => 96, 4),
        words,
      ),
    ).toBe("Steady near 96. After year 7.5 this is a forecast.");
  });

  it("says a wide course is open: more than six noise sd at the last time", () => {
    expect(
      individualSentence(
        answer({}, () => 80, 6.1),
        words,
      ),
    ).toContain("The later course is open: between 74 and 86 at year 10.");
    expect(
      individualSentence(
        answer({}, () => 80, 5.9),
        words,
      ),
    ).not.toContain("open");
  });

  it("of one visit says the level, not the course", () => {
    expect(
      individualSentence(
        answer({ numUsed: 1, lastUsed: 1 }, () => 74, 29),
        words,
      ),
    ).toBe("One visit fixes the level, not the course. The later course is open: between 45 and 103 at year 10.");
  });

  it("tells a course only as far as anybody like this was followed, or the individual itself", () => {
    // Rises without end: what the model draws at year 10 is nobody's value.
    const rising = answer({ lastUsed: 3 }, (t) => 20 + 9 * t, 4);
    expect(individualSentence(rising, words)).toContain("to 10.");
    expect(individualSentence(rising, words, 6)).toBe(
      "Rises about 9 points a year from year 0 to 6. After year 3 this is a forecast.",
    );
    expect(individualSentence(rising, words, 2)).toBe(
      "Rises about 9 points a year from year 0 to 3. After year 3 this is a forecast.",
    );
    const open = answer({ lastUsed: 3 }, (t) => 20 + 9 * t, 30);
    expect(individualSentence(open, words, 6)).toContain("The later course is open: between 44 and 104 at year 6.");
    expect(individualSentence(open, words, 2)).not.toContain("open");
  });

  it("of nobody's visits says what is known as far as anybody was followed", () => {
    const nobody = answer({ numUsed: 0, lastUsed: Number.NEGATIVE_INFINITY }, (t) => 80 - t, 20);
    expect(individualSentence(nobody, words)).toBe(
      "No visit yet: anyone of this cohort, between 50 and 90 at year 10.",
    );
    expect(individualSentence(nobody, words, 6)).toBe(
      "No visit yet: anyone of this cohort, between 54 and 94 at year 6.",
    );
  });

  it("does not call the end of the span a forecast", () => {
    expect(
      individualSentence(
        answer({ lastUsed: 9.8 }, () => 96, 4),
        words,
      ),
    ).toBe("Steady near 96.");
  });
});

describe("cautionSentences", () => {
  it("warn of a bad fit and of an end of observation, and of nothing else", () => {
    const one = answer({}, () => 80, 4);
    expect(cautionSentences(one, { worseThan: 0.5, observedUntil: 9.9 }, words)).toEqual([]);
    expect(cautionSentences(one, { worseThan: 0.995, observedUntil: 6 }, words)).toEqual([
      "This individual fits none of the courses seen here (worse than 99% of the cohort). Read the forecast with caution.",
      "Beyond year 6 too few like this were observed. The curve there follows the model, not data.",
    ]);
  });
});

describe("of several markers", () => {
  it("a sentence is said of each, with its name, and once that it is a forecast", () => {
    const other = markerWords(modelOf({ marker: { ...PART.marker, name: "DLCO" } }), 80);
    const falls = answer({}, (t) => 95 - 3 * t, 4);
    expect(
      severalSentences([
        { answer: answer({}, () => 96, 4), words },
        { answer: falls, words: other },
      ]),
    ).toBe(
      "FVC: steady near 96. DLCO: falls about 3 points a year from year 0 to 10. After year 7.5 this is a forecast.",
    );
  });
});

it("factsUntil ends where people like this were followed, or the individual was seen, and with the model", () => {
  const one = answer({}, () => 69, 7);
  expect([3, 8, 12, Number.NaN].map((seen) => factsUntil(one, words, seen))).toEqual([7.5, 8, 10, 10]);
  const { curve } = one;
  const extrapolated = Uint8Array.from(times, (t) => (t > 9 ? 1 : 0));
  const guarded = { ...one, curve: { ...curve, extrapolated, support: new Float64Array(41) } };
  expect(factsUntil(guarded, words)).toBe(9);
  expect(spokenSentence("a", guarded, [], words)).toContain("expected at year 9: 69");
});

it("times that facts end at are those to which people were followed, not those at which a course is drawn", () => {
  const one = answer({ lastUsed: 1 }, (t) => 20 + 9 * t, 30);
  const extrapolated = Uint8Array.from(times, (t) => (t > 5.9 ? 1 : 0));
  const guarded = { ...one, supportedTo: 5.9, curve: { ...one.curve, extrapolated, support: new Float64Array(41) } };
  expect([seenTo(guarded), seenTo({ curve: guarded.curve }), factsUntil(guarded, words)]).toEqual([5.9, 5.75, 5.9]);
  // A follow-up that ends elsewhere says nothing of where the course does.
  expect([4, 7].map((supportedTo) => seenTo({ ...guarded, supportedTo }))).toEqual([5.75, 5.75]);
  expect(individualSentence({ ...guarded, lastUsed: 3 }, words, 5.9)).toContain(
    "Rises about 9 points a year from year 0 to 5.9.",
  );
  expect(individualSentence(guarded, words, 5.9)).toContain(
    "The later course is open: between 43 and 103 at year 5.9.",
  );
});

it("spokenSentence says id, visits, group and expected value with its interval", () => {
  const one = answer({}, () => 69, 7);
  expect(spokenSentence("P-2269", one, ["stable", "late decline"], words)).toBe(
    "P-2269, 6 visits, late decline 98 percent, expected at year 10: 69, from 62 to 76.",
  );
});

it("label reads names of columns as words and leaves written ones alone", () => {
  expect(outcomeName("interstitial_lung_disease")).toBe("Interstitial lung disease");
  expect(outcomeName("ILD (ever)")).toBe("ILD (ever)");
  expect(outcomeName("stage_baseline>=3")).toBe("Stage baseline ≥ 3");
  expect(outcomeName("NYHA=II or III")).toBe("NYHA = II or III");
  expect(outcomeName("a<=b>=c")).toBe("a<=b>=c");
});

describe("markerWords", () => {
  const of = (typical: number, noise: number, transform = "identity") =>
    markerWords(
      modelOf({
        noise: { kind: "white", variance: noise ** 2 },
        marker: { ...PART.marker, unit: "u", transform },
      }),
      typical,
    );

  it("writes very large and very small markers with one power of ten", () => {
    const huge = of(1.2e12, 3e10);
    expect([huge.value(1.234e12), huge.values(0.9e12, 1.31e12), huge.change(-2e10)]).toEqual([
      "1.23 × 10¹²",
      "0.90 to 1.31 × 10¹²",
      "−0.020 × 10¹²",
    ]);
    expect(huge.rate(1e12, 1.2e12, 2)).toBe("0.10 × 10¹² u a year");
    expect(of(2e-7, 1e-8).value(2.1e-7)).toBe("210 × 10⁻⁹");
  });

  it("gives changes of a log marker two digits of the larger end, not the decimals of its smallest values", () => {
    const bilirubin = of(1.4, 0.26, "log");
    expect([5.84, 0.6, 0.01].map(bilirubin.change)).toEqual(["5.8", "0.60", "0.01"]);
    expect([bilirubin.changes(2.07, 12.16), bilirubin.changes(-1.9, 8.91)]).toEqual(["2 to 12", "−1.9 to 8.9"]);
  });

  it("leaves open what the noise leaves open of large values", () => {
    const load = of(2e5, 0.46, "log");
    expect([load.value(153993), load.values(91041, 292316), load.value(4321)]).toEqual([
      "150,000",
      "90,000 to 290,000",
      "4,300",
    ]);
    expect([load.change(-119045), load.changes(-397299, 71510)]).toEqual(["−120,000", "−400,000 to 70,000"]);
    const volume = of(2400, 120);
    expect([volume.value(2345), volume.change(-83.4), volume.exact(2345)]).toEqual(["2,350", "−83", "2,345"]);
    expect(of(80, 12).value(77)).toBe("77");
    const ratio = of(1.2, 0.3, "log");
    expect([ratio.value(1.27), ratio.values(0.82, 2.1), of(80, 0.4).value(77.3)]).toEqual([
      "1.3",
      "0.8 to 2.1",
      "77.3",
    ]);
  });

  it("gives each value of a log marker its own", () => {
    const load = of(2e4, 0.3, "log");
    expect([load.value(41), load.value(20000), load.value(3.4e7)]).toEqual(["41", "20,000", "34 × 10⁶"]);
    expect(load.values(500, 2e6)).toBe("500 to 2.0 × 10⁶");
  });
});

describe("what lies far outside", () => {
  it("says which covariates, in place of how long others were followed", () => {
    const far = answer({ farCovariates: ["age"] }, () => 80, 2);
    expect(cautionSentences(far, { worseThan: 0, observedUntil: 0 }, words)).toEqual([
      "Covariates far outside those fitted (age): all that is said here is extrapolated.",
    ]);
  });

  it("says from when on a whole forecast lies beyond a limit", () => {
    const { curve } = answer({}, (t) => Math.min(80 + 10 * t, 120), 2);
    expect(heldSentence(curve, words)).toBe("");
    const held = { ...curve, beyondLimits: Uint8Array.from(times, (t) => (t >= 5 ? 1 : 0)) };
    expect(heldSentence(held, words)).toBe("From year 5 the whole forecast lies beyond the limit 120: no band.");
  });
});
