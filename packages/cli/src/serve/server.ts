/**
 * The server of `dtm explore` and `dtm serve`: the door, then files that were listed at the start, or an application. It writes
 * nothing, and what it logs is the time, the method, the pattern of the route, the status and the milliseconds.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { UsageError } from "../exit-codes.ts";
import { openServed, type Served, type ServedFile } from "../io/served-files.ts";
import { createDoor, type DoorOptions, GUESSING_MS } from "./door.ts";

export interface RunningServer {
  /** Holds the one-time token. */
  readonly address: string;
  readonly port: number;
  /** Ends connections at once or, given milliseconds, lets requests that are being answered end until then. */
  close(patience?: number): Promise<void>;
}

/** An answer is told to the log by the pattern of its route; "-" is one that leads nowhere. */
export interface Answered {
  readonly route: string;
}

/** Answers what the door let pass. */
export type Application = (request: IncomingMessage, response: ServerResponse, path: string) => Promise<Answered>;

export interface ServerOptions extends DoorOptions {
  /** 0 lets the system choose. */
  readonly port?: number;
  /** Default: the loopback address. */
  readonly address?: string;
  /** One line for each request. */
  readonly log?: (line: string) => void;
}

/** Forbids the page everything but its own files; WebAssembly may run, code made from text may not. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src blob:",
  "frame-src blob:",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS = {
  "Content-Security-Policy": POLICY,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-store",
} as const;

/** Time for a request to arrive, in milliseconds, and connections held at once. */
const ARRIVAL = 30_000;
const CONNECTIONS = 1_000;

export async function openServer(application: Application, options: ServerOptions = {}): Promise<RunningServer> {
  const server: Server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.requestTimeout = ARRIVAL;
  server.maxConnections = CONNECTIONS;
  await listen(server, options.port ?? 0, options.address ?? "127.0.0.1");
  const { port, address, family } = server.address() as AddressInfo;
  const own = family === "IPv6" ? `[${address}]` : address;
  const isAny = address === "0.0.0.0" || address === "::";
  const door = createDoor({ ...options, hosts: [...(options.hosts ?? []), ...(isAny ? [] : [`${own}:${port}`])] });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const began = performance.now();
    const { route } = await judged(request, response);
    if (options.log === undefined) return;
    const ms = Number((performance.now() - began).toFixed(1));
    const line = {
      time: new Date().toISOString(),
      method: request.method ?? "",
      route,
      status: response.statusCode,
      ms,
    };
    options.log(JSON.stringify(line));
  }

  async function judged(request: IncomingMessage, response: ServerResponse): Promise<Answered> {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const { origin, cookie, authorization, "sec-fetch-site": fetchSite } = request.headers;
    // Of two hosts one may be believed here and the other by whoever stands in between.
    const [host, ...others] = request.headersDistinct.host ?? [];
    const site = fetchSite === undefined ? {} : { site: String(fetchSite) };
    const visit = {
      ...{ method: request.method ?? "", url: request.url ?? "", origin, cookie, authorization, ...site },
      host: others.length === 0 ? host : undefined,
    };
    const verdict = door.judge(visit, port);
    if (verdict.kind === "pass") return attempted(application, request, response, verdict.path);
    // What comes behind a refused head is not read.
    if (request.method !== "GET" && request.method !== "HEAD") response.setHeader("Connection", "close");
    if (verdict.kind === "refuse") {
      if (verdict.status === 401) response.setHeader("WWW-Authenticate", "Bearer");
      if (verdict.status === 429) response.setHeader("Retry-After", String(GUESSING_MS / 1000));
      sendProblem(response, verdict.status, { code: verdict.code, message: verdict.reason });
    } else {
      response.setHeader("Set-Cookie", verdict.cookie);
      response.setHeader("Location", "/");
      send(response, 303, "text/plain; charset=utf-8", "");
    }
    return { route: "-" };
  }

  return {
    address: `http://${isAny ? "127.0.0.1" : own}:${port}/?token=${door.token}`,
    port,
    close: (patience = 0) =>
      new Promise((resolve) => {
        const late = setTimeout(() => server.closeAllConnections(), patience);
        server.close(() => {
          clearTimeout(late);
          resolve();
        });
        if (patience === 0) server.closeAllConnections();
        else server.closeIdleConnections();
      }),
  };
}

/** What a system says of a port or an address that cannot be listened on, in words. */
const NOT_LISTENING: Readonly<Record<string, readonly [string, string]>> = {
  EADDRINUSE: ["in use by another program", "Name another --port, or leave it out for one that is free"],
  EACCES: ["kept for the system", "Name a --port of 1024 or more"],
  EADDRNOTAVAIL: ["not of this machine", "Name one that is"],
  ENOTFOUND: ["not known", "Name an address of this machine"],
};

function listen(server: Server, port: number, address: string): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const refuse = (error: Error & { readonly code?: string }) => {
      const words = NOT_LISTENING[error.code ?? ""];
      if (words === undefined) return reject(error);
      const what = error.code === "EADDRINUSE" || error.code === "EACCES" ? `port ${port}` : `address ${address}`;
      reject(
        new UsageError(
          `Expected a port and an address to listen on, received ${what}, which is ${words[0]}. ${words[1]}.`,
        ),
      );
    };
    server.once("error", refuse);
    server.listen(port, address, () => {
      server.removeListener("error", refuse);
      resolve();
    });
  });
}

/** What goes wrong in an application costs its answer, not the server. */
async function attempted(application: Application, ...asked: Parameters<Application>): Promise<Answered> {
  try {
    return await application(...asked);
  } catch {
    const [, response] = asked;
    if (response.headersSent) response.destroy();
    else sendProblem(response, 500, { code: "internal", message: "Something went wrong that should not have." });
    return { route: "-" };
  }
}

/** Answers with files by their paths, and nothing else. */
export function serveFiles(files: ReadonlyMap<string, Served>): Application {
  return async ({ method }, response, path) => {
    const file = files.get(path === "/" ? "/index.html" : path);
    if (file === undefined) sendMissing(response);
    else if (method !== "GET" && method !== "HEAD") {
      response.setHeader("Allow", "GET, HEAD");
      sendProblem(response, 405, { code: "method", message: "Only GET is supported." });
    } else if ("bytes" in file) {
      if (file.policy !== undefined) response.setHeader("Content-Security-Policy", file.policy);
      send(response, 200, file.type, file.bytes(), method === "HEAD");
    } else await sendFile(response, file, method === "HEAD");
    return { route: file === undefined ? "-" : "file" };
  };
}

/** A file of any size, as it is read; one that is gone is not there. */
async function sendFile(response: ServerResponse, { path, type }: ServedFile, isHead: boolean): Promise<void> {
  const file = await openServed(path);
  if (file === undefined) {
    sendMissing(response);
    return;
  }
  response.writeHead(200, { "Content-Type": type, "Content-Length": file.size });
  if (isHead || file.size === 0) {
    await file.close();
    response.end();
    return;
  }
  // An answer that ends too early is ended, not completed.
  await pipeline(file.read(), response);
}

function sendMissing(response: ServerResponse): void {
  sendProblem(response, 404, { code: "not-found", message: "There is nothing at this address." });
}

function sendProblem(response: ServerResponse, status: number, problem: { code: string; message: string }): void {
  send(response, status, "application/json; charset=utf-8", `${JSON.stringify({ error: problem })}\n`);
}

function send(response: ServerResponse, status: number, type: string, body: string | Buffer, isHead = false): void {
  response.writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(body) });
  response.end(isHead ? "" : body);
}
