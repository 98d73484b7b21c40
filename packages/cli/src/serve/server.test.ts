import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDoor } from "./door.ts";
import { openServer, type RunningServer, serveFiles } from "./server.ts";

let server: RunningServer;
const files = new Map([
  ["/index.html", { type: "text/html", bytes: () => Buffer.from("the page") }],
  [
    "/gone",
    {
      type: "text/html",
      bytes: (): Buffer => {
        throw new Error("removed while it was served");
      },
    },
  ],
]);

beforeAll(async () => {
  server = await openServer(serveFiles(files));
});
afterAll(() => server.close());

function ask(path: string, headers: Record<string, string> = {}, method = "GET") {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const host = `127.0.0.1:${server.port}`;
    const asked = request({ host: "127.0.0.1", port: server.port, path, method, headers: { host, ...headers } });
    asked.on("response", (response) => {
      let body = "";
      response.on("data", (piece) => {
        body += piece;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    asked.on("error", reject);
    asked.end();
  });
}

describe("the explorer's server", () => {
  it("refuses everyone without the token, then lets its bearer in once", async () => {
    expect((await ask("/")).status).toBe(401);
    const { pathname, search } = new URL(server.address);
    const entered = await ask(pathname + search);
    expect(entered.status).toBe(303);
    const cookie = String(entered.headers["set-cookie"]).split(";")[0] as string;
    expect(String(entered.headers["set-cookie"])).toMatch(/HttpOnly; SameSite=Strict/);
    const page = await ask("/", { cookie });
    expect(page).toMatchObject({ status: 200, body: "the page" });
    expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
    expect(page.headers["content-security-policy"]).not.toContain("'unsafe-eval'");
    expect(page.headers["access-control-allow-origin"]).toBeUndefined();
    expect((await ask(pathname + search)).status).toBe(401);
    expect((await ask("/../../etc/hosts", { cookie })).status).toBe(404);
    expect((await ask("/nothing", { cookie })).status).toBe(404);
    const lost = await ask("/gone", { cookie });
    expect([lost.status, lost.body]).toEqual([500, expect.not.stringContaining("removed")]);
    // What computes or changes something is accepted with a cookie from the server's own page only.
    const origin = `http://127.0.0.1:${server.port}`;
    expect((await ask("/", { cookie }, "POST")).status).toBe(403);
    expect((await ask("/", { cookie, origin }, "POST")).status).toBe(405);
    expect((await ask("/", { cookie, origin: "http://elsewhere.example" })).status).toBe(403);
    expect((await ask("/", { cookie, host: "elsewhere.example" })).status).toBe(403);
    expect((await ask("/", { cookie: `${cookie.slice(0, -1)}~`, host: `127.0.0.1:${server.port}` })).status).toBe(401);
  });

  it("listens on the loopback address on a port of its own", () => {
    expect(new URL(server.address).hostname).toBe("127.0.0.1");
    expect(server.port).toBeGreaterThan(1023);
  });
});

describe("the door", () => {
  it("keeps the token when someone tries a wrong one", () => {
    const door = createDoor();
    const visit = {
      method: "GET",
      host: "127.0.0.1:5000",
      origin: undefined,
      cookie: undefined,
      authorization: undefined,
    };
    expect(door.judge({ ...visit, url: "/?token=guess" }, 5000).kind).toBe("refuse");
    expect(door.judge({ ...visit, url: `/?token=${door.token}` }, 5000).kind).toBe("enter");
    expect(door.judge({ ...visit, url: `/?token=${door.token}` }, 5000).kind).toBe("refuse");
  });

  it("refuses a name that is not its own, however it is written", () => {
    const door = createDoor();
    for (const host of ["127.0.0.1", "127.0.0.1:5001", "evil.example:5000", "localhost.evil.example:5000", undefined]) {
      const nothing = { origin: undefined, cookie: undefined, authorization: undefined };
      expect(door.judge({ method: "GET", url: `/?token=${door.token}`, host, ...nothing }, 5000)).toMatchObject({
        kind: "refuse",
        status: 403,
      });
    }
  });
});
