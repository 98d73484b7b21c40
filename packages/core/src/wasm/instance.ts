/**
 * WebAssembly kernels at run time: whether they are to be had, and instances of them. An instance has a memory of its own
 * and a fixed size; buffers are taken from it once, as views, and live as long as it does. The compiled module is the
 * only thing shared. Runs wherever JavaScript runs: no engine-specific name is needed to compile (the bytes are part of
 * the library), and where WebAssembly, its SIMD or the permission to use it is missing, the TypeScript kernels serve.
 */
import { DtmError } from "../errors.ts";
import { KERNEL_BYTES } from "./bytes.ts";

/** Which kernels to use: the fast ones where they run ("auto"), or one kind whatever happens. */
export type KernelChoice = "auto" | "wasm" | "typescript";

/** Which kernels a fit used. */
export type KernelKind = "wasm-simd" | "typescript";

/** A context with its buffers, laid out by the module in a memory of its own. */
export interface KernelContext {
  /** Functions of the module, named in layouts.ts. */
  readonly exports: object;
  readonly memory: ArrayBuffer;
  /** Byte address of the context: sizes, addresses of buffers, lengths of buffers. */
  readonly address: number;
}

/** The part of the WebAssembly interface that is used here; the core is compiled without the types of any platform. */
interface WebAssemblyInterface {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Memory: new (descriptor: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer };
  readonly Instance: new (module: object, imports: object) => { readonly exports: object };
}

/** `layout` of the module (docs/kernels.md). */
type LayOut = (kind: number, sizes: number, base: number) => number;

const PAGE = 65536;
/** Where a context begins, and where its sizes stand before there is one. */
const START = 64;

/** The compiled module, or null where it cannot be compiled; undefined until asked for. A cache, nothing more. */
let compiled: object | null | undefined;
/** What tells how much memory a context needs. A cache as well. */
let measure: ((kind: number, sizes: readonly number[]) => number) | undefined;

/** The kernels to use; throws "kernels" where "wasm" is asked for and cannot be had. */
export function chooseKernels(choice: KernelChoice = "auto"): KernelKind {
  if (choice !== "auto" && choice !== "wasm" && choice !== "typescript") {
    throw new DtmError(
      "option",
      `kernels: expected "auto", "wasm" or "typescript", received ${String(choice)}. Leave it out for the fastest that runs here.`,
    );
  }
  if (choice === "typescript") return "typescript";
  if (kernelModule() !== null) return "wasm-simd";
  if (choice === "auto") return "typescript";
  throw new DtmError(
    "kernels",
    'kernels: expected WebAssembly with SIMD for kernels "wasm", received a platform without it (or one that forbids it: a page needs \'wasm-unsafe-eval\' in its content security policy). Use "auto".',
  );
}

/** A new context of a kind (the position in LAYOUTS) for given sizes, in order; zeros but for its head. */
export function createKernelContext(kind: number, sizes: readonly number[]): KernelContext {
  const module = kernelModule();
  const api = webAssembly();
  if (module === null || api === null) {
    throw new DtmError(
      "kernels",
      "createKernelContext: expected WebAssembly with SIMD, received a platform without it.",
    );
  }
  const open = (pages: number) => {
    const memory = new api.Memory({ initial: pages, maximum: pages });
    const { exports } = new api.Instance(module, { env: { memory } });
    const layOut = (kind: number, sizes: readonly number[], base: number): number => {
      new Int32Array(memory.buffer, START, sizes.length).set(sizes);
      return (exports as { readonly layout: LayOut }).layout(kind, START, base);
    };
    return { memory: memory.buffer, exports, layOut };
  };
  if (measure === undefined) {
    const { layOut } = open(1);
    measure = (kind, sizes) => layOut(kind, sizes, 0);
  }
  const { memory, exports, layOut } = open(Math.ceil((START + measure(kind, sizes)) / PAGE));
  // The sizes are where the context will have them.
  layOut(kind, sizes, START);
  return { exports, memory, address: START };
}

function webAssembly(): WebAssemblyInterface | null {
  return (globalThis as { WebAssembly?: WebAssemblyInterface }).WebAssembly ?? null;
}

function kernelModule(): object | null {
  if (compiled === undefined) {
    try {
      const api = webAssembly();
      compiled = api === null ? null : new api.Module(decodeBase64(KERNEL_BYTES));
    } catch {
      // No SIMD, or a content security policy that forbids compiling.
      compiled = null;
    }
  }
  return compiled;
}

/** Bytes of a base64 text. */
export function decodeBase64(text: string): Uint8Array {
  const { atob } = globalThis as unknown as { atob(text: string): string };
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}
