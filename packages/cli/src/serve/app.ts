/**
 * The application behind the door: a table of routes, each with its schemas, from which requests are checked and the OpenAPI
 * document is written; whatever is refused has one form (problem.ts).
 */
import type { IncomingMessage } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { faultOfKeys } from "@trajectory-maps/core/ingest";
import type { Context, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Served } from "../io/served-files.ts";
import { ownVersion } from "../io/version.ts";
import { FHIR_TYPES, queryValues, readResources } from "./fhir.ts";
import { mapOf } from "./map.ts";
import type { ServedModel } from "./models.ts";
import { placeSomebody } from "./place.ts";
import { answerTo, RequestError, refused } from "./problem.ts";
import type { Queue } from "./queue.ts";
import * as schemas from "./schemas.ts";
import { type Application, serveFiles } from "./server.ts";

export interface AppOptions {
  readonly models: ReadonlyMap<string, ServedModel>;
  readonly queue: Queue;
  /** Pages served beside the routes. */
  readonly files?: ReadonlyMap<string, Served>;
}

/** Bytes of the largest body. */
export const MOST_BYTES = 1 << 20;

/** What a handler is given. */
interface Asked {
  readonly name: string;
  readonly body: unknown;
  /** A body of FHIR and the query beside it, in place of a body. */
  readonly fhir?: { readonly bytes: Uint8Array; readonly query: unknown };
}

export interface Route {
  readonly method: "get" | "post";
  readonly path: string;
  readonly summary: string;
  /** Whether it is answered without a token. */
  readonly open?: boolean;
  readonly body?: z.ZodType;
  /** Where resources of FHIR are taken as well: what the query may say of them. */
  readonly fhirQuery?: z.ZodObject;
  readonly response: z.ZodType;
  readonly handle: (asked: Asked) => unknown;
}

/** Every route there is. */
function routesOf({ models, queue }: AppOptions, document: () => unknown): readonly Route[] {
  const maps = new Map<string, Promise<string>>();
  return [
    {
      method: "get",
      path: "/healthz",
      summary: "Whether the server answers; needs no token",
      open: true,
      response: schemas.healthResponse,
      handle: () => ({ status: "ok" }),
    },
    {
      method: "get",
      path: "/version",
      summary: "The version of the program",
      response: schemas.versionResponse,
      handle: () => ({ name: "dtm", version: ownVersion() }),
    },
    {
      method: "get",
      path: "/openapi.json",
      summary: "This document",
      response: z.looseObject({}),
      handle: document,
    },
    {
      method: "get",
      path: "/v1/models",
      summary: "The models that are served",
      response: schemas.modelsResponse,
      handle: () => ({ models: Array.from(models.values(), ({ info }) => info) }),
    },
    {
      method: "get",
      path: "/v1/models/{name}/map",
      summary: "What a drawing of the map needs: courses on a lattice of places, groups; nothing of single individuals",
      response: schemas.mapResponse,
      handle: ({ name }) => {
        const served = modelNamed(models, name);
        const made = maps.get(name) ?? queue.run(() => JSON.stringify(mapOf(served)));
        maps.set(name, made);
        // Refused for want of time: the next one tries again.
        made.catch(() => maps.delete(name));
        return made;
      },
    },
    {
      method: "post",
      path: "/v1/models/{name}/place",
      summary: "One individual: place, region, groups, forecast and time to a threshold from visits",
      body: schemas.placeRequest,
      fhirQuery: schemas.placeQuery,
      response: schemas.placedResources,
      handle: async ({ name, body, fhir }) => {
        const served = modelNamed(models, name);
        if (fhir === undefined) return queue.run(() => placeSomebody(served, body as schemas.PlaceRequest));
        const { request, resources } = await readResources(served, fhir.bytes, fhir.query as schemas.PlaceQuery);
        const asked = checked(schemas.placeRequest, request, "body");
        return queue.run(() => ({ ...placeSomebody(served, asked), resources }));
      },
    },
  ];
}

export function modelNamed(models: ReadonlyMap<string, ServedModel>, name: string): ServedModel {
  const found = models.get(name);
  if (found !== undefined) return found;
  throw refused(404, "no-such-model", {
    where: "name",
    expected: `a model among ${[...models.keys()].join(", ")}`,
    received: "another name",
    remedy: "GET /v1/models lists them.",
  });
}

type Env = { Bindings: HttpBindings };

export function createApp(options: AppOptions): {
  readonly application: Application;
  readonly routes: readonly Route[];
  readonly document: unknown;
} {
  const app = new OpenAPIHono<Env>();
  const matched = new WeakMap<IncomingMessage, string>();
  let document: unknown;
  const routes = routesOf(options, () => document);
  for (const route of routes) addRoute(app, route, matched);
  for (const path of new Set(routes.map((route) => route.path))) {
    const methods = routes.filter((route) => route.path === path).map(({ method }) => method.toUpperCase());
    const allow = methods.includes("GET") ? ["HEAD", ...methods] : methods;
    app.all(pattern(path), (c) => {
      matched.set(c.env.incoming, path);
      const message = `Expected ${methods.join(" or ")}, received another method.`;
      throw new RequestError(405, { code: "method", message }, { Allow: allow.join(", ") });
    });
  }
  app.notFound((c) =>
    sendError(c, new RequestError(404, { code: "not-found", message: "There is nothing at this address." })),
  );
  app.onError((error, c) => sendError(c, answerTo(error)));
  document = app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: { title: "Disease trajectory maps", version: ownVersion(), license: { name: "MIT" } },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }],
  });
  const listen = getRequestListener((request, env) => app.fetch(request, env as HttpBindings), {
    overrideGlobalObjects: false,
  });
  const files = options.files ?? new Map<string, Served>();
  const pages = serveFiles(files);
  return {
    routes,
    document,
    application: async (request, response, path) => {
      if (files.has(path === "/" ? "/index.html" : path)) return pages(request, response, path);
      await listen(request, response);
      return { route: matched.get(request) ?? "-" };
    },
  };
}

/** "/v1/models/{name}" as Hono writes it. */
function pattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

function addRoute(app: OpenAPIHono<Env>, route: Route, matched: WeakMap<IncomingMessage, string>): void {
  const { method, path, summary, open, body, fhirQuery, response, handle } = route;
  const problem = {
    content: { "application/json": { schema: schemas.problemSchema } },
    description: "Refused, and why",
  };
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", { type: "http", scheme: "bearer" });
  app.openAPIRegistry.registerPath(
    createRoute({
      ...{ method, path, summary },
      ...(open === true && { security: [] }),
      request: {
        ...(path.includes("{name}") && { params: z.object({ name: z.string() }) }),
        ...(fhirQuery && { query: fhirQuery.partial() }),
        ...(body && { body: { required: true, content: contentOf(body, fhirQuery !== undefined) } }),
      },
      responses: {
        200: { content: { "application/json": { schema: response } }, description: summary },
        default: problem,
      },
    }),
  );
  const refuseLarge = bodyLimit({
    maxSize: MOST_BYTES,
    onError: () => {
      const [expected, remedy] = [`at most ${MOST_BYTES} bytes`, "Send less at once."];
      const { problem } = refused(413, "too-large", { where: "body", expected, received: "more", remedy });
      throw new RequestError(413, problem, { Connection: "close" });
    },
  });
  const note: MiddlewareHandler<Env> = (c, next) => {
    matched.set(c.env.incoming, path);
    return next();
  };
  app.on([method.toUpperCase()], pattern(path), note, refuseLarge, async (c) => {
    const read = body === undefined ? { body } : await readBody(c, body, fhirQuery);
    const answer = await handle({ name: c.req.param("name") ?? "", ...read });
    return typeof answer === "string" ? c.body(answer, 200, JSON_TYPE) : c.json(answer as object, 200);
  });
}

const JSON_TYPE = { "Content-Type": "application/json" };

/** The types of a body, as the document says them. */
function contentOf(schema: z.ZodType, isFhir: boolean) {
  const [json, lines] = FHIR_TYPES;
  return {
    [JSON_TYPE["Content-Type"]]: { schema: isFhir ? z.union([schema, schemas.fhirBody]) : schema },
    ...(isFhir && { [json]: { schema: schemas.fhirBody }, [lines]: { schema: z.string() } }),
  };
}

/** The body of a request, held against its schema; resources of FHIR as they are, with the query beside them. */
async function readBody(
  c: Context<Env>,
  schema: z.ZodType,
  fhirQuery: z.ZodObject | undefined,
): Promise<Pick<Asked, "body" | "fhir">> {
  const type = (c.req.header("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  const fhirTypes: readonly string[] = fhirQuery === undefined ? [] : FHIR_TYPES;
  if (type !== "application/json" && !fhirTypes.includes(type)) {
    const expected = ["application/json", ...fhirTypes].join(" or ");
    const remedy = "Send it with Content-Type: application/json.";
    const received = type === "" ? "none" : /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type.slice(0, 80) : "another text";
    throw refused(415, "content-type", { where: "Content-Type", expected, received, remedy });
  }
  refusePacked(c.req.header("content-encoding"));
  const bytes = new Uint8Array(await c.req.arrayBuffer());
  const asFhir = (query: z.ZodObject) => ({
    body: undefined,
    fhir: { bytes, query: checked(query, queryValues(c.req.queries()), "query") },
  });
  if (fhirQuery !== undefined && fhirTypes.includes(type)) return asFhir(fhirQuery);
  const text = new TextDecoder().decode(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const remedy = "Check quotes, commas and brackets.";
    const received = text.trim() === "" ? "an empty body" : "another text";
    throw refused(400, "not-json", { where: "body", expected: "one JSON document", received, remedy });
  }
  refuseFaults(text, value, "body");
  const isBundle = (value as { resourceType?: unknown } | null)?.resourceType === "Bundle";
  return fhirQuery !== undefined && isBundle ? asFhir(fhirQuery) : { body: checked(schema, value, "body") };
}

/** Refuses a body that is said to be packed, whatever it holds: it would be unpacked to whatever size. */
function refusePacked(encoding = ""): void {
  if (encoding === "" || encoding.trim().toLowerCase() === "identity") return;
  const [expected, remedy] = ["a body that is not packed", "Unpack it, and send it without Content-Encoding."];
  throw refused(415, "content-encoding", { where: "Content-Encoding", expected, received: "another", remedy });
}

/** Refuses a document with a key twice in one object, of which nobody knows which is meant, and one that is nested without end. */
function refuseFaults(text: string, value: unknown, where: string): void {
  const fault = faultOfKeys(text, value);
  if (fault === undefined) return;
  const { key, expected, received } = fault;
  const remedy = key === undefined ? "Send a document of the form in /openapi.json." : "Send each key once.";
  throw refused(400, "not-json", { where, expected, received, remedy });
}

/** Problems of one request that are told. */
const TOLD = 3;

/** A value held against a schema; the first things that are wrong are told: a misspelt field is also a missing one. */
export function checked<T>(schema: z.ZodType<T>, value: unknown, root: string): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const places = error.issues.map((issue) =>
    issue.path.reduce<string>(
      (path, step) => (typeof step === "number" ? `${path}[${step}]` : `${path}.${String(step).slice(0, 40)}`),
      root,
    ),
  );
  const words = error.issues.slice(0, TOLD).map((issue, k) => `${places[k]}: ${issueWords(issue)}.`);
  throw new RequestError(422, { code: "bad-request", message: words.join(" "), where: places[0] ?? root });
}

/** What is wrong at a place; where one of several forms would do, what is wrong by each. */
function issueWords(issue: z.core.$ZodIssue): string {
  if (issue.code !== "invalid_union") return issue.message;
  return [...new Set(issue.errors.flatMap(([first]) => first?.message ?? []))].join("; or ") || issue.message;
}

function sendError(c: Context<Env>, { status, problem, headers }: RequestError): Response {
  return c.json({ error: problem }, status as ContentfulStatusCode, { ...headers });
}
