import { mount } from "svelte";
import App from "./App.svelte";
import { pageTokens } from "./map/tokens.ts";
import "./base.css";

document.adoptedStyleSheets = [pageTokens()];
mount(App, { target: document.getElementById("app")! });
