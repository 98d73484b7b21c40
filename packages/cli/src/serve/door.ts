/**
 * Who may ask: the one door of `dtm explore` and `dtm serve`. In a browser the address printed at the start holds a token that
 * opens the door once: the first visit exchanges it for a cookie of the session. Programs show a bearer token, where the server
 * has one. A page from elsewhere cannot get in: the Host must be ours exactly (no rebinding of names), an Origin that is not ours
 * is refused, what changes or computes something needs an Origin beside the cookie, and no header lets another origin read an
 * answer. What is asked is looked at only after that, so that nobody learns what there is.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";

/** The parts of a request the door looks at. */
export interface Visit {
  readonly method: string;
  readonly url: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly cookie: string | undefined;
  readonly authorization: string | undefined;
}

export type Verdict =
  | { readonly kind: "pass"; readonly path: string }
  /** The token was right: set the cookie and go to the page without it. */
  | { readonly kind: "enter"; readonly cookie: string }
  | { readonly kind: "refuse"; readonly status: 400 | 401 | 403; readonly code: string; readonly reason: string };

export interface DoorOptions {
  /** What programs show as "Authorization: Bearer ..."; nobody may without. */
  readonly bearer?: string;
  /** Names and addresses beside the loopback ones that the server is asked under, as in Host: with a port unless it is that of the scheme. */
  readonly hosts?: readonly string[];
  /** Paths that anybody may read. */
  readonly open?: readonly string[];
}

export interface Door {
  /** Opens the door to a browser once. */
  readonly token: string;
  judge(visit: Visit, port: number): Verdict;
}

export function createSecret(): string {
  return randomBytes(24).toString("base64url");
}

export function createDoor({ bearer, hosts = [], open = [] }: DoorOptions = {}): Door {
  const token = createSecret();
  const session = createSecret();
  let used = false;
  return {
    token,
    judge: ({ method, url, host, origin, cookie, authorization }, port) => {
      const near = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
      const isNear = host !== undefined && near.includes(host);
      if (host === undefined || !(isNear || hosts.includes(host)))
        return refuse(403, "other-host", "This server accepts requests to its own address only.");
      // Under a name of its own a server may stand behind one that speaks TLS.
      const origins = isNear ? [`http://${host}`] : [`http://${host}`, `https://${host}`];
      if (origin !== undefined && !origins.includes(origin))
        return refuse(403, "other-origin", "Requests from other origins are refused.");
      const asked = parse(url, host);
      if (asked === undefined) return refuse(400, "bad-address", "The address cannot be read.");
      const reads = method === "GET" || method === "HEAD";
      if (reads && open.includes(asked.pathname)) return { kind: "pass", path: asked.pathname };
      if (authorization !== undefined && bearer !== undefined) {
        const given = /^Bearer ([\w.~+/-]+=*)$/i.exec(authorization)?.[1] ?? "";
        if (same(given, bearer)) return { kind: "pass", path: asked.pathname };
        return refuse(401, "no-token", "The bearer token is not that of this server.");
      }
      const given = asked.searchParams.get("token");
      if (given !== null) {
        if (used || !same(given, token)) {
          return refuse(401, "no-token", "This address has been used already. Start the server again for a new one.");
        }
        used = true;
        // Cookies do not know ports: the name keeps two servers apart.
        return { kind: "enter", cookie: `${cookieName(port)}=${session}; HttpOnly; SameSite=Strict; Path=/` };
      }
      if (!same(readCookie(cookie, cookieName(port)), session)) {
        const program = bearer === undefined ? "" : ', or send the token as "Authorization: Bearer TOKEN"';
        return refuse(401, "no-token", `Open the address that was printed at the start${program}.`);
      }
      if (!reads && origin === undefined) {
        return refuse(403, "other-origin", "With a cookie such a request is accepted from the server's own page only.");
      }
      return { kind: "pass", path: asked.pathname };
    },
  };
}

function refuse(status: 400 | 401 | 403, code: string, reason: string): Verdict {
  return { kind: "refuse", status, code, reason };
}

function parse(url: string, host: string): URL | undefined {
  try {
    return new URL(url, `http://${host}`);
  } catch {
    return undefined;
  }
}

function cookieName(port: number): string {
  return `dtm-${port}`;
}

function readCookie(header: string | undefined, name: string): string {
  const parts = (header ?? "").split(";").map((part) => part.trim().split("="));
  return parts.find(([key]) => key === name)?.[1] ?? "";
}

/** Comparison in constant time. */
function same(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}
