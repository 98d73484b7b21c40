/**
 * Who may ask the explorer's server. It listens on the loopback address only, on a port the system chooses. The address
 * printed at the start holds a token that opens the door once: the first visit exchanges it for a cookie of the session.
 * A page from elsewhere cannot get in: the Host must be ours exactly (no rebinding of names), an Origin that is not ours
 * is refused, and no header lets another origin read an answer.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";

/** The parts of a request the door looks at. */
export interface Visit {
  readonly method: string;
  readonly url: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly cookie: string | undefined;
}

export type Verdict =
  | { readonly kind: "pass"; readonly path: string }
  /** The token was right: set the cookie and go to the page without it. */
  | { readonly kind: "enter"; readonly cookie: string }
  | { readonly kind: "refuse"; readonly status: 400 | 403 | 405; readonly reason: string };

export interface Door {
  /** Opens the door once. */
  readonly token: string;
  judge(visit: Visit, port: number): Verdict;
}

export function createDoor(secret: () => string = () => randomBytes(24).toString("base64url")): Door {
  const token = secret();
  const session = secret();
  let used = false;
  return {
    token,
    judge: ({ method, url, host, origin, cookie }, port) => {
      const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
      if (host === undefined || !hosts.includes(host))
        return refuse(403, "This server accepts requests to its own address only.");
      if (origin !== undefined && origin !== `http://${host}`)
        return refuse(403, "Requests from other origins are refused.");
      if (method !== "GET" && method !== "HEAD") return refuse(405, "Only GET is supported.");
      const asked = parse(url, host);
      if (asked === undefined) return refuse(400, "The address cannot be read.");
      const given = asked.searchParams.get("token");
      if (given !== null) {
        if (used || !same(given, token)) {
          return refuse(403, "This address has been used already. Start dtm explore again for a new one.");
        }
        used = true;
        // Cookies do not know ports: the name keeps two servers apart.
        return { kind: "enter", cookie: `${cookieName(port)}=${session}; HttpOnly; SameSite=Strict; Path=/` };
      }
      if (!same(readCookie(cookie, cookieName(port)), session)) {
        return refuse(403, "Open the address that dtm explore printed.");
      }
      return { kind: "pass", path: asked.pathname };
    },
  };
}

function refuse(status: 400 | 403 | 405, reason: string): Verdict {
  return { kind: "refuse", status, reason };
}

function parse(url: string, host: string): URL | undefined {
  try {
    return new URL(url, `http://${host}`);
  } catch {
    return undefined;
  }
}

function cookieName(port: number): string {
  return `dtm-explore-${port}`;
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
