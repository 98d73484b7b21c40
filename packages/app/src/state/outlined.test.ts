import type { Association } from "@trajectory-maps/core";
import { expect, it } from "vitest";
import type { ShareSurface } from "../worker/api.ts";
import { outlined } from "./outlined.ts";

it("places stand out only where the test of the outcome finds a relation", () => {
  const surface = { outcome: "death", share: Float64Array.of(0.2, 0.9), outside: Int8Array.of(0, 1) } as ShareSurface;
  const tested = (outcome: string, holm: number) =>
    ({ outcomes: [{ outcome, adjusted: { holm, bh: holm } }] }) as unknown as Association;
  expect(outlined(surface, tested("death", 0.01))?.outside).toEqual(surface.outside);
  // The band was left by chance, or nobody has asked: the share is shown, nothing stands out.
  for (const association of [tested("death", 0.067), tested("death", Number.NaN), tested("stroke", 0.01), null]) {
    const shown = outlined(surface, association);
    expect(shown?.outside).toEqual(Int8Array.of(0, 0));
    expect(shown?.share).toBe(surface.share);
  }
  expect(outlined(null, tested("death", 0.01))).toBeNull();
});
