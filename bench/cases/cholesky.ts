/** Solution and inverse of 125 positive definite equations, the global step of both maps: against OpenBLAS. */
import { inducingSolver } from "../../packages/core/src/models/gp/solve.ts";
import { against, type BenchCase, requireClose } from "../case.ts";
import { chunkOf, interleave, type Variant } from "../measure.ts";
import { compileC, startChild } from "../peers.ts";

const N = 125; // p = 25 inducing points, d = 5 coefficients

export const choleskyInverse: BenchCase = {
  name: "cholesky",
  about: "Cholesky factor and inverse, 125 x 125",
  guard: true,
  run: async ({ quick }) => {
    const A = testMatrix(N);
    const b = new Float64Array(N).fill(1);
    const solution = new Float64Array(N);
    const inverse = new Float64Array(N * N);
    const solve = inducingSolver(N, "wasm-simd");
    const variants: Variant[] = [{ name: "wasm", chunk: chunkOf(() => solve(A, b, solution, inverse)) }];
    solve(A, b, solution, inverse);
    const trace = inverse.reduce((sum, v, e) => sum + (Math.floor(e / N) === e % N ? v : 0), 0);
    const child = startChild(compileC("cholesky", ["-lopenblas"]));
    if (child !== undefined) {
      requireClose("trace of the inverse by OpenBLAS", (await child.ask(`run ${N} 1`))[2], trace, 1e-10);
      variants.push({
        name: "openblas",
        chunk: async () => {
          const [factor, invert] = await child.ask(`run ${N} 4`);
          return factor + invert;
        },
      });
    }
    const time = await interleave(variants, quick ? 40 : 150);
    child?.close();
    const blas = child === undefined ? undefined : time("openblas") / 1e3;
    const ours = time("wasm") / 1e3;
    return [
      against("Cholesky + inverse 125 x 125, WebAssembly", "us", ours, "OpenBLAS", blas, { goal: 2, guard: true }),
    ];
  },
};

/** exp(−(i−j)²/18) plus ½ on the diagonal; the C program makes the same. */
function testMatrix(n: number): Float64Array {
  const A = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) A[i * n + j] = Math.exp(-((i - j) ** 2) / 18) + (i === j ? 0.5 : 0);
  return A;
}
