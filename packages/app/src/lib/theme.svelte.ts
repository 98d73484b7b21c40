/** The theme that is seen, "system" resolved; reactive inside effects and templates. */
import { explorer } from "../state/explorer.svelte.ts";

const query = typeof matchMedia === "undefined" ? null : matchMedia("(prefers-color-scheme: dark)");
let systemIsDark = $state(query?.matches ?? false);
query?.addEventListener("change", (event) => {
  systemIsDark = event.matches;
});

export function shownTheme(): "light" | "dark" {
  if (explorer.theme !== "system") return explorer.theme;
  return systemIsDark ? "dark" : "light";
}
