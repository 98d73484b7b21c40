/** Many seeds one after the other; what fails is told by its seed, so that it can be done again: SEED=123 npx vitest run test/fuzz.test.ts */
import process from "node:process";

/** Seeds after which it is told how far it has come. */
const EACH = 5000;

/** How often each fate was met; throws at the end with every seed that failed, twenty of them in words. */
export async function checkMany<Fate extends string>(
  what: string,
  from: number,
  count: number,
  check: (seed: number) => Fate | Promise<Fate>,
): Promise<Record<string, number>> {
  const only = process.env.SEED;
  const [first, last] = only === undefined ? [from, from + count] : [Number(only), Number(only) + 1];
  const met: Record<string, number> = {};
  const failed: string[] = [];
  const tell = (until: number) =>
    process.stdout.write(`${what}: seeds ${first} to ${until}, ${JSON.stringify(met)}, failed ${failed.length}\n`);
  for (let seed = first; seed < last; seed++) {
    if (seed > first && (seed - first) % EACH === 0) tell(seed - 1);
    try {
      const fate = await check(seed);
      met[fate] = (met[fate] ?? 0) + 1;
    } catch (error) {
      const words = `seed ${seed}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
      process.stdout.write(`${what}: ${words}\n`);
      failed.push(words);
    }
  }
  tell(last - 1);
  if (failed.length > 0) {
    throw new Error(
      `${failed.length} of ${last - first} ${what} failed; again with SEED=…\n${failed.slice(0, 20).join("\n\n")}`,
    );
  }
  return met;
}
