/** `dtm plan`: estimates that grow as they should, and what it refuses. */
import { describe, expect, it } from "vitest";
import { run } from "../../test/harness.ts";
import { type Estimate, estimate, type Machine, type PlannedCohort, type Way } from "./plan-estimate.ts";

const RATES = { read: 3e-6, reduce: 2e-7, linear: 5e-5, pass: 8e-6, place: 6e-5, write: 8e-6 };
const MACHINE: Machine = { jobs: 2, memoryBytes: 24 * 2 ** 30, heapBytes: 4 * 2 ** 30 };
const planned = (more: Partial<PlannedCohort> = {}, machine: Partial<Machine> = {}) =>
  estimate({ individuals: 1e6, visits: 6, markers: 1, noise: "white", ...more }, RATES, { ...MACHINE, ...machine });
const ofWay = ({ ways }: Estimate, way: Way) => ways.find((own) => own.way === way)!;
const stage = (made: Estimate, name: string) =>
  ofWay(made, "statistics").stages.find((own) => own.stage === name)!.seconds;

describe("the plan of a large fit", () => {
  it("takes ten times as long to read and place ten times as many, and less to fit them", () => {
    const [small, large] = [planned(), planned({ individuals: 1e7 })];
    expect(stage(large, "statistics")).toBeCloseTo(10 * stage(small, "statistics"), 6);
    expect(stage(large, "places of everyone")).toBeCloseTo(10 * stage(small, "places of everyone"), 6);
    // The map settles on a sample.
    expect(stage(large, "map")).toBeLessThan(10 * stage(small, "map"));
    expect(large.statisticsBytes).toBe(1.48e9);
    expect(ofWay(large, "statistics").parts).toBe(50);
  });

  it("takes longer to read more visits, while the fit stays as it is", () => {
    const [few, many] = [planned({ visits: 3 }), planned({ visits: 30 })];
    expect(stage(many, "statistics")).toBeCloseTo(10 * stage(few, "statistics"), 6);
    expect(stage(many, "map")).toBe(stage(few, "map"));
    expect(ofWay(many, "statistics").memoryBytes).toBe(ofWay(few, "statistics").memoryBytes);
    expect(ofWay(many, "visits").memoryBytes).toBeGreaterThan(ofWay(few, "visits").memoryBytes);
  });

  it("asks for more memory for noise levels and markers, and gains by threads", () => {
    const memory = (more: Partial<PlannedCohort>) => ofWay(planned(more), "statistics").memoryBytes;
    expect(memory({ noise: "level" })).toBeGreaterThan(memory({}));
    expect(memory({ markers: 2 }) - memory({})).toBe(1e6 * 164);
    expect(stage(planned({}, { jobs: 8 }), "map")).toBeLessThan(stage(planned(), "map"));
  });

  it("takes batches and three starts for few individuals", () => {
    expect(planned({ individuals: 2_000 })).toMatchObject({ schedule: "batch", passes: 900, recommended: "visits" });
    expect(planned({ individuals: 20_000 })).toMatchObject({ schedule: "batch", passes: 300 });
    expect(planned({ individuals: 60_000 }).schedule).toBe("svi");
  });

  it("recommends the first way that fits, and jobs that each fit", () => {
    expect(planned().recommended).toBe("visits");
    expect(planned({ individuals: 1e7 }).recommended).toBe("statistics");
    const huge = planned({ individuals: 1e8 });
    expect(huge.recommended).toBe("shards");
    expect(ofWay(huge, "statistics").fits).toBe(false);
    const { parts, memoryBytes } = ofWay(huge, "shards");
    expect(parts).toBeGreaterThan(1);
    expect(memoryBytes).toBeLessThan(MACHINE.memoryBytes);
    expect(ofWay(planned({ individuals: 1e8 }, { memoryBytes: 8 * 2 ** 30 }), "shards").fits).toBe(true);
    // Noise levels of several markers cannot be spread.
    const none = planned({ individuals: 1e9, markers: 2, noise: "level" });
    expect(none.ways.map(({ way }) => way)).toEqual(["visits", "statistics"]);
    expect(none.recommended).toBeUndefined();
  });
});

describe("dtm plan", () => {
  it("measures this machine and says what is extrapolated", async () => {
    const { code, out } = await run("plan", "--individuals", "1e7", "--visits", "6", "-j", "1", "-q");
    expect(code).toBe(0);
    expect(out).toContain("10,000,000 individuals, 60,000,000 observations of 1 marker");
    expect(out).toMatch(/Measured +just now, CPU time on one thread/);
    expect(out).toContain("extrapolated");
    expect(out.replace(/\s+/g, " ")).toContain("dtm fit --statistics parts/");
  });

  it("measures several markers and noise levels", async () => {
    const { code, out } = await run(
      ...["plan", "--individuals", "1000", "--markers", "2", "--noise", "level", "--json", "-q"],
    );
    expect(code).toBe(0);
    const { secondsEach, recommended } = JSON.parse(out) as Estimate & { secondsEach: Record<string, number> };
    expect(recommended).toBe("visits");
    for (const seconds of Object.values(secondsEach)) expect(seconds).toBeGreaterThan(0);
  });

  it.each([
    [[], "--individuals: expected how many there are"],
    [["--individuals", "many"], '--individuals: expected a number, received "many"'],
    [["--individuals", "1.5e1.5"], "--individuals: expected a number"],
    [["--individuals", "20.5"], "--individuals: expected a whole number from 10 to 1e12"],
    [["--individuals", "1e13"], "--individuals: expected a number from 1 to 1000000000000"],
    [["--individuals", "1e6", "--visits", "0"], "--visits: expected a number from 1 to"],
    [["--individuals", "1e6", "--visits", "0.5"], "--visits: expected a number from 1 to"],
    [["--individuals", "1e6", "--visits", "1e5"], "--visits: expected 1 to 10,000"],
    [["--individuals", "1e6", "--markers", "9"], "--markers: expected a whole number from 1 to 8"],
    [["--individuals", "1e6", "--jobs", "0"], "--jobs: expected a whole number from 1 to"],
    [["--individuals", "1e6", "--noise", "serial"], "--noise"],
  ])("refuses %j", async (args, message) => {
    const { code, talk } = await run("plan", ...args);
    expect(code).toBe(2);
    expect(talk).toContain(message);
  });
});
