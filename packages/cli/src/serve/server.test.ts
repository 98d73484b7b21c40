import { truncateSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run, workplace } from "../../test/harness.ts";
import type { Served } from "../io/served-files.ts";
import { createDoor } from "./door.ts";
import { openServer, type RunningServer, serveFiles } from "./server.ts";

let server: RunningServer;
const here = workplace();
const files = new Map<string, Served>([
  ["/index.html", { type: "text/html", bytes: () => Buffer.from("the page") }],
  [
    "/broken",
    {
      type: "text/html",
      bytes: (): Buffer => {
        throw new Error("removed while it was served");
      },
    },
  ],
  ["/gone", { type: "text/csv", path: here.at("gone.csv") }],
  ["/folder", { type: "text/csv", path: here.at() }],
  ["/empty", { type: "text/csv", path: here.file("empty.csv", "") }],
  ["/huge", { type: "text/csv", path: here.file("huge.csv", "") }],
]);

beforeAll(async () => {
  server = await openServer(serveFiles(files));
});
afterAll(async () => {
  await server.close();
  here.clear();
});

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
    // Whoever only looks whether the address is there, or follows a link to it, does not use it up.
    expect((await ask(pathname + search, {}, "HEAD")).status).toBe(401);
    expect((await ask(pathname + search, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await ask(pathname + search, { "sec-fetch-site": "same-site" })).status).toBe(403);
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
    const lost = await ask("/broken", { cookie });
    expect([lost.status, lost.body]).toEqual([500, expect.not.stringContaining("removed")]);
    expect((await ask("/gone", { cookie })).status).toBe(404);
    expect((await ask("/folder", { cookie })).status).toBe(404);
    expect(await ask("/empty", { cookie })).toMatchObject({ status: 200, body: "" });
    // A file of more bytes than a buffer may have is announced and sent as it is read; the client leaves in the middle.
    truncateSync(here.at("huge.csv"), 5 * 2 ** 30);
    expect((await ask("/huge", { cookie }, "HEAD")).headers["content-length"]).toBe(String(5 * 2 ** 30));
    const first = await new Promise<number>((resolve, reject) => {
      const host = `127.0.0.1:${server.port}`;
      const asked = request({ host: "127.0.0.1", port: server.port, path: "/huge", headers: { host, cookie } });
      asked.on("response", (response) => {
        response.once("data", (piece: Buffer) => {
          asked.destroy();
          resolve(piece.length);
        });
        response.on("error", () => {});
      });
      asked.on("error", reject);
      asked.end();
    });
    expect(first).toBeGreaterThan(0);
    expect((await ask("/", { cookie })).status).toBe(200);
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

it("refuses two hosts, and a host in place of a path that is another than the one named", async () => {
  const own = `127.0.0.1:${server.port}`;
  const speak = (...lines: string[]) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(server.port, "127.0.0.1", () =>
        socket.write(`${lines.join("\r\n")}\r\nConnection: close\r\n\r\n`),
      );
      let answer = "";
      socket.on("data", (piece) => {
        answer += piece;
      });
      socket.on("end", () => resolve(answer.split("\r\n")[0] ?? ""));
      socket.on("error", reject);
    });
  expect(await speak("GET / HTTP/1.1", `Host: ${own}`)).toContain(" 401 ");
  expect(await speak("GET / HTTP/1.1", `Host: ${own}`, "Host: elsewhere.example")).toContain(" 403 ");
  expect(await speak("GET http://elsewhere.example/ HTTP/1.1", `Host: ${own}`)).toContain(" 400 ");
});

it("says with exit code 2 which port is in use", async () => {
  const { code, talk } = await run("explore", "--port", String(server.port));
  expect([code, talk]).toEqual([2, expect.stringContaining(`received port ${server.port}, which is in use`)]);
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
