/** Colours by name, for style sheet, files and dot renderers alike. */
import { type Tokens, tokensOf } from "@trajectory-maps/report";

/** The explorer's page is water, not paper: colours that differ from the report's. */
const WATER = {
  light: { page: "#F4F6F8", sunken: "#F1F3F6" },
  dark: { page: "#0E1115", sunken: "#1D2127" },
} as const;

/** Every token of a theme with its colour, by the names custom properties have after "--tm-". */
export function tokenColours(theme: "light" | "dark"): ReadonlyMap<string, string> {
  const tokens: Tokens = tokensOf(theme);
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(tokens) as [string, string | readonly string[]][]) {
    const key = name.replace(/([A-Z0-9])/g, "-$1").toLowerCase();
    if (typeof value === "string") found.set(key, value);
    else value.forEach((colour, k) => void found.set(`${key}-${k}`, colour));
  }
  found.set("page", WATER[theme].page);
  found.set("sunken", WATER[theme].sunken);
  return found;
}
