/** What went wrong, as it is shown: in words of the product; what only its makers can read is in the details that are copied. */
import { type Complaint, DtmError } from "@trajectory-maps/core";
import type { ErrorCode } from "@trajectory-maps/core/ingest";

/** What went wrong, to be shown with its remedy. */
export interface Problem {
  readonly code: ErrorCode;
  readonly message: string;
  readonly complaints: readonly Complaint[];
  /** What complaints about a table were in the way of, and what stays; absent where there are none. */
  readonly title?: string;
  /** What the program said of a failure that nobody foresaw, for those who mend it. */
  readonly internal?: string;
}

const UNFORESEEN =
  "The program failed in a way nobody foresaw. The data and the map are still here; please copy the details and report them.";

/** An error as it is shown. */
export function problemOf(error: unknown, title?: string): Problem {
  if (error instanceof DtmError && error.code !== "internal") {
    const { code, message, complaints } = error;
    return { code, message, complaints, ...(title === undefined || complaints.length === 0 ? {} : { title }) };
  }
  const internal = error instanceof Error ? error.message : String(error);
  return { code: "internal", message: UNFORESEEN, complaints: [], internal };
}

/** Whether work ended because nobody wants it any more: its data are forgotten, or the same was asked for anew. */
export function isGivenUp(error: unknown): boolean {
  return error instanceof DtmError && (error.code === "forgotten" || error.code === "cancelled");
}
