import { describe, expect, it } from "vitest";
import { rateAmong } from "../numeric/rate.ts";
import { incidenceAmong } from "./incidence-among.ts";

describe("incidenceAmong", () => {
  const followUp = {
    times: [5, 2, 1, 4, Number.NaN, 8, 6, 3],
    events: [1, 0, 1, 0, 1, 0, Number.NaN, 1],
  };

  it("is the share with the event where everybody is followed to the end", () => {
    const all = { times: [4, 4, 1, 2], events: [0, 0, 1, 1] };
    const found = incidenceAmong(all, [0, 1, 2, 3], 0, 4);
    expect(found).toMatchObject({ atRisk: 4, events: 2, followed: 2 });
    expect(found.incidence).toBeCloseTo(rateAmong([0, 0, 1, 1], [0, 1, 2, 3]).share, 12);
    expect(found.lower < found.incidence && found.incidence < found.upper).toBe(true);
  });

  it("counts from a time on, leaves out whom it does not concern, and those censored for as long as they were seen", () => {
    // After 2: 0 (event at 3), 3 (censored at 2), 5 (followed), 7 (event at 1); 1 and 2 are over, 4 and 6 unknown.
    const found = incidenceAmong(followUp, [0, 1, 2, 3, 4, 5, 6, 7], 2, 4);
    expect(found).toMatchObject({ atRisk: 4, events: 2, followed: 1 });
    expect(found.incidence).toBeCloseTo(1 - (3 / 4) * (1 / 2), 12);
  });

  it("has an exact upper bound without any event, and says nothing of nobody", () => {
    const none = incidenceAmong({ times: [9, 9, 9], events: [0, 0, 0] }, [0, 1, 2], 0, 5);
    expect(none).toMatchObject({ atRisk: 3, events: 0, followed: 3, incidence: 0, lower: 0 });
    expect(none.upper).toBeCloseTo(1 - 0.025 ** (1 / 3), 12);
    expect(incidenceAmong(followUp, [1, 2], 3, 5).incidence).toBeNaN();
  });
});
