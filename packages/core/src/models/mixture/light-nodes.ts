/** Which nodes of a posterior are too light to matter, without sorting them: by the exponents of their weights. */

/** Numbers begin with their low bits on nearly every machine; where they do not, the high word comes first. */
const HIGH_WORD = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 1 : 0;
const NUM_EXPONENTS = 2048;
const BIAS = 1023;

/** The largest power of two such that the weights below it, of the first n, hold at most `mass` together; 0 if none does. */
export function lightLimit(weights: Float64Array, n: number, mass: number): number {
  const words = new Uint32Array(weights.buffer, weights.byteOffset, 2 * n);
  // Positive numbers by their exponents.
  const masses = new Float64Array(NUM_EXPONENTS);
  for (let g = 0, at = HIGH_WORD; g < n; g++, at += 2) masses[words[at] >>> 20] += weights[g];
  let below = 0;
  let exponent = 0;
  while (exponent < NUM_EXPONENTS - 1 && below + masses[exponent] <= mass) below += masses[exponent++];
  return exponent === 0 ? 0 : 2 ** (exponent - BIAS);
}
