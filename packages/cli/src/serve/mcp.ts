/**
 * The door for assistants: the Model Context Protocol on standard input and output, one JSON-RPC 2.0 message a line, by hand
 * (decision 0018). Read-only: its tools list models, place somebody and say it in words; they open no file and keep nothing.
 * Protocol versions: those in VERSIONS; a client that asks for another is answered with the newest of them.
 */
import { z } from "@hono/zod-openapi";
import { faultOfKeys } from "@trajectory-maps/core/ingest";
import { ownVersion } from "../io/version.ts";
import { checked, modelNamed } from "./app.ts";
import { explain } from "./explain.ts";
import type { ServedModel } from "./models.ts";
import { placeSomebody } from "./place.ts";
import { answerTo, refused } from "./problem.ts";
import { modelsResponse, placeRequest, placeResponse } from "./schemas.ts";

/** Newest first. */
export const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
/** Characters of the longest line that is read. */
const LONGEST_LINE = 1 << 20;
/** Codes of JSON-RPC. */
const CODES = { parse: -32700, request: -32600, method: -32601, params: -32602, internal: -32603 } as const;

type Models = ReadonlyMap<string, ServedModel>;

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType;
  readonly output?: z.ZodType;
  /** A text, or plain data that is told as both. */
  readonly call: (models: Models, given: unknown) => string | object;
}

const placing = z.strictObject({
  model: z.string().max(64).optional().describe("name of the model; may be left out where one is served"),
  ...placeRequest.shape,
});

const TOOLS: readonly Tool[] = [
  {
    name: "list_models",
    description: "The maps that are served: markers with units and times, covariates, groups.",
    input: z.strictObject({}),
    output: modelsResponse,
    call: (models) => ({ models: Array.from(models.values(), ({ info }) => info) }),
  },
  {
    name: "place",
    description:
      "Place one individual on a map from visits (time, value, marker) and forecast it: place, region, group probabilities, forecasts at the times `at` with bands, time to a threshold, suspect values, as numbers.",
    input: placing,
    output: placeResponse,
    call: (models, given) => placed(models, given).found,
  },
  {
    name: "explain",
    description: "The same as `place`, said in a few plain sentences with their uncertainty and warnings.",
    input: placing,
    call: (models, given) => {
      const { served, request, found } = placed(models, given);
      return explain(served, request, found);
    },
  },
];

function placed(models: Models, given: unknown) {
  const { model, ...request } = given as z.infer<typeof placing>;
  const [first] = models.keys();
  if (model === undefined && models.size > 1) {
    const expected = `a model among ${[...models.keys()].join(", ")}`;
    throw refused(422, "no-such-model", { where: "model", expected, received: "none", remedy: "Name one." });
  }
  const served = modelNamed(models, model ?? first ?? "");
  return { served, request, found: placeSomebody(served, request) };
}

type Id = string | number;

/** The answer to one line; undefined where none is due. */
export function answerLine(models: Models, line: string): string | undefined {
  try {
    return answerMessage(models, messageOf(line));
  } catch (error) {
    if (error instanceof SyntaxError) return failed(null, CODES.parse, error.message);
    return failed(null, CODES.internal, WRONG);
  }
}

const WRONG = "Something went wrong that should not have.";

interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** @throws SyntaxError in words that the client may see. */
function messageOf(line: string): Message | null {
  let message: Message | null;
  try {
    message = JSON.parse(line);
  } catch {
    throw new SyntaxError("Expected one JSON document a line.");
  }
  const fault = faultOfKeys(line, message);
  if (fault === undefined) return message;
  const received = fault.key === undefined ? fault.received : "another";
  throw new SyntaxError(`Expected ${fault.expected}, received ${received}.`);
}

function answerMessage(models: Models, message: Message | null): string | undefined {
  const { jsonrpc, id, method, params } = message ?? {};
  const isId = typeof id === "string" || typeof id === "number";
  if (jsonrpc !== "2.0" || typeof method !== "string" || (id !== undefined && !isId)) {
    // An answer: nothing was asked of the client.
    if (jsonrpc === "2.0" && method === undefined && isId) return undefined;
    return failed(null, CODES.request, "Expected a request of JSON-RPC 2.0.");
  }
  // Notifications are not answered.
  if (!isId) return undefined;
  const given = (typeof params === "object" && params !== null ? params : {}) as Record<string, unknown>;
  try {
    switch (method) {
      case "initialize":
        return done(id, initialize(given.protocolVersion));
      case "ping":
        return done(id, {});
      case "tools/list":
        return done(id, { tools: TOOLS.map(describe) });
      case "tools/call":
        return callTool(models, id, given);
      default:
        return failed(id, CODES.method, "There is no such method here.");
    }
  } catch {
    return failed(id, CODES.internal, WRONG);
  }
}

function initialize(asked: unknown) {
  return {
    protocolVersion: VERSIONS.find((version) => version === asked) ?? VERSIONS[0],
    capabilities: { tools: {} },
    serverInfo: { name: "dtm", title: "Disease trajectory maps", version: ownVersion() },
    instructions:
      "Places individuals with irregular series of markers on maps of disease courses and forecasts them. Not a medical device. Ask list_models first: units and times must be those of the model. Send no names or ids.",
  };
}

function describe({ name, description, input, output }: Tool) {
  return {
    name,
    description,
    inputSchema: z.toJSONSchema(input),
    ...(output && { outputSchema: z.toJSONSchema(output) }),
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}

function callTool(models: Models, id: Id, given: Record<string, unknown>): string {
  const tool = TOOLS.find(({ name }) => name === given.name);
  if (tool === undefined)
    return failed(id, CODES.params, `Expected a tool among ${TOOLS.map(({ name }) => name).join(", ")}.`);
  try {
    const found = tool.call(models, checked(tool.input, given.arguments ?? {}, "arguments"));
    if (typeof found === "string") return done(id, { content: [{ type: "text", text: found }] });
    return done(id, { content: [{ type: "text", text: JSON.stringify(found) }], structuredContent: found });
  } catch (error) {
    // What the assistant can mend is told as a result, not as a failure of the protocol.
    const { problem } = answerTo(error);
    return done(id, { content: [{ type: "text", text: `${problem.message} [${problem.code}]` }], isError: true });
  }
}

function done(id: Id, result: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}

function failed(id: Id | null, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });
}

/** Answers line after line until the input ends. */
export async function serveMcp(models: Models, input: AsyncIterable<Buffer | string>, write: (line: string) => void) {
  const decoder = new TextDecoder();
  let rest = "";
  let isTooLong = false;
  for await (const piece of input) {
    rest += typeof piece === "string" ? piece : decoder.decode(piece, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const answer =
        isTooLong || line.length > LONGEST_LINE ? tooLong() : line.trim() === "" ? undefined : answerLine(models, line);
      isTooLong = false;
      if (answer !== undefined) write(`${answer}\n`);
    }
    if (rest.length > LONGEST_LINE) {
      isTooLong = true;
      rest = "";
    }
  }
}

function tooLong(): string {
  return failed(null, CODES.request, `Expected lines of at most ${LONGEST_LINE} characters.`);
}
