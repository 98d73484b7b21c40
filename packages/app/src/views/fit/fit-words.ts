/** Sentences about a fit. */
import { type FitEnd, fitEnd, whole } from "@trajectory-maps/report";
import { recentGain } from "../../charts/trace.ts";
import type { Fitted } from "../../worker/api.ts";

/** Two digits, without an exponent where people would not write one. */
export function gainText(gain: number): string {
  const size = Math.abs(gain);
  const text = size >= 100 ? whole(size) : size >= 1e-4 ? String(Number(size.toPrecision(2))) : "less than 0.0001";
  return gain < 0 && size >= 1e-4 ? `−${text}` : text;
}

/** "about 12 seconds left"; empty while unknown. */
export function leftText(seconds: number | null): string {
  if (seconds === null) return "";
  if (seconds >= 90) return `about ${Math.round(seconds / 60)} minutes left`;
  const whole = Math.max(1, Math.round(seconds));
  return `about ${whole} second${whole === 1 ? "" : "s"} left`;
}

/** The end of a fit, as its own verdict says it; one that was stopped has not. */
export function endOf({ model: { record }, finished }: Fitted): FitEnd {
  return finished ? fitEnd(record) : "Not converged";
}

export interface Verdict {
  readonly kind: "good" | "warn";
  readonly title: string;
  readonly text: string;
}

/** The verdict in words: whether the fit converged, whether starts agree, what it means; `trace` holds its last bounds. */
export function verdictOf(fitted: Fitted, trace: readonly number[]): Verdict {
  const { model, starts = [] } = fitted;
  const { iterations } = model.record;
  const end = endOf(fitted);
  if (end === "Converged" || end === "Settled") {
    const same = starts.filter(({ sameMap }) => sameMap).length;
    const text =
      starts.length < 2
        ? ""
        : same === starts.length
          ? `${same} of ${starts.length} starts agree on the same map.`
          : `${same} of ${starts.length} starts agree on the same map. The starts ended on different maps of nearly equal quality. Treat small differences in place as noise.`;
    // A start that ended far below the best one tells nothing about the best.
    const worse = same < starts.length && starts.every(({ sameMap, similarBound }) => sameMap || !similarBound);
    return {
      kind: "good",
      title: `${end} after ${whole(iterations)} ${iterations === 1 ? "pass" : "passes"}.`,
      text: worse ? `${same} of ${starts.length} starts agree on the same map; the others ended on worse ones.` : text,
    };
  }
  if (end === "Stopped") {
    return {
      kind: "warn",
      title: "Stopped:",
      text: `after ${whole(iterations)} passes the noise was at its lower limit, so no map fits these data best. Look for copied or interpolated values.`,
    };
  }
  if (end === "Not settled") {
    return {
      kind: "warn",
      title: "Not settled:",
      text: "the bound still moved in the last of the planned passes. The map may change.",
    };
  }
  const gain = recentGain(trace);
  const improving = gain === null ? "" : ` by ${gainText(gain)} per pass`;
  return {
    kind: "warn",
    title: "Not converged:",
    text: `the fit was still improving${improving} when it stopped after ${whole(iterations)}. The map may change.`,
  };
}
