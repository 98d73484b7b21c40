import { afterEach, describe, expect, it, vi } from "vitest";
import { relativeError } from "../../../../test/expect-gradient.ts";
import { choleskyInPlace, invertFromCholesky, logDetFromCholesky, solveCholeskyInPlace } from "../numeric/cholesky.ts";
import { createRandom } from "../numeric/random.ts";
import { KERNEL_BYTES, SOURCE_HASH } from "./bytes.ts";
import { chooseKernels, createKernelInstance, decodeBase64 } from "./instance.ts";
import { positiveDefiniteKernel } from "./positive-definite.ts";

describe("the committed kernels", () => {
  it("are what the sources in packages/core/assembly compile to", async () => {
    const build = (await import("../../../../scripts/build-wasm.mjs" as string)) as {
      sourceHash(): string;
      compile(): Promise<Uint8Array>;
    };
    expect(SOURCE_HASH, "run: node scripts/build-wasm.mjs").toBe(build.sourceHash());
    expect(Buffer.from(await build.compile()).toString("base64")).toBe(KERNEL_BYTES);
  });

  it("import nothing but a memory, so that they can do nothing but compute", () => {
    const module = new WebAssembly.Module(decodeBase64(KERNEL_BYTES) as Uint8Array<ArrayBuffer>);
    expect(WebAssembly.Module.imports(module)).toEqual([{ module: "env", name: "memory", kind: "memory" }]);
  });
});

describe("decodeBase64", () => {
  it("gives back the bytes of texts with none, one and two padding characters", () => {
    for (const length of [0, 1, 2, 3, 61, 62, 63]) {
      const bytes = Uint8Array.from({ length }, (_, k) => (k * 37 + 200) & 255);
      expect(decodeBase64(Buffer.from(bytes).toString("base64"))).toEqual(bytes);
    }
  });
});

describe("chooseKernels", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });

  it("takes WebAssembly here, TypeScript when asked", () => {
    expect(chooseKernels()).toBe("wasm-simd");
    expect(chooseKernels("wasm")).toBe("wasm-simd");
    expect(chooseKernels("typescript")).toBe("typescript");
  });

  it("refuses other words", () => {
    expect(() => chooseKernels("gpu" as "auto")).toThrow(/expected "auto", "wasm" or "typescript", received gpu/);
  });

  const compile = () => {
    throw new Error("Refused to compile: 'wasm-unsafe-eval' is not allowed");
  };
  for (const [name, stub] of [
    ["there is no WebAssembly", undefined],
    ["a policy forbids compiling", { Module: compile }],
  ] as const) {
    it(`falls back to TypeScript where ${name}, unless "wasm" is a must`, async () => {
      vi.stubGlobal("WebAssembly", stub);
      vi.resetModules();
      const fresh = await import("./instance.ts");
      expect(fresh.chooseKernels("auto")).toBe("typescript");
      expect(() => fresh.chooseKernels("wasm")).toThrow(/WebAssembly with SIMD/);
      expect(() => fresh.createKernelInstance(1, 1)).toThrow(/WebAssembly with SIMD/);
    });
  }
});

describe("createKernelInstance", () => {
  it("hands out separate views that start as zero, and refuses more than it has", () => {
    const instance = createKernelInstance(10, 2);
    const a = instance.doubles(8);
    const b = instance.integers(4);
    a.fill(1);
    expect([...b]).toEqual([0, 0, 0, 0]);
    expect(() => instance.doubles(10_000)).toThrow(/at most/);
  });

  it("can be made hundreds of times", () => {
    for (let k = 0; k < 600; k++) expect(createKernelInstance(100_000, 1).doubles(100_000)[99_999]).toBe(0);
  });
});

/** A random positive definite matrix of N×N blocks of size p with |K − J| ≤ w, and a right-hand side. */
function randomProblem(numBlocks: number, p: number, w: number) {
  const random = createRandom(numBlocks + 10 * p + 100 * w);
  const n = numBlocks * p;
  const A = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      if (Math.floor(i / p) - Math.floor(j / p) > w) continue;
      A[i * n + j] = i === j ? 2 * n + random.uniform() : random.normal();
      A[j * n + i] = A[i * n + j];
    }
  }
  return { n, A, b: Float64Array.from({ length: n }, () => random.normal()) };
}

describe("positiveDefiniteKernel", () => {
  for (const [numBlocks, p, w] of [
    [1, 1, 0],
    [1, 2, 0],
    [1, 7, 0],
    [1, 30, 0],
    [5, 9, 2],
    [5, 4, 1],
    [4, 5, 3],
    [7, 3, 2],
    [3, 1, 1],
  ]) {
    it(`factors, solves and inverts ${numBlocks} blocks of size ${p}, band ${w}`, () => {
      const { n, A, b } = randomProblem(numBlocks, p, w);
      const L = A.slice();
      choleskyInPlace(L, n);
      const kernel = positiveDefiniteKernel(numBlocks, p, w);
      const { stride, matrix, inverse, vector } = kernel;
      // Twice, because the second call finds what the first one left.
      for (let turn = 0; turn < 2; turn++) {
        matrix.fill(turn === 0 ? 0 : 7, n * stride);
        for (let i = 0; i < n; i++) matrix.set(A.subarray(i * n, (i + 1) * n), i * stride);
        expect(kernel.factor()).toBe(true);
        expect(Math.abs(kernel.logDeterminant() - logDetFromCholesky(L, n))).toBeLessThan(1e-11 * n);
        vector.set(b);
        kernel.solve();
        const x = b.slice();
        solveCholeskyInPlace(L, n, x);
        expect(relativeError(vector.subarray(0, n), x)).toBeLessThan(1e-13);
        kernel.invert();
        const dense = Float64Array.from({ length: n * n }, (_, e) => inverse[Math.floor(e / n) * stride + (e % n)]);
        expect(relativeError(dense, invertFromCholesky(L, n))).toBeLessThan(1e-13);
      }
    });
  }

  it("says so when a matrix is not positive definite or not finite", () => {
    const kernel = positiveDefiniteKernel(1, 3, 0);
    kernel.matrix.set([1, 2, 0, 0, 2, 1, 0, 0, 0, 0, 1, 0]);
    expect(kernel.factor()).toBe(false);
    kernel.matrix.set([1, 0, 0, 0, 0, Number.NaN, 0, 0, 0, 0, 1, 0]);
    expect(kernel.factor()).toBe(false);
  });
});
