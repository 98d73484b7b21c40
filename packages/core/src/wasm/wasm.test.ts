import { afterEach, describe, expect, it, vi } from "vitest";
import { KERNEL_BYTES, SOURCE_HASH } from "./bytes.ts";
import { chooseKernels, createKernelContext, decodeBase64 } from "./instance.ts";
import { LAYOUTS, POSITIVE } from "./layouts.ts";

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
      expect(() => fresh.createKernelContext(0, [])).toThrow(/WebAssembly with SIMD/);
    });
  }
});

describe("createKernelContext", () => {
  const kind = LAYOUTS.indexOf(POSITIVE);

  it("lays out buffers one after the other, each on a boundary of 64 bytes, zero, with the lengths declared", () => {
    const sizes = { order: 5, stride: 6 };
    const { memory, address } = createKernelContext(kind, [sizes.order, sizes.stride]);
    const lengths = Object.values(POSITIVE.buffers).map(({ f64 }) => f64(sizes));
    const context = new Int32Array(memory, address, 2 + 2 * lengths.length);
    expect([...context.subarray(0, 2)]).toEqual([5, 6]);
    expect([...context.subarray(2 + lengths.length)]).toEqual(lengths);
    let end = context.byteOffset + context.byteLength;
    lengths.forEach((length, k) => {
      const at = context[2 + k];
      expect(at % 64).toBe(0);
      expect(at).toBeGreaterThanOrEqual(end);
      expect(new Float64Array(memory, at, length).every((v) => v === 0)).toBe(true);
      end = at + 8 * length;
    });
    expect(end).toBeLessThanOrEqual(memory.byteLength);
  });

  it("knows every kind, with the lengths of layouts.ts, and no other", () => {
    LAYOUTS.forEach(({ sizes, buffers }, k) => {
      const values = sizes.map((_, at) => 3 + ((at * 5) % 4));
      const named = Object.fromEntries(sizes.map((name, at) => [name, values[at]])) as never;
      const declared = Object.values(buffers).map((b) => ("f64" in b ? b.f64(named) : b.i32(named)));
      const { memory, address } = createKernelContext(k, values);
      const context = new Int32Array(memory, address, sizes.length + 2 * declared.length);
      expect([...context.subarray(sizes.length + declared.length)]).toEqual(declared);
    });
    const { exports } = createKernelContext(kind, [1, 2]);
    expect((exports as { layout(kind: number, sizes: number, base: number): number }).layout(99, 64, 0)).toBe(0);
  });

  it("can be made hundreds of times", () => {
    for (let k = 0; k < 600; k++) expect(createKernelContext(kind, [300, 300]).memory.byteLength).toBeGreaterThan(1e6);
  });
});

describe("the custom section of the module", () => {
  it("names what layouts.ts declares", () => {
    const module = new WebAssembly.Module(decodeBase64(KERNEL_BYTES) as Uint8Array<ArrayBuffer>);
    const [section] = WebAssembly.Module.customSections(module, "layouts");
    const exported = WebAssembly.Module.exports(module).map(({ name }) => name);
    const { contract, layouts } = JSON.parse(new TextDecoder().decode(section));
    expect(contract).toBe(2);
    expect(layouts).toEqual(
      LAYOUTS.map(({ name, sizes, buffers, kernels }) => ({
        ...{ name, sizes, kernels },
        buffers: Object.entries(buffers).map(([buffer, declared]) => [buffer, Object.keys(declared)[0]]),
      })),
    );
    expect(exported).toEqual(expect.arrayContaining(["layout", ...LAYOUTS.flatMap(({ kernels }) => kernels)]));
  });
});
