/** Plays the conformance set of the kernels (docs/kernels.md) against a module: the same calls, and the same bytes after each. */

/**
 * One call: what the host writes before it, and what the kernel has changed after it; bytes as base64, without the zeros at their ends, or
 * "crc32:" and the checksum of these bytes in eight hexadecimal digits where they are many.
 */
export interface KernelCall {
  readonly kernel: string;
  readonly arguments: readonly number[];
  /** The context's sizes, where they differ from before. */
  readonly sizes?: readonly number[];
  readonly write: { readonly [buffer: string]: string };
  readonly read: { readonly [buffer: string]: string };
  /** What it returned; null for nothing. */
  readonly returns: number | null;
}

/** Calls on one context, one after the other. */
export interface KernelCase {
  readonly name: string;
  readonly sizes: readonly number[];
  readonly calls: readonly KernelCall[];
}

/** Cases of one layout. */
export interface ConformanceFile {
  readonly contract: number;
  readonly layout: string;
  readonly cases: readonly KernelCase[];
}

/** What differed, by case; empty where all bytes are the same. */
export interface PlayedCase {
  readonly name: string;
  readonly faults: readonly string[];
}

/**
 * Plays a file against the module's bytes (base64). Needs nothing beside WebAssembly, atob and btoa, and nothing of this file, so that it
 * can be handed to a page as text.
 */
export function playConformance(module64: string, { layout: name, cases }: ConformanceFile): PlayedCase[] {
  const bytesOf = (text: string) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const withoutZeros = (bytes: Uint8Array) => {
    let end = bytes.length;
    while (end > 0 && bytes[end - 1] === 0) end--;
    return bytes.subarray(0, end);
  };
  const textOf = (bytes: Uint8Array) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  const crc32 = (bytes: Uint8Array) => {
    let crc = -1;
    for (const byte of bytes) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return `crc32:${((crc ^ -1) >>> 0).toString(16).padStart(8, "0")}`;
  };
  const module = new WebAssembly.Module(bytesOf(module64));
  const [section] = WebAssembly.Module.customSections(module, "layouts");
  const { layouts } = JSON.parse(new TextDecoder().decode(section)) as {
    readonly layouts: readonly { name: string; sizes: string[]; buffers: [string, "f64" | "i32"][] }[];
  };
  const kind = layouts.findIndex((known) => known.name === name);
  const { sizes: sizeNames, buffers } = layouts[kind];
  return cases.map(({ name, sizes, calls }) => {
    const memory = new WebAssembly.Memory({ initial: 1 });
    const { exports } = new WebAssembly.Instance(module, { env: { memory } });
    const functions = exports as Record<string, (...numbers: number[]) => number | undefined>;
    const head = (words: readonly number[]) => new Int32Array(memory.buffer, 64, words.length).set(words);
    head(sizes);
    const needed = functions.layout(kind, 64, 0) as number;
    memory.grow(Math.ceil(needed / 65536));
    head(sizes);
    functions.layout(kind, 64, 64);
    const context = new Int32Array(memory.buffer, 64, sizeNames.length + 2 * buffers.length);
    const view = (buffer: string): Uint8Array => {
      const k = buffers.findIndex(([known]) => known === buffer);
      const at = sizeNames.length + k;
      return new Uint8Array(
        memory.buffer,
        context[at],
        context[at + buffers.length] * (buffers[k][1] === "f64" ? 8 : 4),
      );
    };
    const faults: string[] = [];
    for (const call of calls) {
      if (call.sizes !== undefined) head(call.sizes);
      for (const [buffer, text] of Object.entries(call.write)) {
        const to = view(buffer);
        to.fill(0);
        to.set(bytesOf(text));
      }
      const returned = functions[call.kernel](64, ...call.arguments) ?? null;
      if (returned !== call.returns) faults.push(`${call.kernel}: expected ${call.returns}, received ${returned}`);
      for (const [buffer, text] of Object.entries(call.read)) {
        const found = withoutZeros(view(buffer));
        if ((text.startsWith("crc32:") ? crc32(found) : textOf(found)) !== text)
          faults.push(`${call.kernel}: other bytes in ${buffer}`);
      }
    }
    return { name, faults };
  });
}
