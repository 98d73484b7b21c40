/** One two-sample density test of places, 361 with an outcome and 1,962 without: against R's ks. */
import { writeFileSync } from "node:fs";
import { kdeTest } from "../../packages/core/src/associate/kde-test.ts";
import { createRandom } from "../../packages/core/src/numeric/random.ts";
import { against, type BenchCase } from "../case.ts";
import { leastCpu } from "../measure.ts";
import { runR, scratchFile } from "../peers.ts";

const WITH = 361;
const WITHOUT = 1962;

export const kde: BenchCase = {
  name: "kde",
  about: "two-sample kernel density test, n = 2,323",
  run: async () => {
    const random = createRandom(3);
    // Those with the outcome stand a little aside.
    const a = Float64Array.from({ length: 2 * WITH }, (_, e) => random.normal() + (e % 2 === 0 ? 0.3 : 0));
    const b = Float64Array.from({ length: 2 * WITHOUT }, () => random.normal());
    const path = scratchFile("places.csv");
    const line = (x: Float64Array, i: number, label: number) => `${x[2 * i]},${x[2 * i + 1]},${label}`;
    const lines = ["x1,x2,label"];
    for (let i = 0; i < WITH; i++) lines.push(line(a, i, 1));
    for (let i = 0; i < WITHOUT; i++) lines.push(line(b, i, 0));
    writeFileSync(path, `${lines.join("\n")}\n`);
    const ours = await leastCpu(() => kdeTest(a, b, 2), 5);
    const ks = runR("ks.R", [path]);
    const note = ks && `z ${ours.value.z.toFixed(4)}, of ks ${ks.z.toFixed(4)} (its gradient is taken on a grid)`;
    return [
      against("kernel density test, 361 against 1,962 places", "s cpu", ours.cpu, "ks", ks?.cpu, { goal: 1, note }),
    ];
  },
};
