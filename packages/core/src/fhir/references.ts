/** Whom a resource is about: references as servers, bulk exports and Bundles write them. */
import type { Reference } from "fhir/r4";

/** The id of a patient and the server that it is of ("" if that is not said), or why there is none. */
export type Subject =
  | { readonly id: string; readonly server: string }
  | { readonly reason: "no-subject" | "not-a-patient" };

/** The address of the server of a resource by its own address; "" if that is none. http and https are the same server. */
export function serverOf(address: string | undefined): string {
  const [, host, path] = /^https?:\/\/([^/]+)((?:\/[^/]+)*)\/[A-Z][A-Za-z]+\/[^/]+$/i.exec(address ?? "") ?? [];
  return host === undefined ? "" : host.toLowerCase() + path;
}

/**
 * `Patient/x`, an absolute address, either with `/_history/2` behind it, `urn:uuid:x`, or an identifier alone. What is relative is so to the server of the
 * resource that says it, by its address in a Bundle.
 */
export function subjectOf(
  subject: Reference | undefined,
  patients: ReadonlyMap<string, string> | undefined,
  fullUrl: string | undefined,
): Subject {
  const reference = subject?.reference?.trim().replace(/\/_history\/[^/]*$/, "");
  if (reference === undefined || reference === "") {
    const value = subject?.identifier?.value;
    const isPatient = (subject?.type ?? "Patient") === "Patient";
    if (value !== undefined && isPatient) return { id: value, server: "" };
    return { reason: isPatient ? "no-subject" : "not-a-patient" };
  }
  const known = patients?.get(reference);
  if (known !== undefined) return { id: known, server: serverOf(reference) };
  const urn = /^urn:(?:uuid|oid):(.+)$/.exec(reference);
  if (urn !== null) {
    return (subject?.type ?? "Patient") === "Patient" ? { id: urn[1], server: "" } : { reason: "not-a-patient" };
  }
  const search = /^Patient\?identifier=(?:[^|]*\|)?(.+)$/.exec(reference);
  if (search !== null) return { id: search[1], server: "" };
  const named = /(?:^|\/)([A-Z][A-Za-z]+)\/([^/?#]+)$/.exec(reference);
  if (named?.[1] !== "Patient") return { reason: "not-a-patient" };
  return { id: named[2], server: serverOf(reference.startsWith("Patient/") ? fullUrl : reference) };
}

/** Servers that ids of patients were found of. */
export type Servers = Map<string, Set<string>>;

export function seeServer(servers: Servers, { id, server }: { readonly id: string; readonly server: string }): void {
  if (server !== "") servers.set(id, (servers.get(id) ?? new Set()).add(server));
}

/**
 * What versions of one resource have in common: its id, but for that of a second server. One without an address may be of any.
 */
export function versionKey(firstServers: Map<string, string>, id: string, fullUrl: string | undefined): string {
  const server = serverOf(fullUrl);
  if (server === "") return id;
  const first = firstServers.get(id) ?? server;
  firstServers.set(id, first);
  return first === server ? id : `${server} ${id}`;
}

/** Who is meant by an id: itself, or its address where two servers have it; undefined if it does not say which. */
export function personOf(
  servers: Servers,
  { id, server }: { readonly id: string; readonly server: string },
): string | undefined {
  if ((servers.get(id)?.size ?? 0) < 2) return id;
  return server === "" ? undefined : `${server}/Patient/${id}`;
}
