/** What stands out on the map of an outcome: one test decides. */
import type { Association } from "@trajectory-maps/core";
import { isRelated } from "@trajectory-maps/report";
import type { ShareSurface } from "../worker/api.ts";

/** A share surface on which places stand out only where the one test of its outcome finds a relation: the band is no second test. */
export function outlined(surface: ShareSurface | null, association: Association | null): ShareSurface | null {
  if (surface === null) return null;
  const tested = association?.outcomes.find(({ outcome }) => outcome === surface.outcome);
  return tested !== undefined && isRelated(tested)
    ? surface
    : { ...surface, outside: new Int8Array(surface.outside.length) };
}
