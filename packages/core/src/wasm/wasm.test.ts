import { afterEach, describe, expect, it, vi } from "vitest";
import { KERNEL_BYTES, SOURCE_HASH } from "./bytes.ts";
import { chooseKernels, createKernelInstance, decodeBase64 } from "./instance.ts";

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
