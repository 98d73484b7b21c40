/** Refusals of fields of a model file, each with the field and what to do. */
import { DtmError } from "../../errors.ts";

/** What helps against every file that cannot be right. */
export const MODEL_REMEDY = "Use the original file, or fit again.";

export function expectLength({ length }: { readonly length: number }, expected: number, field: string): void {
  if (length === expected) return;
  const received = `received ${length}. ${MODEL_REMEDY}`;
  throw new DtmError("bad-model", `loadModel: expected ${expected} numbers in ${field}, ${received}`);
}

export function expectTrue(ok: boolean, field: string, expected: string): void {
  if (ok) return;
  throw new DtmError(
    "bad-model",
    `loadModel: expected ${expected} in ${field}, received something else. ${MODEL_REMEDY}`,
  );
}
