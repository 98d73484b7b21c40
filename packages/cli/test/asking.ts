/** Requests to a server of this process, header by header, as no browser would let them be written. */
import { type IncomingHttpHeaders, request } from "node:http";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Ask = (
  method: string,
  path: string,
  headers?: Record<string, string>,
  body?: string | Buffer,
) => Promise<Answer>;

/** Asks the server on this port; the length of a body is told unless it comes in chunks. */
export const asksPort =
  (portOf: () => number): Ask =>
  (method, path, headers = {}, body) =>
    new Promise((resolve, reject) => {
      const port = portOf();
      const length: Record<string, string> =
        body === undefined || "transfer-encoding" in headers
          ? {}
          : { "content-length": String(Buffer.byteLength(body)) };
      const all = { host: `127.0.0.1:${port}`, ...length, ...headers };
      const asked = request({ host: "127.0.0.1", port, path, method, headers: all, agent: false });
      asked.on("response", (response) => {
        let text = "";
        response.on("data", (piece) => {
          text += piece;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
        response.on("error", reject);
      });
      asked.on("error", reject);
      asked.end(body);
    });
