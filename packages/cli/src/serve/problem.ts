/** The one form of everything that is refused: `{ error: { code, message, expected?, received?, where?, remedy? } }`. */
import { DtmError } from "@trajectory-maps/core";
import { ERROR_CODES, showWhere } from "@trajectory-maps/core/ingest";
import { UsageError } from "../exit-codes.ts";

export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly expected?: string;
  readonly received?: string;
  readonly where?: string;
  readonly remedy?: string;
}

/** A request that is refused, with the status of its answer. */
export class RequestError extends Error {
  readonly status: number;
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, problem: Problem, headers: Readonly<Record<string, string>> = {}) {
    super(problem.message);
    this.status = status;
    this.problem = problem;
    this.headers = headers;
  }
}

/** What a complaint would say in one sentence. */
export function refused(
  status: number,
  code: string,
  { expected, received, where, remedy }: Required<Omit<Problem, "code" | "message">>,
): RequestError {
  const message = `${where}: expected ${expected}, received ${received}. ${remedy}`;
  return new RequestError(status, { code, message, expected, received, where, remedy });
}

/** Any error as an answer. What is wrong with the program itself is not told to whoever asks. */
export function answerTo(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof UsageError) return new RequestError(422, { code: "option", message: error.message });
  if (error instanceof DtmError && error.kind !== "program") {
    const [complaint] = error.complaints;
    const { code, message } = error;
    // Names of the library's functions mean nothing to whoever asks a server.
    const words = message.replace(/^[a-z]\w+: /, "");
    const remedy = complaint?.remedy ?? ERROR_CODES[code].remedy;
    const more = complaint && {
      expected: complaint.expected,
      received: complaint.received,
      ...(showWhere(complaint.where) !== "" && { where: showWhere(complaint.where) }),
    };
    return new RequestError(422, { code, message: words, ...more, remedy });
  }
  return new RequestError(500, {
    code: "internal",
    message: "Something went wrong that should not have. Nothing was kept.",
  });
}
