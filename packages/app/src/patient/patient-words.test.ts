import { fitDtm, saveModel, simulateCohort } from "@trajectory-maps/core";
import { readPatientModel } from "@trajectory-maps/core/study";
import { describe, expect, it } from "vitest";
import type { IndividualAnswer } from "../worker/api.ts";
import { answerIndividual } from "../worker/individual.ts";
import { makePatientStudy } from "./patient-study.ts";
import { crossedBy, horizonOf, inHundred, patientCautions, patientSentence } from "./patient-words.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 60, seed: 3 });
const text = saveModel(fitDtm(cohort, { noise: "white", restarts: 0 }));
const study = makePatientStudy(readPatientModel(text));
const [{ words, times, known, threshold }] = study.markers;

function answerTo(at: readonly number[], values: readonly number[], limit: number = threshold): IndividualAnswer {
  const visits = [{ times: at, values }];
  const question = { id: "p", visits, at: [...times], threshold: limit };
  return answerIndividual(study.model, study.mixture, study.regions, question);
}

describe("inHundred", () => {
  it("says the percentages of the table beneath, and neither none nor all", () => {
    const said = [0, 0.004, 0.13, 0.65, 0.99, 1].map(inHundred);
    const many = [13, 65, 99].map((n) => `About ${n} in 100`);
    expect(said).toEqual(["Fewer than 1 in 100", "Fewer than 1 in 100", ...many, "More than 99 in 100"]);
  });
});

describe("patientSentence", () => {
  it("tells the value two years on with its band, and the chance of the threshold by then", () => {
    const answer = answerTo([0, 1, 2], [80, 74, 70], 60);
    const said = patientSentence(answer, words);
    expect(said).toMatch(
      /^A measurement 2 years on, at year 4, is expected near \d+, between \d+ and \d+ with 90% probab/,
    );
    const p = crossedBy(answer.crossing!, 4);
    expect(said).toContain(`${inHundred(p)} such courses fall below 60 by then.`);
    // The share that has crossed by a time and the times of quantiles are one distribution.
    const half = answer.crossing!.quantiles.find(({ probability }) => probability === 0.5)!.time;
    if (half !== null) expect(crossedBy(answer.crossing!, half)).toBeGreaterThanOrEqual(0.5);
  });

  it("says what little is known of nobody and after one visit, and that the model ends", () => {
    expect(patientSentence(answerTo([], []), words)).toMatch(
      /^No value yet: of anybody the model expects a value between/,
    );
    expect(patientSentence(answerTo([1], [80]), words)).toMatch(/^One visit fixes the level/);
    expect(patientSentence(answerTo([0, words.last], [80, 78]), words)).toMatch(/where this model ends/);
    expect(horizonOf(words.last - 1, words)).toBe(words.last);
  });

  it("looks no further than similar people were followed", () => {
    const answer = answerTo([0, 1, 2], [80, 74, 70], 60);
    expect(horizonOf(2, words, 3)).toBe(3);
    expect(patientSentence(answer, words, { followed: 3 })).toMatch(/^A measurement 1 year on, at year 3, is expected/);
    expect(patientSentence(answer, words, { followed: 1.5 })).toBe(
      "Seen up to year 2; fewer than 11 similar people were followed beyond year 1.5: nothing is forecast.",
    );
  });

  it("tells values that wait to be kept from no values", () => {
    expect(patientSentence(answerTo([], []), words, { waiting: 2 })).toMatch(
      /^No value counts yet, 2 values wait to be kept: of anybody/,
    );
  });

  it("of a marker without a value says that the others speak for it, not that one visit fixes its level", () => {
    expect(patientSentence(answerTo([0], [80]), words, { own: 0 })).toMatch(
      /^No value of it counts, it is expected from the other markers\. A measurement 2 years on/,
    );
    expect(patientSentence(answerTo([0], [80]), words, { own: 1 })).toMatch(/^One visit fixes the level/);
  });

  it("reads naturally where times have no unit", () => {
    const unknown = { ...words, timeWord: "time", when: (t: number) => `time ${words.time(t)}` };
    expect(patientSentence(answerTo([0, 2], [80, 76]), unknown)).toMatch(
      /^A measurement at time 4, 2 later, is expected near/,
    );
  });

  it("says that a course may be beyond the threshold already, not that it will cross it", () => {
    const answer = answerTo([0, 1, 2, 3], [71, 71, 70, 70], 70);
    expect(patientSentence(answer, words)).toContain("The course may be above 70 already.");
  });

  it("tells neither forecast nor threshold of values that fit no course, but which value is wrong", () => {
    const answer = answerTo([0, 2], [92, 700]);
    expect(patientSentence(answer, words)).toMatch(/^These values do not fit any course seen/);
    expect(patientCautions(answer, { followed: 5 }, words)[0]).toMatch(
      /^700 at year 2 is probably wrong \(P > 0\.99\): about \d+ would be expected\.$/,
    );
  });
});

describe("makePatientStudy", () => {
  it("knows from the model alone what is usual at a time, and offers a round threshold among it", () => {
    const [low, high] = known.values(1);
    const { values } = cohort.markers[0];
    expect(low).toBeLessThan(Math.min(...values) + 15);
    expect(high).toBeGreaterThan(Math.max(...values) - 15);
    expect(threshold % 5).toBe(0);
    expect(threshold).toBeGreaterThan(low);
    expect(threshold).toBeLessThan(high);
  });
});
