import { describe, expect, it } from "vitest";
import { selectStatistics, unmeasured } from "../../basis/statistics.ts";
import { makeCohort } from "../../cohort/cohort.ts";
import { simulateCohort } from "../../simulate/cohorts.ts";
import { prepareMarkers } from "../choose-noise.ts";
import { shardBlocks } from "../shards.ts";
import { buildStatistics, packShard, planText, readPlan, shardColumns, statisticsPlan } from "./packed-statistics.ts";

const columns = { id: "id", time: "time", value: "value" };
const { cohort } = simulateCohort("pfvc", { numIndividuals: 700, seed: 3 });

/** Statistics of a cohort packed into shards and put together again. */
function throughShards(noise: Parameters<typeof prepareMarkers>[1], of = cohort) {
  const { statistics, warnings } = prepareMarkers(of, noise);
  const markers = of.markers.map(({ marker }) => marker);
  const plan = readPlan(planText(statisticsPlan(statistics, markers, [columns], warnings)), "x.parquet");
  const builder = buildStatistics(plan, of.ids.length);
  for (const block of shardBlocks(of.ids.length)) builder.add(packShard(statistics, of.ids, plan, block), "x.parquet");
  return { before: statistics, plan, ...builder.finish() };
}

describe("statistics in shards", () => {
  it.each(["white", "level"] as const)("are the same to the last bit: %s", (noise) => {
    const { before, statistics, ids } = throughShards({ noise });
    expect(statistics).toEqual(before);
    expect(ids).toEqual([...cohort.ids]);
  });

  it("may come in any order, with individuals spread over them", () => {
    const { before, plan, ids } = throughShards({ noise: "level" });
    const builder = buildStatistics(plan, ids.length);
    for (const rest of [2, 0, 1]) {
      const own = ids.flatMap((_, i) => (i % 3 === rest ? [i] : [])).reverse();
      const part = [selectStatistics(before[0], own)];
      builder.add(
        packShard(
          part,
          own.map((i) => ids[i]),
          plan,
          { from: 0, to: own.length },
        ),
        "x.parquet",
      );
    }
    const { ids: found, statistics } = builder.finish();
    expect(found).toEqual([...cohort.ids]);
    expect(statistics).toEqual(before);
  });

  it("hold a correlation of visits, with the plain design beside it", () => {
    const { before, statistics, plan } = throughShards({ noise: "serial" });
    const { averageGram, ...others } = statistics[0];
    const { averageGram: expected, ...rest } = before[0];
    expect(others).toEqual(rest);
    for (const [e, v] of averageGram.entries()) expect(v).toBeCloseTo(expected[e], 14);
    expect(shardColumns(plan)).toContain("design_1");
  });

  it("of individuals without a visit of a marker add nothing to its design", () => {
    const { before, plan } = throughShards({ noise: "serial" });
    const nobody = { ...unmeasured(before[0]), averageGram: before[0].averageGram.map(() => Number.NaN) };
    const { bytes } = packShard([nobody], cohort.ids, plan, { from: 0, to: 10 });
    expect(bytes.design_1.every((byte) => byte === 0)).toBe(true);
  });

  it("hold values below a limit", () => {
    const ids = Array.from({ length: 90 }, (_, e) => `p${Math.floor(e / 3)}`);
    const times = ids.map((_, e) => e % 3);
    const values = ids.map((_, e) => 1 + ((7 * e) % 11));
    const censored = Int8Array.from(values, (v) => (v < 3 ? -1 : 0));
    const limited = makeCohort({ ids, times, values });
    const [series] = limited.markers;
    const { before, statistics } = throughShards(
      { noise: "white" },
      { ...limited, markers: [{ ...series, censored: censored }] },
    );
    expect(statistics[0].counts).toEqual(before[0].counts);
    expect(statistics[0].logDets).toEqual(before[0].logDets);
    expect(statistics[0].numObservations).toBeCloseTo(before[0].numObservations, 10);
  });

  it("are refused where a column is missing, short, or individuals are", () => {
    const { before, plan, ids } = throughShards({ noise: "white" });
    const shard = packShard(before, ids, plan, { from: 0, to: 10 });
    const builder = () => buildStatistics(plan, 10);
    const { cross_1, ...without } = shard.bytes;
    expect(() => builder().add({ ...shard, bytes: without }, "a.parquet")).toThrow(/cross_1.*no such column/);
    const short = { ...without, cross_1: cross_1.slice(8) };
    expect(() => builder().add({ ...shard, bytes: short }, "a.parquet")).toThrow(/400 bytes of cross_1.*received 392/);
    expect(() => buildStatistics(plan, 11).finish()).toThrow(/expected 11 individuals, received 0/);
    expect(() => readPlan("{}", "a.parquet")).toThrow(expect.objectContaining({ code: "bad-statistics" }));
  });
});
