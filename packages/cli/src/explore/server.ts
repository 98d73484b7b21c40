/** The explorer's server: the built page, the study it opens with, and nothing else. It writes nothing. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Served } from "../io/served-files.ts";
import { createDoor } from "./door.ts";

export interface ExploreServer {
  /** Holds the one-time token. */
  readonly address: string;
  readonly port: number;
  close(): Promise<void>;
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

/** Starts the server on the loopback address; port 0 lets the system choose. */
export async function serveExplorer(files: ReadonlyMap<string, Served>, port = 0): Promise<ExploreServer> {
  const door = createDoor();
  const server: Server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const chosen = (server.address() as AddressInfo).port;

  function answer(request: IncomingMessage, response: ServerResponse): ServerResponse {
    const { host, origin, cookie } = request.headers;
    const visit = { method: request.method ?? "", url: request.url ?? "", host, origin, cookie };
    const verdict = door.judge(visit, chosen);
    if (verdict.kind === "refuse")
      return send(response, verdict.status, "text/plain; charset=utf-8", `${verdict.reason}\n`);
    if (verdict.kind === "enter") {
      response.setHeader("Set-Cookie", verdict.cookie);
      response.setHeader("Location", "/");
      return send(response, 303, "text/plain; charset=utf-8", "");
    }
    const file = files.get(verdict.path === "/" ? "/index.html" : verdict.path);
    if (file === undefined) return send(response, 404, "text/plain; charset=utf-8", "Not found.\n");
    return send(response, 200, file.type, request.method === "HEAD" ? "" : file.bytes());
  }

  return {
    address: `http://127.0.0.1:${chosen}/?token=${door.token}`,
    port: chosen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(response: ServerResponse, status: number, type: string, body: string | Buffer): ServerResponse {
  response.writeHead(status, { ...HEADERS, "Content-Type": type, "Content-Length": Buffer.byteLength(body) });
  return response.end(body);
}
