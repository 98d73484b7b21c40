/** The server from outside: who is let in, what is answered, how it is refused, and what it logs. */
import { request } from "node:http";
import { fitFpca, simulateCohort } from "@trajectory-maps/core";
import { patientModel } from "@trajectory-maps/core/study";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, asksPort } from "../../test/asking.ts";
import { createApp, MOST_BYTES, type Route } from "./app.ts";
import { createSecret } from "./door.ts";
import type { ServedModel } from "./models.ts";
import { createQueue, type Queue } from "./queue.ts";
import { modelsResponse, placedResources, placeResponse, problemSchema } from "./schemas.ts";
import { openServer, type RunningServer } from "./server.ts";

const BEARER = createSecret();
const NAME = "maps.example.org";
const files = new Map([["/index.html", { type: "text/html", bytes: () => Buffer.from("the page") }]]);
const log: string[] = [];
let server: RunningServer;
let routes: readonly Route[];
let document: Record<string, unknown>;
let queue: Queue;
let cookie: string;

beforeAll(async () => {
  queue = createQueue(20);
  const models = new Map([["run", served()]]);
  const app = createApp({ models, queue, files });
  ({ routes } = app);
  document = app.document as Record<string, unknown>;
  const open = routes.filter((route) => route.open).map(({ path }) => path);
  // A clock that runs fast, so that thousands of wrong tokens are not too many.
  let minutes = 0;
  const clock = () => 60_000 * minutes++;
  const door = { bearer: BEARER, hosts: [NAME], open, clock };
  server = await openServer(app.application, { ...door, log: (line) => log.push(line) });
  const { pathname, search } = new URL(server.address);
  cookie = String((await ask("GET", pathname + search)).headers["set-cookie"]).split(";")[0] as string;
});
afterAll(() => server.close());

function served(): ServedModel {
  const { cohort } = simulateCohort("pfvc", { numIndividuals: 40, seed: 3 });
  const [series] = cohort.markers;
  const model = fitFpca({ ...cohort, markers: [{ ...series!, marker: { ...series!.marker, unit: "%" } }] });
  const { name, unit, timeUnit, transform } = model.markers[0]!.marker;
  const markers = [{ name, unit, timeUnit, transform, times: [0, 10], calibrated: false }];
  const info = {
    name: "run",
    kind: "fpca",
    dimension: 2,
    individuals: 40,
    markers,
    covariates: [],
    groups: [],
    guarded: false,
  };
  return { info, model, patient: patientModel(model) };
}

const ask = asksPort(() => server.port);

const bearer = { authorization: `Bearer ${BEARER}` };
const json = { "content-type": "application/json" };
const VISITS = JSON.stringify({
  visits: [
    { time: 0, value: 81 },
    { time: 1.5, value: 76 },
  ],
  at: [2, 4],
});
const fhir = { "content-type": "application/fhir+json" };
const FHIR_PLACE = "/v1/models/{name}/place?code=19868-9&at=2,4";
const observation = (value: number, effectiveDateTime: string) => ({
  resourceType: "Observation",
  status: "final",
  code: { coding: [{ system: "http://loinc.org", code: "19868-9" }] },
  subject: { reference: "Patient/secret-id" },
  effectiveDateTime,
  valueQuantity: { value, unit: "%" },
});
const entries = [observation(81, "2020-01-01"), observation(76, "2021-07-02")].map((resource) => ({ resource }));
const BUNDLE = JSON.stringify({ resourceType: "Bundle", type: "collection", entry: entries });
const place = (body: string | Buffer, headers: Record<string, string> = { ...bearer, ...json }) =>
  ask("POST", "/v1/models/run/place", headers, body);
const problemOf = ({ body }: Answer) => problemSchema.parse(JSON.parse(body)).error;

describe("the door, for every route, token, host, origin and method", () => {
  const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY"];
  const own = () => `127.0.0.1:${server.port}`;
  const TOKENS: Record<string, () => Record<string, string>> = {
    none: () => ({}),
    bearer: () => bearer,
    "wrong bearer": () => ({ authorization: `Bearer ${createSecret()}` }),
    "bearer as basic": () => ({ authorization: `Basic ${BEARER}` }),
    "empty bearer": () => ({ authorization: "Bearer " }),
    cookie: () => ({ cookie }),
    "wrong cookie": () => ({ cookie: `${cookie.slice(0, -1)}~` }),
    "bearer as cookie": () => ({ cookie: `${cookie.split("=")[0]}=${BEARER}` }),
    "cookie and wrong bearer": () => ({ cookie, authorization: "Bearer wrong" }),
  };
  const HOSTS: Record<string, () => string> = {
    own,
    localhost: () => `localhost:${server.port}`,
    named: () => NAME,
    "own without port": () => "127.0.0.1",
    "other port": () => `127.0.0.1:${server.port + 1}`,
    other: () => "evil.example",
    "named behind another": () => `${NAME}.evil.example`,
  };
  const ORIGINS: Record<string, (host: string) => string | undefined> = {
    none: () => undefined,
    same: (host) => `http://${host}`,
    tls: (host) => `https://${host}`,
    other: () => "http://evil.example",
    null: () => "null",
  };
  const isLetIn = (token: string) => token === "bearer" || token === "cookie";
  const isHost = (host: string) => ["own", "localhost", "named"].includes(host);
  const isOrigin = (host: string, origin: string) =>
    origin === "none" || origin === "same" || (origin === "tls" && host === "named");

  /** What the table of routes says should come of it. */
  function expectedStatus(path: string, method: string, token: string, host: string, origin: string): number[] {
    if (!isHost(host) || !isOrigin(host, origin)) return [403];
    const known = routes.filter((route) => route.path === path.split("?")[0]);
    const reads = method === "GET" || method === "HEAD";
    if (!(reads && known.some(({ open }) => open)) && !isLetIn(token)) return [401];
    if (!reads && token === "cookie" && origin === "none") return [403];
    if (path === "/index.html") return [reads ? 200 : 405];
    if (known.length === 0) return [404];
    const route = known.find((one) => one.method.toUpperCase() === (method === "HEAD" ? "GET" : method));
    return [route === undefined ? 405 : 200];
  }

  it("has no hole", async () => {
    const others = ["/index.html", "/nothing", "/v1/models/run", FHIR_PLACE];
    const paths = [...new Set(routes.map(({ path }) => path)), ...others];
    expect(paths).toEqual(expect.arrayContaining(["/healthz", "/v1/models/{name}/place", "/openapi.json"]));
    const holes: unknown[] = [];
    let numAsked = 0;
    const work: (() => Promise<void>)[] = [];
    for (const path of paths)
      for (const method of METHODS)
        for (const [token, shown] of Object.entries(TOKENS))
          for (const [host, named] of Object.entries(HOSTS))
            for (const [origin, from] of Object.entries(ORIGINS))
              work.push(async () => {
                const sent = from(named());
                const [type, full] = path === FHIR_PLACE ? [fhir, BUNDLE] : [json, VISITS];
                const headers = { ...shown(), host: named(), ...type, ...(sent !== undefined && { origin: sent }) };
                const body = method === "GET" || method === "HEAD" ? undefined : full;
                const answer = await ask(method, path.replace("{name}", "run"), headers, body);
                numAsked++;
                const expected = expectedStatus(path, method, token, host, origin);
                const told = Object.keys(answer.headers).find((name) => name.startsWith("access-control"));
                const isForm =
                  answer.status < 400 || method === "HEAD" || problemSchema.safeParse(JSON.parse(answer.body)).success;
                if (!expected.includes(answer.status) || told !== undefined || !isForm)
                  holes.push({ path, method, token, host, origin, expected, received: answer.status, told, isForm });
              });
    // A few at a time: more would only wait.
    for (let k = 0; k < work.length; k += 10) await Promise.all(work.slice(k, k + 10).map((one) => one()));
    expect(numAsked).toBe(paths.length * METHODS.length * 9 * 7 * 5);
    expect(holes).toEqual([]);
  });

  it("says how to come in, and which methods there are", async () => {
    const refused = await ask("GET", "/version");
    expect(refused.headers["www-authenticate"]).toBe("Bearer");
    expect(problemOf(refused)).toMatchObject({
      code: "no-token",
      message: expect.stringContaining("Authorization: Bearer"),
    });
    expect((await ask("DELETE", "/v1/models", bearer)).headers.allow).toBe("HEAD, GET");
    expect((await ask("GET", "/v1/models/run/place", bearer)).headers.allow).toBe("POST");
  });
});

describe("answers", () => {
  it("are of the form that the document states", async () => {
    expect(modelsResponse.parse(JSON.parse((await ask("GET", "/v1/models", bearer)).body)).models[0]?.name).toBe("run");
    const { status, body, headers } = await place(VISITS);
    expect(status).toBe(200);
    expect(placeResponse.parse(JSON.parse(body)).forecasts[0]?.rows).toHaveLength(2);
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "content-type": expect.stringContaining("application/json"),
    });
    expect(JSON.parse((await ask("GET", "/healthz")).body)).toEqual({ status: "ok" });
    const map = JSON.parse((await ask("GET", "/v1/models/run/map", bearer)).body) as { lattice: { inside: number[] } };
    expect(map.lattice.inside).toHaveLength(441);
  });

  it("to resources of FHIR are those to their values, with what was left out", async () => {
    const path = FHIR_PLACE.replace("{name}", "run");
    const days = 548 / 365.25;
    const visits = [
      { time: 0, value: 81 },
      { time: days, value: 76 },
    ];
    const { resources: _, ...expected } = JSON.parse((await place(JSON.stringify({ visits, at: [2, 4] }))).body);
    const lines = entries.map(({ resource }) => JSON.stringify(resource)).join("\n");
    for (const [type, body] of [
      ["application/fhir+json; charset=utf-8", BUNDLE],
      ["application/json", BUNDLE],
      ["application/fhir+ndjson", lines],
    ] as const) {
      const answer = await ask("POST", path, { ...bearer, "content-type": type }, body);
      expect(answer.status).toBe(200);
      const { resources, ...found } = placedResources.parse(JSON.parse(answer.body));
      expect(found).toEqual(expected);
      expect(resources).toMatchObject({ visits: 2, told: [] });
      expect(answer.body).not.toContain("secret");
    }
  });

  it("have a document of OpenAPI 3.1 that names every route", async () => {
    const { body } = await ask("GET", "/openapi.json", bearer);
    expect(JSON.parse(body)).toEqual(JSON.parse(JSON.stringify(document)));
    const { openapi, paths, components } = JSON.parse(body);
    expect(openapi).toBe("3.1.0");
    const named = Object.entries(paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(named.sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
    expect(components.securitySchemes.bearer).toEqual({ type: "http", scheme: "bearer" });
    expect(paths["/healthz"].get.security).toEqual([]);
    expect(Object.keys(components.schemas)).toEqual(expect.arrayContaining(["PlaceRequest", "PlaceResponse", "Error"]));
    expect(components.schemas.PlaceRequest.properties.visits.maxItems).toBe(1000);
    const { requestBody, parameters } = paths["/v1/models/{name}/place"].post;
    expect(Object.keys(requestBody.content)).toEqual([
      "application/json",
      "application/fhir+json",
      "application/fhir+ndjson",
    ]);
    const inQuery = parameters
      .filter((one: { in: string }) => one.in === "query")
      .map((one: { name: string }) => one.name);
    expect(inQuery).toEqual(expect.arrayContaining(["code", "patient", "origin", "at", "threshold"]));
  });
});

describe("what is refused has one form", () => {
  const chunked = { ...bearer, ...json, "transfer-encoding": "chunked" };
  const resources = (body: string) => ask("POST", FHIR_PLACE.replace("{name}", "run"), { ...bearer, ...fhir }, body);
  const cases: readonly [string, number, string, () => Promise<Answer>][] = [
    ["text that is no JSON", 400, "not-json", () => place("{")],
    ["lists without end", 400, "not-json", () => place(`${"[".repeat(20_000)}${"]".repeat(20_000)}`)],
    [
      "covariates without end",
      400,
      "not-json",
      () => place(`{"visits":[],"covariates":${'{"a":'.repeat(20_000)}1${"}".repeat(20_001)}`),
    ],
    ["a key twice", 400, "not-json", () => place('{"visits":[{"time":0,"value":1,"value":2}]}')],
    ["nothing", 400, "not-json", () => place("")],
    ["another content type", 415, "content-type", () => place(VISITS, { ...bearer, "content-type": "text/plain" })],
    [
      "a body said to be packed",
      415,
      "content-encoding",
      () => place(VISITS, { ...bearer, ...json, "content-encoding": "gzip" }),
    ],
    ["no content type", 415, "content-type", () => place(VISITS, bearer)],
    [
      "a form",
      415,
      "content-type",
      () => place("a=1", { ...bearer, "content-type": "application/x-www-form-urlencoded" }),
    ],
    ["too much", 413, "too-large", () => place(Buffer.alloc(MOST_BYTES + 1, 32))],
    ["too much without its length", 413, "too-large", () => place(Buffer.alloc(MOST_BYTES + 10, 32), chunked)],
    ["too much of FHIR", 413, "too-large", () => place(Buffer.alloc(MOST_BYTES + 1, 32), { ...bearer, ...fhir })],
    ["FHIR without a code", 422, "bad-request", () => place(BUNDLE)],
    ["FHIR that is no JSON", 422, "not-json", () => resources("{")],
    ["FHIR without values", 422, "no-rows", () => resources('{"resourceType":"Bundle"}')],
    ["FHIR of several", 422, "several-patients", () => resources(BUNDLE.replace("secret-id", "other-id"))],
    ["a list", 422, "bad-request", () => place("[]")],
    ["an unknown field", 422, "bad-request", () => place('{"visits":[],"name":"somebody"}')],
    ["infinity", 422, "bad-request", () => place('{"visits":[{"time":1e999,"value":1}]}')],
    ["too many times", 422, "bad-request", () => place(JSON.stringify({ visits: [], at: Array(201).fill(1) }))],
    ["a marker of another model", 422, "other-marker", () => place('{"visits":[{"time":0,"value":1,"marker":"x"}]}')],
    ["a forecast of another marker", 422, "option", () => place('{"visits":[],"at":[1],"marker":"x"}')],
    ["another marker without a forecast", 422, "option", () => place('{"visits":[],"marker":"x"}')],
    ["a time that no table holds", 422, "not-finite", () => place('{"visits":[],"at":[1,1e300]}')],
    ["a threshold that no table holds", 422, "not-finite", () => place('{"visits":[],"threshold":{"value":1e308}}')],
    [
      "a start that no table holds",
      422,
      "not-finite",
      () => place('{"visits":[],"threshold":{"value":1,"from":1e99}}'),
    ],
    ["a level out of range", 422, "bad-request", () => place('{"visits":[],"at":[1],"level":1}')],
    ["bands that are not calibrated", 422, "option", () => place('{"visits":[],"at":[1],"interval":"conformal"}')],
    [
      "another model",
      404,
      "no-such-model",
      () => ask("POST", "/v1/models/other/place", { ...bearer, ...json }, VISITS),
    ],
    ["a start too late", 422, "extrapolation", () => place('{"visits":[],"threshold":{"value":50,"from":1e6}}')],
  ];
  for (const [what, status, code, send] of cases) {
    it(`${what}: ${status} ${code}`, async () => {
      const answer = await send();
      expect([answer.status, problemOf(answer).code]).toEqual([status, code]);
    });
  }

  it("says where in the body", async () => {
    const answer = await place('{"visits":[{"time":0,"value":1},{"time":"soon","value":2}]}');
    expect(problemOf(answer).where).toBe("body.visits[1].time");
  });

  it("tells a misspelt field beside the one that is then missing, and what would do", async () => {
    const { where, message } = problemOf(await place('{"visits":[{"time":0,"valeu":1}]}'));
    expect(where).toBe("body.visits[0].value");
    expect(message).toMatch(/number.*or.*string/);
    expect(message).toContain('"valeu"');
  });

  it("names the content type that came", async () => {
    const { message } = problemOf(await place(VISITS, { ...bearer, "content-type": "text/plain; charset=utf-8" }));
    expect(message).toContain("received text/plain.");
  });

  it("ends what has no length, or a false one, before all of it has come", async () => {
    for (const [name, value] of [
      ["transfer-encoding", "chunked"],
      ["content-length", String(1e9)],
    ] as const) {
      const [answer, sent] = await flood({ ...bearer, ...json, [name]: value });
      expect([answer.status, problemOf(answer).code, answer.headers.connection]).toEqual([413, "too-large", "close"]);
      expect(sent).toBeLessThan(64 * MOST_BYTES);
    }
  });
});

/** A body without an end, until there is an answer; with how much was sent. */
function flood(headers: Record<string, string>): Promise<[Answer, number]> {
  return new Promise((resolve, reject) => {
    const to = { host: "127.0.0.1", port: server.port, path: "/v1/models/run/place", method: "POST", agent: false };
    const asked = request({ ...to, headers });
    const piece = Buffer.alloc(1 << 16, 32);
    let [sent, isAnswered] = [0, false];
    const pour = (): void => {
      while (!isAnswered && asked.write(piece)) sent += piece.length;
    };
    asked.on("drain", pour);
    asked.on("response", (response) => {
      isAnswered = true;
      let body = "";
      response.on("data", (text) => {
        body += text;
      });
      response.on("end", () => {
        resolve([{ status: response.statusCode ?? 0, headers: response.headers, body }, sent]);
        asked.destroy();
      });
    });
    // The rest is not read: writing it may fail before or after the answer.
    asked.on("error", (error) => isAnswered || reject(error));
    pour();
  });
}

describe("too many at once", () => {
  it("are answered with 503 and when to come again, while what computes nothing is answered", async () => {
    let isHeld = true;
    // Whatever leaves the queue comes back at its end: it stays full.
    const hold = (): Promise<unknown> => queue.run(() => (isHeld ? void hold() : undefined));
    await Promise.all(Array.from({ length: 20 }, hold).slice(0, 1));
    const answers = await Promise.all(Array.from({ length: 40 }, () => place(VISITS)));
    expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(503));
    expect(problemOf(answers[0]!).code).toBe("busy");
    expect(Number(answers[0]!.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    expect((await ask("GET", "/healthz")).status).toBe(200);
    expect((await ask("GET", "/v1/models", bearer)).status).toBe(200);
    isHeld = false;
    while (queue.length > 0) await new Promise(setImmediate);
    expect((await place(VISITS)).status).toBe(200);
  });

  it("wait in turn, and what fails does not hold up the others", async () => {
    const small = createQueue(3);
    const order: number[] = [];
    const work = [1, 2, 3].map((k) =>
      small.run(() => {
        order.push(k);
        if (k === 2) throw new Error("no");
        return k;
      }),
    );
    await expect(small.run(() => 4)).rejects.toMatchObject({ status: 503, headers: { "Retry-After": "1" } });
    expect(await Promise.allSettled(work)).toMatchObject([{ value: 1 }, { status: "rejected" }, { value: 3 }]);
    expect(order).toEqual([1, 2, 3]);
    expect(await small.run(() => 5)).toBe(5);
  });
});

describe("the log", () => {
  it("has time, method, route, status and milliseconds, and no word of what was asked", async () => {
    log.length = 0;
    await place('{"visits":[{"time":0,"value":"secret-cell"}]}');
    await ask("GET", "/v1/models/secret-name/map", bearer);
    await ask("GET", "/secret-path?secret-query", bearer);
    await ask("PUT", "/v1/models/secret-name/place", bearer);
    await ask("POST", "/v1/models/run/place?code=1&patient=secret-id", { ...bearer, ...fhir }, BUNDLE);
    await place(Buffer.alloc(MOST_BYTES + 1, 32));
    const lines = log.map((line) => JSON.parse(line) as Record<string, unknown>);
    for (const line of lines) expect(Object.keys(line)).toEqual(["time", "method", "route", "status", "ms"]);
    expect(lines.map(({ method, route, status }) => [method, route, status])).toEqual([
      ["POST", "/v1/models/{name}/place", 422],
      ["GET", "/v1/models/{name}/map", 404],
      ["GET", "-", 404],
      ["PUT", "/v1/models/{name}/place", 405],
      ["POST", "/v1/models/{name}/place", 422],
      ["POST", "/v1/models/{name}/place", 413],
    ]);
    expect(log.join("")).not.toContain("secret");
    expect(log.join("")).not.toContain(BEARER);
  });
});
