/** Cholesky factor and inverse of a 125 × 125 matrix, the global step of the published map: against OpenBLAS. */
import { choleskyInPlace, invertFromCholesky } from "../../packages/core/src/numeric/cholesky.ts";
import { positiveDefiniteKernel } from "../../packages/core/src/wasm/positive-definite.ts";
import { against, type BenchCase, requireClose } from "../case.ts";
import { interleave, preparedChunk, type Variant } from "../measure.ts";
import { compileC, startChild } from "../peers.ts";

const N = 125; // p = 25 inducing places, d = 5 coefficients

export const choleskyInverse: BenchCase = {
  name: "cholesky",
  about: "Cholesky factor and inverse, 125 x 125",
  guard: true,
  run: async ({ quick }) => {
    const A = testMatrix(N);
    const kernel = positiveDefiniteKernel(1, N, 0);
    const { matrix, inverse, stride } = kernel;
    const L = new Float64Array(N * N);
    const out = new Float64Array(N * N);
    const scratch = new Float64Array(N * N);
    const load = () => {
      for (let i = 0; i < N; i++) matrix.set(A.subarray(i * N, (i + 1) * N), i * stride);
    };
    const wasm = () => {
      kernel.factor();
      kernel.invert();
    };
    const typescript = () => {
      choleskyInPlace(L, N);
      invertFromCholesky(L, N, out, scratch);
    };
    load();
    wasm();
    L.set(A);
    typescript();
    for (let i = 0; i < N; i++) {
      for (let j = 0; j < N; j++) requireClose("inverse", inverse[i * stride + j], out[i * N + j], 1e-10);
    }
    const variants: Variant[] = [
      { name: "wasm", chunk: preparedChunk(load, wasm) },
      { name: "typescript", chunk: preparedChunk(() => L.set(A), typescript) },
    ];
    const child = startChild(compileC("cholesky", ["-lopenblas"]));
    const trace = out.reduce((sum, v, e) => sum + (Math.floor(e / N) === e % N ? v : 0), 0);
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
    const plain = time("typescript") / 1e3;
    return [
      against("Cholesky + inverse 125 x 125, WebAssembly", "us", ours, "OpenBLAS", blas, { goal: 1.8, guard: true }),
      against("Cholesky + inverse 125 x 125, TypeScript", "us", plain, "OpenBLAS", blas),
      against("Cholesky + inverse, WebAssembly over TypeScript", "us", ours, "our TypeScript", plain, {
        goal: 1,
        guard: true,
      }),
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
