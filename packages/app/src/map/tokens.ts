/** Colours by name, for the page, the style sheet of the map, files and dot renderers alike. */
import { customProperties, FONT_STACK, greyTokens, namedColours, type Tokens, tokensOf } from "@trajectory-maps/report";

/** The explorer's page is water, not paper: colours that differ from the report's. */
const WATER = {
  light: { page: "#F4F6F8", sunken: "#F1F3F6" },
  dark: { page: "#0E1115", sunken: "#1D2127" },
} as const;
const SHADOW = {
  light: "0 1px 3px rgb(20 24 29 / 10%),0 6px 24px rgb(20 24 29 / 12%)",
  dark: "0 1px 3px rgb(0 0 0 / 50%),0 8px 24px rgb(0 0 0 / 50%)",
};

/** The colours of a theme. */
export function mapTokens(theme: "light" | "dark"): Tokens {
  return { ...tokensOf(theme), ...WATER[theme] };
}

/** The tokens of a theme as custom properties whose names begin with `prefix`. */
export function tokenDeclarations(theme: "light" | "dark", prefix: string): string {
  const colours = namedColours(mapTokens(theme)).map(([name, colour]) => `${prefix}${name}:${colour}`);
  return [`color-scheme:${theme}`, `${prefix}shadow:${SHADOW[theme]}`, ...colours].join(";");
}

/** Custom properties that take the hue out of a map, whatever the theme. */
export function greyDeclarations(prefix: string): string {
  return namedColours(greyTokens(customProperties(prefix)))
    .filter(([name, colour]) => colour !== `var(${prefix}${name})`)
    .map(([name, colour]) => `${prefix}${name}:${colour}`)
    .join(";");
}

/** The style sheet that gives a page the tokens. Paper is light. */
export function pageTokens(): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(
    `:root{${tokenDeclarations("light", "--")};--font:${FONT_STACK}}` +
      `@media not print{:root[data-theme=dark]{${tokenDeclarations("dark", "--")}}}`,
  );
  return sheet;
}
