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

/** An instance with views on its memory. */
export interface KernelInstance {
  /** Functions of the module, named in layouts.ts. */
  readonly exports: object;
  /** The next `length` numbers of the memory, zero. */
  doubles(length: number): Float64Array;
  /** The next `length` whole numbers of the memory, zero. */
  integers(length: number): Int32Array;
}

/** The part of the WebAssembly interface that is used here; the core is compiled without the types of any platform. */
interface WebAssemblyInterface {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Memory: new (descriptor: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer };
  readonly Instance: new (module: object, imports: object) => { readonly exports: object };
}

const PAGE = 65536;
/** Views begin on these boundaries, so that rows of four numbers do not straddle cache lines more than they must. */
const ALIGNMENT = 64;

/** The compiled module, or null where it cannot be compiled; undefined until asked for. A cache, nothing more. */
let compiled: object | null | undefined;

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

/** An instance whose memory holds the given numbers of entries (whole numbers count as doubles) in `buffers` views. */
export function createKernelInstance(entries: number, buffers: number): KernelInstance {
  const module = kernelModule();
  const api = webAssembly();
  if (module === null || api === null) {
    throw new DtmError(
      "kernels",
      "createKernelInstance: expected WebAssembly with SIMD, received a platform without it.",
    );
  }
  const bytes = ALIGNMENT + entries * 8 + buffers * ALIGNMENT;
  const pages = Math.ceil(bytes / PAGE);
  const memory = new api.Memory({ initial: pages, maximum: pages });
  const instance = new api.Instance(module, { env: { memory } });
  let used = ALIGNMENT;
  const take = (size: number): number => {
    const from = used;
    used = Math.ceil((from + size) / ALIGNMENT) * ALIGNMENT;
    if (used > pages * PAGE) {
      throw new DtmError("shape", `createKernelInstance: expected at most ${pages * PAGE} bytes, received ${used}.`);
    }
    return from;
  };
  return {
    exports: instance.exports,
    doubles: (length) => new Float64Array(memory.buffer, take(length * 8), length),
    integers: (length) => new Int32Array(memory.buffer, take(length * 4), length),
  };
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
