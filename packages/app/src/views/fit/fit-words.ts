/** Sentences about a fit. */
import type { TrajectoryModel } from "@trajectory-maps/core";
import { describeNoise } from "@trajectory-maps/core/models";
import { type FitEnd, fitEnd } from "@trajectory-maps/core/study";
import { capital, significant, whole } from "@trajectory-maps/report";
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

/** The end of a fit, as its own verdict says it; one that was stopped has not settled. */
export function endOf({ model: { record }, finished }: Fitted): FitEnd {
  return finished ? fitEnd(record) : "Not settled";
}

/** The noise of each marker in words and, where the fit chose it, why. */
export function noiseText({ markers }: TrajectoryModel): string {
  return markers
    .map(({ noise, marker }) => {
      const of = markers.length > 1 ? `${marker.name}: ` : "";
      const reason = noise.reason === undefined ? "" : ` ${noise.reason}`;
      return `${capital(of + describeNoise(noise, significant, marker.timeUnit))}.${reason}`;
    })
    .join(" ");
}

/** How a fit goes on, from the mean gain of its last passes: one that loses does not improve. Empty while unknown. */
export function gainSentence(gain: number | null): string {
  if (gain === null) return "";
  return gain > 0 ? `The fit improves by ${gainText(gain)} per pass` : "The fit goes up and down";
}

export interface FitTitle {
  readonly kind: "good" | "warn";
  readonly title: string;
  readonly text: string;
}

/** How the fit ended and what that means; `trace` holds its last bounds. */
export function fitTitle(fitted: Fitted, trace: readonly number[]): FitTitle {
  const { iterations } = fitted.model.record;
  const end = endOf(fitted);
  if (end === "Settled") {
    return {
      kind: "good",
      title: `Settled after ${whole(iterations)} ${iterations === 1 ? "pass" : "passes"}.`,
      text: "",
    };
  }
  if (end === "Stopped") {
    return {
      kind: "warn",
      title: "Stopped:",
      text: `after ${whole(iterations)} passes the noise was at its lower limit, so no map fits these data best. Look for copied or interpolated values.`,
    };
  }
  const gain = recentGain(trace);
  // The record's own verdict, which stands beside this one, may have a number: the gain of its last pass alone.
  const isTold = fitted.finished && / by \d/.test(fitted.model.record.verdict);
  const improving = gain === null || isTold ? "" : ` by ${gainText(gain)} per pass`;
  const was = gain !== null && gain <= 0 ? "still going up and down" : `still improving${improving}`;
  return {
    kind: "warn",
    title: "Not settled:",
    text: `the fit was ${was} when it stopped after ${whole(iterations)}. The map may change.`,
  };
}
