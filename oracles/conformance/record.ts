/**
 * Records what hosts do with the kernels: every call on a context with the bytes written before it and changed by it. The hosts are those
 * of the library; instances are made through a stand-in for WebAssembly.Instance while the work runs.
 */
import { crc32 } from "node:zlib";
import { LAYOUTS } from "../../packages/core/src/wasm/layouts.ts";
import type { KernelCall, KernelCase } from "./play.ts";

type KernelFunction = (...numbers: number[]) => number | undefined;

interface Context {
  readonly kind: number;
  readonly sizes: readonly number[];
  readonly calls: KernelCall[];
}

/** The contexts of a layout that the work opens, each a case with its first calls; contexts without calls are left out. */
export function recordCases(layout: string, name: string, work: () => void, mostCalls = 8): KernelCase[] {
  const contexts: Context[] = [];
  const original = WebAssembly.Instance;
  const open = (module: WebAssembly.Module, imports: { readonly env: { readonly memory: WebAssembly.Memory } }) => {
    const { memory } = imports.env;
    const { exports } = new original(module, imports as unknown as WebAssembly.Imports);
    const listened = Object.entries(exports).map(([kernel, value]) => [kernel, listen(kernel, value, memory)]);
    return { exports: Object.fromEntries(listened) };
  };
  // One context for each memory: its calls follow each other.
  const known = new Map<WebAssembly.Memory, Context & { readonly shadow: Shadow }>();
  const listen = (kernel: string, value: unknown, memory: WebAssembly.Memory): unknown => {
    if (typeof value !== "function") return value;
    const run = value as KernelFunction;
    if (kernel === "layout") {
      return (kind: number, at: number, base: number) => {
        const bytes = run(kind, at, base);
        if (base !== 0) {
          const sizes = Array.from(new Int32Array(memory.buffer, base, LAYOUTS[kind].sizes.length));
          const context = { kind, sizes, calls: [], shadow: shadowOf(kind, memory, base) };
          known.set(memory, context);
          contexts.push(context);
        }
        return bytes;
      };
    }
    return (address: number, ...rest: number[]) => {
      const context = known.get(memory);
      if (context === undefined || context.calls.length >= mostCalls) return run(address, ...rest);
      const before = context.shadow.changes();
      const sizes = context.shadow.changedSizes();
      const returns = run(address, ...rest) ?? null;
      const read = shortened(context.shadow.changes());
      context.calls.push({ kernel, arguments: rest, ...(sizes && { sizes }), write: before, read, returns });
      return returns ?? undefined;
    };
  };
  // The hosts call it with `new`, for which an arrow would not do.
  WebAssembly.Instance = function Instance(module: WebAssembly.Module, imports: never) {
    return open(module, imports);
  } as unknown as typeof WebAssembly.Instance;
  try {
    work();
  } finally {
    WebAssembly.Instance = original;
  }
  const found = contexts.filter(({ kind, calls }) => LAYOUTS[kind].name === layout && calls.length > 0);
  return found.map(({ sizes, calls }, k) => ({ name: found.length === 1 ? name : `${name}, ${k + 1}`, sizes, calls }));
}

/** More letters than these are told by a checksum. */
const MOST_LETTERS = 1200;

function shortened(read: Readonly<Record<string, string>>): Record<string, string> {
  const short = (text: string) =>
    text.length <= MOST_LETTERS ? text : `crc32:${crc32(Buffer.from(text, "base64")).toString(16).padStart(8, "0")}`;
  return Object.fromEntries(Object.entries(read).map(([buffer, text]) => [buffer, short(text)]));
}

interface Shadow {
  /** Buffers that differ from when this was last asked, as base64 without the zeros at their ends. */
  changes(): Record<string, string>;
  /** Sizes, where they differ from when this was last asked. */
  changedSizes(): number[] | undefined;
}

function shadowOf(kind: number, memory: WebAssembly.Memory, base: number): Shadow {
  const { sizes, buffers } = LAYOUTS[kind];
  const entries = Object.entries(buffers);
  const context = new Int32Array(memory.buffer, base, sizes.length + 2 * entries.length);
  let head = Array.from(context.subarray(0, sizes.length));
  const views = entries.map(([name, declared], k) => {
    const [at, length] = [context[sizes.length + k], context[sizes.length + entries.length + k]];
    return { name, view: new Uint8Array(memory.buffer, at, length * ("f64" in declared ? 8 : 4)) };
  });
  const seen = views.map(({ view }) => view.slice());
  return {
    changes: () => {
      const out: Record<string, string> = {};
      views.forEach(({ name, view }, k) => {
        if (Buffer.compare(view, seen[k]) === 0) return;
        seen[k] = view.slice();
        let end = view.length;
        while (end > 0 && view[end - 1] === 0) end--;
        out[name] = Buffer.from(view.subarray(0, end)).toString("base64");
      });
      return out;
    },
    changedSizes: () => {
      const now = Array.from(context.subarray(0, sizes.length));
      if (now.every((value, k) => value === head[k])) return undefined;
      head = now;
      return now;
    },
  };
}
