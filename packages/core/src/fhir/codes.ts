/** Codes of markers and conditions: bare, or with the system that they belong to where several systems are mixed. */
import type { CodeableConcept } from "fhir/r4";
import { DtmError, showReceived } from "../errors.ts";

/** Short names of systems. */
const SYSTEMS: Readonly<Record<string, string>> = {
  loinc: "http://loinc.org",
  snomed: "http://snomed.info/sct",
  sct: "http://snomed.info/sct",
  icd10: "http://hl7.org/fhir/sid/icd-10",
  icd10cm: "http://hl7.org/fhir/sid/icd-10-cm",
  rxnorm: "http://www.nlm.nih.gov/research/umls/rxnorm",
};

export interface WantedCode {
  readonly code: string;
  /** Default: any, as long as it is one. */
  readonly system?: string;
  /** Systems in which the code was found. */
  readonly seen: Set<string>;
}

/** "2160-0", "loinc|2160-0" or "http://loinc.org|2160-0". */
export function wantedCode(text: string): WantedCode {
  const at = text.lastIndexOf("|");
  const code = text.slice(at + 1).trim();
  if (code === "") {
    throw new DtmError("option", `Expected a code such as 2160-0 or loinc|2160-0, received "${showReceived(text)}".`);
  }
  if (at < 0) return { code, seen: new Set() };
  const system = text.slice(0, at).trim();
  return { code, system: SYSTEMS[system.toLowerCase()] ?? system, seen: new Set() };
}

/** Whether a concept has one of the codes; the system is noted. */
export function hasCode(concept: CodeableConcept | undefined, wanted: readonly WantedCode[]): boolean {
  let has = false;
  for (const { code, system = "" } of concept?.coding ?? []) {
    for (const want of wanted) {
      if (want.code !== code || (want.system !== undefined && want.system !== system)) continue;
      want.seen.add(system);
      has = true;
    }
  }
  return has;
}

/** Refuses codes that were found in more than one system. */
export function refuseMixed(wanted: readonly WantedCode[]): void {
  for (const { code, system, seen } of wanted) {
    if (system !== undefined || seen.size < 2) continue;
    const systems = [...seen].map((name) => `"${showReceived(name)}"`).sort();
    throw new DtmError(
      "mixed-systems",
      `Expected the code ${code} of one system, received it of ${systems.join(" and ")}. Say which: ${writtenCode([...seen].sort()[0], code)}.`,
    );
  }
}

/** The code with its system, as `wantedCode` reads it. */
export function writtenCode(system: string, code: string): string {
  return system === "" ? code : `${shortName(system)}|${code}`;
}

function shortName(system: string): string {
  return Object.keys(SYSTEMS).find((name) => SYSTEMS[name] === system) ?? system;
}
