/**
 * Kernels with the memory a layout declares (layouts.ts): views on every buffer, and every kernel bound to its context.
 *
 *   const { buffers, sizes, run } = openKernels(PASS, { numBasis: 5, ... });
 *   buffers.cross.set(...); run.packBlock(64);
 */
import { DtmError } from "../errors.ts";
import { createKernelContext } from "./instance.ts";
import { type BufferLength, LAYOUTS, type Layout } from "./layouts.ts";

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

/** An instance whose memory holds the buffers of a layout for given sizes, as the module itself lays them out. */
export function openKernels<
  Size extends string,
  Buffers extends { readonly [name: string]: BufferLength<Size> },
  Kernel extends string,
>(
  layout: Layout<Size, Buffers> & { readonly kernels: readonly Kernel[] },
  sizes: Readonly<Record<Size, number>>,
): OpenKernels<Size, Buffers, Kernel> {
  const kind = LAYOUTS.findIndex(({ name }) => name === layout.name);
  const { exports, memory, address } = createKernelContext(
    kind,
    layout.sizes.map((name) => sizes[name]),
  );
  const buffers = Object.entries(layout.buffers);
  const [numSizes, numBuffers] = [layout.sizes.length, buffers.length];
  const context = new Int32Array(memory, address, numSizes + 2 * numBuffers);
  const views = buffers.map(([name, declared], k) => {
    const [at, length] = [context[numSizes + k], context[numSizes + numBuffers + k]];
    return [name, "f64" in declared ? new Float64Array(memory, at, length) : new Int32Array(memory, at, length)];
  });
  const run = layout.kernels.map((name) => {
    const kernel = (exports as Record<string, ((...numbers: number[]) => number) | undefined>)[name];
    if (kernel === undefined) {
      throw new DtmError(
        "kernels",
        `openKernels: expected a kernel named ${name} for ${layout.name}, received a module without it. Run scripts/build-wasm.mjs.`,
      );
    }
    return [name, (...rest: number[]) => kernel(address, ...rest)] as const;
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
