/**
 * Who may ask: the one door of `dtm explore` and `dtm serve`. In a browser the address printed at the start holds a token that
 * opens the door once: the first visit exchanges it for a cookie of the session. Programs show a bearer token, where the server
 * has one. A page from elsewhere cannot get in: there must be one Host and it must be ours exactly (no rebinding of names), an Origin that
 * is not ours is refused, and so is what a browser says to come from another site, what changes or computes something needs an Origin beside the cookie, and no header lets another origin read an
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
  /** Sec-Fetch-Site: where a browser says that the request comes from. */
  readonly site?: string | undefined;
}

export type Verdict =
  | { readonly kind: "pass"; readonly path: string }
  /** The token was right: set the cookie and go to the page without it. */
  | { readonly kind: "enter"; readonly cookie: string }
  | { readonly kind: "refuse"; readonly status: 400 | 401 | 403 | 429; readonly code: string; readonly reason: string };

export interface DoorOptions {
  /** What programs show as "Authorization: Bearer ..."; nobody may without. */
  readonly bearer?: string;
  /** Names and addresses beside the loopback ones that the server is asked under, as in Host: with a port unless it is that of the scheme. */
  readonly hosts?: readonly string[];
  /** Paths that anybody may read. */
  readonly open?: readonly string[];
  /** Milliseconds since any moment. Default: of the machine. */
  readonly clock?: () => number;
}

/** Wrong tokens that are answered as such in a minute; more are turned away unread, and the right one is let in all the same. */
const GUESSES = 60;
export const GUESSING_MS = 60_000;

export interface Door {
  /** Opens the door to a browser once. */
  readonly token: string;
  judge(visit: Visit, port: number): Verdict;
}

export function createSecret(): string {
  return randomBytes(24).toString("base64url");
}

export function createDoor({ bearer, hosts = [], open = [], clock = () => performance.now() }: DoorOptions = {}): Door {
  const token = createSecret();
  const session = createSecret();
  let used = false;
  let [guesses, since] = [0, clock()];
  const wrong = (reason: string): Verdict => {
    if (clock() - since >= GUESSING_MS) [guesses, since] = [0, clock()];
    if (++guesses <= GUESSES) return refuse(401, "no-token", reason);
    return refuse(429, "too-many-tokens", "Too many wrong tokens. Wait a minute.");
  };
  return {
    token,
    judge: ({ method, url, host, origin, cookie, authorization, site }, port) => {
      const near = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
      const isNear = host !== undefined && near.includes(host);
      if (host === undefined || !(isNear || hosts.includes(host)))
        return refuse(403, "other-host", "This server accepts requests to its own address only.");
      // Under a name of its own a server may stand behind one that speaks TLS.
      const origins = isNear ? [`http://${host}`] : [`http://${host}`, `https://${host}`];
      if (origin !== undefined && !origins.includes(origin))
        return refuse(403, "other-origin", "Requests from other origins are refused.");
      // "none" is what somebody typed, pasted or keeps as a bookmark.
      if (site !== undefined && site !== "same-origin" && site !== "none") {
        const remedy = "Copy the address into the browser instead of following a link.";
        return refuse(403, "other-origin", `Requests from other sites are refused. ${remedy}`);
      }
      const asked = parse(url, host);
      if (asked === undefined) return refuse(400, "bad-address", "The address cannot be read.");
      const reads = method === "GET" || method === "HEAD";
      if (reads && open.includes(asked.pathname)) return { kind: "pass", path: asked.pathname };
      if (authorization !== undefined && bearer !== undefined) {
        const given = /^Bearer ([\w.~+/-]+=*)$/i.exec(authorization)?.[1] ?? "";
        if (same(given, bearer)) return { kind: "pass", path: asked.pathname };
        return wrong("The bearer token is not that of this server.");
      }
      const given = asked.searchParams.get("token");
      // Programs that only look whether an address is there ask by HEAD; they get no cookie, and the address still works.
      if (given !== null && method === "GET") {
        if (used || !same(given, token)) {
          return wrong("This address has been used already. Start the server again for a new one.");
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

function refuse(status: 400 | 401 | 403 | 429, code: string, reason: string): Verdict {
  return { kind: "refuse", status, code, reason };
}

function parse(url: string, host: string): URL | undefined {
  try {
    const asked = new URL(url, `http://${host}`);
    // A whole address in place of a path names a host too.
    return asked.host === new URL(`http://${host}`).host ? asked : undefined;
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
