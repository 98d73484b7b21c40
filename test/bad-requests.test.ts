/** Requests that a server on somebody's machine will get, numbered as in the catalogue of bad inputs; and bad cells in place of values. */
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApp, MOST_BYTES } from "../packages/cli/src/serve/app.ts";
import { createSecret } from "../packages/cli/src/serve/door.ts";
import { createQueue } from "../packages/cli/src/serve/queue.ts";
import { openServer, type RunningServer } from "../packages/cli/src/serve/server.ts";
import { asksPort } from "../packages/cli/test/asking.ts";
import { patientModel } from "../packages/core/src/doors/study.ts";
import { fitFpca, simulateCohort } from "../packages/core/src/index.ts";

const BEARER = createSecret();
const bearer = { authorization: `Bearer ${BEARER}` };
const json = { "content-type": "application/json" };
const PLACE = "/v1/models/run/place";
const GOOD = '{"visits":[{"time":0,"value":81},{"time":1.5,"value":76}],"at":[2]}';
let server: RunningServer;
let now = 0;

beforeAll(async () => {
  const model = fitFpca(simulateCohort("pfvc", { numIndividuals: 40, seed: 3 }).cohort);
  const { name, unit, timeUnit, transform } = model.markers[0].marker;
  const info = {
    ...{ name: "run", kind: "fpca", dimension: 2, individuals: 40, covariates: [], groups: [], guarded: false },
    markers: [{ name, unit, timeUnit, transform, times: [0, 10], calibrated: false }],
  };
  const models = new Map([["run", { info, model, patient: patientModel(model) }]]);
  const { application } = createApp({ models, queue: createQueue(20) });
  server = await openServer(application, { bearer: BEARER, clock: () => now });
});
afterAll(() => server.close());

const ask = asksPort(() => server.port);

const status = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).status;
const place = (body: string) => ask("POST", PLACE, { ...bearer, ...json }, body);
const expectGood = async () => expect((await place(GOOD)).status).toBe(200);

describe("the server", () => {
  it("95: says the same to no token and to a wrong one, but for how to show it", async () => {
    const [none, wrong] = [
      await ask("GET", "/v1/models"),
      await ask("GET", "/v1/models", { authorization: "Bearer x" }),
    ];
    for (const answer of [none, wrong]) {
      expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([401, "no-token"]);
      expect(answer.body).not.toContain("run");
    }
    const elsewhere = await ask("GET", "/nothing", { authorization: "Bearer x" });
    expect([elsewhere.status, elsewhere.body]).toEqual([wrong.status, wrong.body]);
  });

  it("96, 97: refuses another host, another origin and another site, good token or not", async () => {
    const others: readonly Record<string, string>[] = [
      { host: "evil.example" },
      { origin: "https://evil.example" },
      { "sec-fetch-site": "cross-site" },
    ];
    for (const other of others) {
      expect(await status("POST", PLACE, { ...bearer, ...json, ...other }, GOOD)).toBe(403);
      expect(await status("GET", "/v1/models", { ...bearer, ...other })).toBe(403);
    }
  });

  it.each([
    "/..%2f..%2fsecret.txt",
    "/static/../../secret.txt",
    "/v1/models/..%2f..%2fetc/map",
    "/%00",
    "/%E0%A4%A",
    "//evil.example/x",
  ])("98: %s leads nowhere", async (path) => {
    expect([400, 404]).toContain(await status("GET", path, bearer));
    await expectGood();
  });

  it("99: refuses a body over the limit, with its length and without", async () => {
    const large = Buffer.alloc(MOST_BYTES + 1, 32);
    expect(await status("POST", PLACE, { ...bearer, ...json, "content-length": String(large.length) }, large)).toBe(
      413,
    );
    expect(await status("POST", PLACE, { ...bearer, ...json, "transfer-encoding": "chunked" }, large)).toBe(413);
    await expectGood();
  });

  it("100: refuses JSON that is sent as text", async () => {
    expect(await status("POST", PLACE, { ...bearer, "content-type": "text/plain" }, GOOD)).toBe(415);
  });

  it("101: takes no uploads: a name of a file is a name of nothing", async () => {
    for (const name of ["../../x.csv", "CON", "x".repeat(4000)]) {
      expect(await status("POST", `/v1/models/${encodeURIComponent(name)}/place`, { ...bearer, ...json }, GOOD)).toBe(
        404,
      );
    }
  });

  it("102: serves a good client while 200 others send their heads byte by byte", async () => {
    const sockets = await Promise.all(
      Array.from(
        { length: 200 },
        () =>
          new Promise<Socket>((resolve, reject) => {
            const socket = connect(server.port, "127.0.0.1", () => resolve(socket));
            socket.on("error", reject);
          }),
      ),
    );
    for (const [k, byte] of [..."GET / HT"].entries()) {
      for (const socket of sockets) socket.write(byte);
      if (k % 4 === 0) await expectGood();
    }
    for (const socket of sockets) socket.destroy();
    await expectGood();
  });

  it("103: answers other methods and addresses briefly, and repeats nothing of them", async () => {
    const cases = [
      ["TRACE", "/v1/models", 405],
      ["PUT", "/v1/models", 405],
      ["DELETE", PLACE, 405],
      ["GET", "/secret-address", 404],
    ] as const;
    for (const [method, path, expected] of cases) {
      const { status: found, body } = await ask(method, path, { ...bearer, "x-secret": "secret" });
      expect([method, path, found]).toEqual([method, path, expected]);
      expect(body).not.toContain("secret");
      expect(body.length).toBeLessThan(200);
    }
  });

  it("104: turns away who guesses more than sixty tokens in a minute; the right one is let in", async () => {
    const guess = () => status("GET", "/v1/models", { authorization: `Bearer ${createSecret()}` });
    now += 60_000;
    const found: number[] = [];
    for (let k = 0; k < 61; k++) found.push(await guess());
    expect(found).toEqual([...Array(60).fill(401), 429]);
    expect((await ask("GET", "/v1/models", { authorization: "Bearer x" })).headers["retry-after"]).toBe("60");
    await expectGood();
    now += 60_000;
    expect(await guess()).toBe(401);
  });
});

describe("cells in place of values, at the server", () => {
  const send = (value: unknown, time: unknown = 1) =>
    place(
      JSON.stringify({
        visits: [
          { time: 0, value: 81 },
          { time, value },
        ],
        at: [2],
      }),
    );

  it.each([
    "",
    "   ",
    "NA",
    ".",
    "5 mg",
    "71%",
    "~70",
    "71,2",
    "1,234.5",
    "1.234,5",
    "0x1F",
    "0b11",
    "1_000",
    "Infinity",
    "-inf",
    "1e400",
    "1e-400",
    "high",
    "#N/A",
    "2020-01-31",
    "<LOD",
    null,
    true,
    [71],
    { value: 71 },
  ])("34 to 47: %j is refused by place", async (value) => {
    const { status: found, body } = await send(value);
    expect(found).toBe(422);
    expect(JSON.parse(body).error.where).toContain("visits");
    await expectGood();
  });

  it.each(["01/02/2020", "2021-02-30", "", null, "1"])("52 to 55: the time %j is refused", async (time) => {
    expect((await send(71, time)).status).toBe(422);
  });

  it("36: limits are limits, as everywhere", async () => {
    const [below, above] = [await send("<60"), await send(">60")];
    expect([below.status, above.status]).toEqual([200, 200]);
    expect(below.body).not.toBe(above.body);
    expect((await send(60)).body).not.toBe(below.body);
  });
});
