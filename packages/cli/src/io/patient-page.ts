/** The page for one patient: the one that the explorer's package builds, with a model and what is said of it put inside. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Cohort, TrajectoryModel } from "@trajectory-maps/core";
import { embedPlaces } from "@trajectory-maps/core/models";
import { type PageAbout, type PatientModel, patientModel, writePatientModel } from "@trajectory-maps/core/study";
import { FileError } from "../exit-codes.ts";
import { isFolder } from "./read.ts";
import { hasVisits, openRun } from "./run-folder.ts";
import { readGroupRegions } from "./run-groups.ts";
import type { Served } from "./served-files.ts";

/** What a page for patients may hold of a model file or a run: of a run also groups and, where it keeps its visits, times of follow-up. */
export async function patientModelOf(path: string, model: TrajectoryModel, cohort?: Cohort): Promise<PatientModel> {
  if (!isFolder(path)) return patientModel(model);
  const groups = readGroupRegions(path, model);
  const people = cohort ?? (hasVisits(path) ? (await openRun(path)).read.cohort : undefined);
  return patientModel(model, {
    ...(groups && { groups }),
    ...(people && { places: embedPlaces(model, people) }),
  });
}

/** The built page without a model. */
function emptyPage(): string {
  try {
    const path = createRequire(import.meta.url).resolve("@trajectory-maps/app/calculator.html");
    if (existsSync(path)) return readFileSync(path, "utf8");
  } catch {
    // Said below.
  }
  throw new FileError(
    "The page for one patient is not built. In the repository, any npm script builds it: npm run demo.",
  );
}

/** The page of a patient model. */
export function patientPage(patient: PatientModel, about: PageAbout, page = emptyPage()): string {
  const put = (html: string, id: string, json: string) => {
    const mark = new RegExp(`(<script type="application/json" id="${id}">)[^<]*`);
    // A text in the JSON must not end the script it stands in.
    return html.replace(mark, (_, open: string) => open + json.replaceAll("<", "\\u003c"));
  };
  const titled =
    about.title === undefined ? page : page.replace(/<title>[^<]*/, () => `<title>${escaped(about.title)}`);
  return put(put(titled, "about", JSON.stringify(about)), "model", writePatientModel(patient));
}

const escaped = (text = "") => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** The pages of several models by the paths they are served at; the first is also at /calculator. */
export function patientPages(models: ReadonlyMap<string, PatientModel>, version: string): Map<string, Served> {
  const page = emptyPage();
  const [, policy = ""] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page) ?? [];
  const pathOf = (name: string) => `/calculator/${encodeURIComponent(name)}`;
  const files = Array.from(models, ([name, patient]): [string, Served] => {
    const others = Array.from(models.keys(), (other) => ({ name: other, href: pathOf(other) }));
    const about = { title: `One patient: ${name}`, version, ...(others.length > 1 && { others }) };
    const bytes = () => Buffer.from(patientPage(patient, about, page));
    // Its script stands in the page, by its hash: the policy is the page's own.
    return [pathOf(name), { type: "text/html; charset=utf-8", bytes, policy: `${policy}; frame-ancestors 'none'` }];
  });
  return new Map([...files, ...files.slice(0, 1).map(([, file]): [string, Served] => ["/calculator", file])]);
}
