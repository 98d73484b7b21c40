/** Ten million visits of a million individuals from Parquet into a cohort, in a process of its own: time and memory. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { fileWriter, ParquetWriter } from "hyparquet-writer";
import { createRandom } from "../../packages/core/src/numeric/random.ts";
import { alone, type BenchCase, requireClose } from "../case.ts";
import { ROOT, scratchFile } from "../peers.ts";

const VISITS = 10;
/** Rows of a group. */
const GROUP = 100_000;
/** Heap that a machine with 512 MB leaves, in MB. */
const SMALL_HEAP = 160;

export const parquet: BenchCase = {
  name: "parquet",
  about: "ten million rows of Parquet read, checked and sorted into a cohort",
  run: async ({ quick }) => {
    const individuals = quick ? 20_000 : 1_000_000;
    const path = await writeFile(individuals);
    const read = (flags: readonly string[]) => {
      const { stdout } = spawnSync(process.execPath, [...flags, join(ROOT, "bench", "parquet-read.mjs"), path]);
      return JSON.parse(String(stdout)) as Record<"individuals" | "rows" | "cpu" | "megabytes", number>;
    };
    const usual = read([]);
    requireClose("individuals read", usual.individuals, individuals, 0);
    const small = read([`--max-old-space-size=${SMALL_HEAP}`]);
    const rows = `${usual.rows} rows`;
    return [
      alone(`Parquet ingest, ${rows}, CPU time`, "s cpu", usual.cpu),
      alone(`Parquet ingest, ${rows}, most memory held`, "MB", usual.megabytes),
      alone(`the same with a heap of ${SMALL_HEAP} MB`, "MB", small.megabytes, { goal: 512 }),
    ];
  },
};

async function writeFile(individuals: number): Promise<string> {
  const path = scratchFile("visits.parquet");
  const random = createRandom(1);
  const writer = new ParquetWriter({
    writer: fileWriter(path),
    schema: [
      { name: "root", num_children: 3 },
      { name: "id", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "REQUIRED" },
      { name: "time", type: "DOUBLE", repetition_type: "REQUIRED" },
      { name: "value", type: "DOUBLE", repetition_type: "REQUIRED" },
    ],
  });
  for (let from = 0; from < individuals * VISITS; from += GROUP) {
    const places = Array.from({ length: Math.min(GROUP, individuals * VISITS - from) }, (_, k) => from + k);
    const columnData = [
      { name: "id", data: places.map((k) => `p${Math.floor(k / VISITS)}`) },
      { name: "time", data: Float64Array.from(places, (k) => (k % VISITS) + random.uniform()) },
      { name: "value", data: Float64Array.from(places, () => 100 * random.uniform()) },
    ];
    await writer.write({ columnData, rowGroupSize: GROUP });
  }
  await writer.finish();
  return path;
}
