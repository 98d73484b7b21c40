/** Which of two resources of one id is the newer: by number of version, else by when it was last updated. */
import type { Meta } from "fhir/r4";

/** Above 0 if `a` is newer than `b`, 0 if nothing says so. */
export function compareVersions(a: Meta | undefined, b: Meta | undefined): number {
  const [one, other] = [a?.versionId, b?.versionId].map((text) =>
    /^\d+$/.test(text ?? "") ? Number(text) : undefined,
  );
  if (one !== undefined && other !== undefined && one !== other) return one - other;
  const [then, before] = [a?.lastUpdated, b?.lastUpdated].map((text) =>
    text === undefined ? Number.NaN : Date.parse(text),
  );
  return then > before ? 1 : then < before ? -1 : 0;
}
