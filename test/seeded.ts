/**
 * Property tests draw the same cases in every `npm test`, so that a run is green or red for a reason in the code;
 * `DTM_SEED=random npm test` and the slow suite draw others, and a failure prints the seed that shows it again.
 */
import process from "node:process";
import fc from "fast-check";

const asked = process.env.DTM_SEED ?? "2016";
const seed = asked === "random" ? Math.floor(Math.random() * 2 ** 31) : Number(asked);
if (!Number.isInteger(seed)) throw new Error(`DTM_SEED: expected a whole number or "random", received "${asked}"`);
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
