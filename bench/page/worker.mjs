/** Fits a simulated cohort with the library as a page has it. */
import { timedFit } from "./fit.mjs";

addEventListener("message", ({ data }) => postMessage(timedFit(data)));
