/** Whom a resource is about: references as servers, bulk exports and Bundles write them. */
import type { Reference } from "fhir/r4";

/** The id of a patient, or why there is none. */
export type Subject = { readonly id: string } | { readonly reason: "no-subject" | "not-a-patient" };

/** `Patient/x`, an absolute address, either with `/_history/2` behind it, `urn:uuid:x`, or an identifier alone. */
export function subjectOf(subject: Reference | undefined, patients: ReadonlyMap<string, string> | undefined): Subject {
  const reference = subject?.reference?.trim().replace(/\/_history\/[^/]*$/, "");
  if (reference === undefined || reference === "") {
    const value = subject?.identifier?.value;
    const isPatient = (subject?.type ?? "Patient") === "Patient";
    if (value !== undefined && isPatient) return { id: value };
    return { reason: isPatient ? "no-subject" : "not-a-patient" };
  }
  const known = patients?.get(reference);
  if (known !== undefined) return { id: known };
  const urn = /^urn:(?:uuid|oid):(.+)$/.exec(reference);
  if (urn !== null) return (subject?.type ?? "Patient") === "Patient" ? { id: urn[1] } : { reason: "not-a-patient" };
  const search = /^Patient\?identifier=(?:[^|]*\|)?(.+)$/.exec(reference);
  if (search !== null) return { id: search[1] };
  const named = /(?:^|\/)([A-Z][A-Za-z]+)\/([^/?#]+)$/.exec(reference);
  return named?.[1] === "Patient" ? { id: named[2] } : { reason: "not-a-patient" };
}
