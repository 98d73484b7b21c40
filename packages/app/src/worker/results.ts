/** Errors across the worker's door: a DtmError keeps its code and complaints, which an Error alone would lose. */
import { type Complaint, DtmError } from "@trajectory-maps/core";
import type { ErrorCode } from "@trajectory-maps/core/ingest";

export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly code: ErrorCode;
      readonly message: string;
      readonly complaints: readonly Complaint[];
    };

/** Runs the work and turns what it throws into data. */
export async function toResult<T>(work: () => T | Promise<T>): Promise<Result<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    if (error instanceof DtmError) {
      return { ok: false, code: error.code, message: error.message, complaints: error.complaints };
    }
    return {
      ok: false,
      code: "internal",
      message: error instanceof Error ? error.message : String(error),
      complaints: [],
    };
  }
}

/** The value, or the error thrown again on this side. */
export function fromResult<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new DtmError(result.code, result.message, result.complaints);
}
