/** The bundled cohort, read as every example reads it. */
import { readFileSync } from "node:fs";
import { readCohort } from "@trajectory-maps/core";

const text = (name) => readFileSync(new URL(`pbc/${name}`, import.meta.url), "utf8");

/** Bilirubin of 312 people with primary biliary cholangitis, modelled on the log scale. */
export function readPbc() {
  return readCohort(text("visits.csv"), {
    columns: { id: "id", time: "time", value: "bili" },
    marker: { name: "bilirubin", unit: "mg/dl", timeUnit: "years", transform: "log" },
    file: "visits.csv",
  });
}

/** The table of visits, as text: bilirubin, albumin, prothrombin time and more in columns of their own. */
export function visitsText() {
  return text("visits.csv");
}

/** The table of individuals, as text. */
export function subjectsText() {
  return text("subjects.csv");
}

/** Whether a file is the program that was started. */
export function isMain(url) {
  return process.argv[1] !== undefined && url === new URL(`file://${process.argv[1]}`).href;
}
