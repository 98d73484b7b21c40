/**
 * Kernels with the memory a layout declares (layouts.ts): views on every buffer, and every kernel bound to its context.
 *
 *   const { buffers, sizes, run } = openKernels(PASS, { numBasis: 5, ... });
 *   buffers.cross.set(...); run.packBlock(64);
 */
import { DtmError } from "../errors.ts";
import { createKernelInstance } from "./instance.ts";
import type { BufferLength, Layout } from "./layouts.ts";

type Views<Buffers> = {
  readonly [name in keyof Buffers]: Buffers[name] extends { readonly f64: unknown } ? Float64Array : Int32Array;
};

/** A family of kernels with memory of its own. */
export interface OpenKernels<Size extends string, Buffers, Kernel extends string> {
  /** Zeros at first. */
  readonly buffers: Views<Buffers>;
  /** What kernels read as sizes; smaller ones may be written later, lengths stay. */
  readonly sizes: Record<Size, number>;
  /** The kernels of the layout; the context is handed over. */
  readonly run: Readonly<Record<Kernel, (...rest: number[]) => number>>;
}

/** An instance whose memory holds the buffers of a layout for given sizes. */
export function openKernels<
  Size extends string,
  Buffers extends { readonly [name: string]: BufferLength<Size> },
  Kernel extends string,
>(
  layout: Layout<Size, Buffers> & { readonly kernels: readonly Kernel[] },
  sizes: Readonly<Record<Size, number>>,
): OpenKernels<Size, Buffers, Kernel> {
  const entries = Object.entries(layout.buffers).map(([name, length]) =>
    "f64" in length
      ? { name, integers: false, length: length.f64(sizes) }
      : { name, integers: true, length: length.i32(sizes) },
  );
  const numFields = layout.sizes.length + entries.length;
  const total = entries.reduce((s, { length }) => s + length, numFields);
  const { exports, doubles, integers } = createKernelInstance(total, entries.length + 1);
  const context = integers(numFields);
  const views = entries.map((e) => [e.name, e.integers ? integers(e.length) : doubles(e.length)] as const);
  context.set([...layout.sizes.map((name) => sizes[name]), ...views.map(([, view]) => view.byteOffset)]);
  const run = layout.kernels.map((name) => {
    const kernel = (exports as Record<string, ((...numbers: number[]) => number) | undefined>)[name];
    if (kernel === undefined) {
      throw new DtmError(
        "kernels",
        `openKernels: expected a kernel named ${name} for ${layout.name}, received a module without it. Run scripts/build-wasm.mjs.`,
      );
    }
    return [name, (...rest: number[]) => kernel(context.byteOffset, ...rest)] as const;
  });
  return {
    buffers: Object.fromEntries(views) as unknown as Views<Buffers>,
    sizes: sizesOf(layout.sizes, context),
    run: Object.fromEntries(run) as Record<Kernel, (...rest: number[]) => number>,
  };
}

/** The head of a context as a record that writes through. */
function sizesOf<Size extends string>(names: readonly Size[], context: Int32Array): Record<Size, number> {
  const sizes = {} as Record<Size, number>;
  names.forEach((name, at) => {
    Object.defineProperty(sizes, name, {
      enumerable: true,
      get: () => context[at],
      set: (value: number) => {
        context[at] = value;
      },
    });
  });
  return sizes;
}
