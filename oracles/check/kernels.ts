/** The conformance set of the kernels: bytes, so nothing but equality will do. */
import { KERNEL_BYTES } from "../../packages/core/src/wasm/bytes.ts";
import { type ConformanceFile, playConformance } from "../conformance/play.ts";
import type { Check } from "./checker.ts";

/** Buffers and results of each case that are not as recorded, of which there must be none. */
export function checkKernels(file: ConformanceFile): Check[] {
  return playConformance(KERNEL_BYTES, file).map(({ name, faults }) => ({
    name: [name, ...faults].join("; "),
    error: faults.length,
    tolerance: 0,
  }));
}
