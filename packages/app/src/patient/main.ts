/** The page for one patient alone: the model stands in the page, and nothing is asked of anybody. */
import { type PageAbout, readPatientModel } from "@trajectory-maps/core/study";
import { mount } from "svelte";
import { pageTokens } from "../map/tokens.ts";
import PatientView from "./PatientView.svelte";
import { makePatientStudy } from "./patient-study.ts";
import "../base.css";
import "./page.css";

const dark = matchMedia("(prefers-color-scheme: dark)");
const apply = () => {
  document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
};
apply();
dark.addEventListener("change", apply);
document.adoptedStyleSheets = [pageTokens()];

const textOf = (id: string) => document.getElementById(id)?.textContent ?? "";
const target = document.getElementById("app")!;
try {
  const about = JSON.parse(textOf("about")) as PageAbout;
  const study = makePatientStudy(readPatientModel(textOf("model")));
  mount(PatientView, { target, props: { study, about } });
} catch (error) {
  target.textContent = `This page holds no model that can be read. ${error instanceof Error ? error.message : String(error)}`;
}
