/**
 * Colours and type of report and figures. A figure takes one of three themes: "light" and "dark" write colours out, so
 * that a file stands alone; "page" writes custom properties, so that a figure inside a page follows its reader's system.
 */

export type Theme = "light" | "dark" | "page";

export const FONT_STACK = 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif';

/** Named colours of one theme. Lists are sequences: land from low to high, groups A to F, ramps from end to end. */
export interface Tokens {
  readonly page: string;
  readonly surface: string;
  readonly sunken: string;
  readonly line: string;
  readonly line2: string;
  readonly ink: string;
  readonly ink2: string;
  readonly ink3: string;
  readonly accent: string;
  readonly accentSoft: string;
  readonly good: string;
  readonly goodSoft: string;
  readonly warn: string;
  readonly warnSoft: string;
  readonly warnLine: string;
  readonly bad: string;
  readonly badSoft: string;
  readonly badLine: string;
  readonly iso: string;
  readonly coast: string;
  readonly land: readonly string[]; // [9]
  readonly group: readonly string[]; // [6]
  /** Categories that are no groups, so that nobody takes them for one. */
  readonly category: readonly string[]; // [6]
  readonly sequential: readonly string[]; // [7]
  /** One hue beneath dots of ink, which must be seen on all of it. */
  readonly terrain: readonly string[]; // [5]
  readonly diverging: readonly string[]; // [7]
}

const hexes = (text: string) => text.split(" ").map((hex) => `#${hex}`);

const LIGHT: Tokens = {
  page: "#FFFFFF",
  surface: "#FFFFFF",
  sunken: "#F4F6F8",
  line: "#E1E5EA",
  line2: "#C6CDD6",
  ink: "#14181D",
  ink2: "#46505C",
  ink3: "#5D6875",
  accent: "#0B5CAD",
  accentSoft: "#E5EFFA",
  good: "#17603F",
  goodSoft: "#E3F3EA",
  warn: "#7A4B00",
  warnSoft: "#FFF3D9",
  warnLine: "#EBCB8B",
  bad: "#A3232B",
  badSoft: "#FCEBEC",
  badLine: "#EEAEB2",
  iso: "#8F9BA9",
  coast: "#9AA5B2",
  land: hexes("D3D9E0 D9DFE5 DFE4E9 E5E9ED EAEDF1 EFF1F4 F4F6F7 F8F9FA FCFCFD"),
  group: hexes("0A3C82 1C9082 A67C06 9A66E6 43290A B02850"),
  category: hexes("2A86BE C66A00 3A7D2C C24AA8 6B7280 6F7D14"),
  sequential: hexes("EEF4FA D3E3F2 AFCCE7 82AFD8 518DC4 2768A8 0C4583"),
  terrain: hexes("EEF4FA D3E3F2 AFCCE7 82AFD8 518DC4"),
  diverging: hexes("9C5A00 D9A45B F1E3CF F2F3F5 CFE3E0 6DB3AB 0F6F66"),
};

const DARK: Tokens = {
  page: "#0E1115",
  surface: "#16191D",
  sunken: "#1D2127",
  line: "#2A3038",
  line2: "#434C57",
  ink: "#EEF1F4",
  ink2: "#B7BFC9",
  ink3: "#929CA8",
  accent: "#7DB4F5",
  accentSoft: "#1B2B3E",
  good: "#7FD1A5",
  goodSoft: "#16281F",
  warn: "#F2C879",
  warnSoft: "#2C2413",
  warnLine: "#5C4A1E",
  bad: "#F1949A",
  badSoft: "#331A1D",
  badLine: "#7A3A3F",
  iso: "#66717E",
  coast: "#5A6572",
  land: hexes("3A434E 353E48 303842 2B323B 272D35 23282F 1F242A 1C2026 191D22"),
  group: hexes("4683EC 37D8BA FFB923 D0B6FF 849129 D0648A"),
  category: hexes("7CC8F2 FF9A4D 74BF68 F08AD8 B4BCC8 D3E37A"),
  sequential: hexes("17222F 1B324B 1F456C 275C90 3B7BBA 68A2DD A9CDF3"),
  terrain: hexes("15202C 192C40 1D3954 224768 28567E"),
  diverging: hexes("9A6C2B 75582F 3E3830 22272D 2A3A3A 33655F 2F877C"),
};

/** The report's page is its surface: figures there need the page colour behind them. */
const pageOf = (tokens: Tokens): Tokens => ({ ...tokens, surface: tokens.page });

const dashed = (name: string) => name.replace(/([A-Z0-9])/g, "-$1").toLowerCase();

/** Every colour of a theme by its name: "ink-2", "group-0". */
export function namedColours(tokens: Tokens): [string, string][] {
  return (Object.entries(tokens) as [string, string | readonly string[]][]).flatMap(([name, value]) =>
    typeof value === "string"
      ? [[dashed(name), value]]
      : value.map((colour, k): [string, string] => [`${dashed(name)}-${k}`, colour]),
  );
}

/** Tokens that follow the page's custom properties, whose names begin with `prefix`. */
export function customProperties(prefix: string): Tokens {
  const entries = Object.entries(LIGHT).map(([name, value]) => {
    const property = `${prefix}${dashed(name)}`;
    return [
      name,
      typeof value === "string" ? `var(${property})` : value.map((_: string, k: number) => `var(${property}-${k})`),
    ];
  });
  return Object.fromEntries(entries) as Tokens;
}

/** Declarations of all custom properties, for a style sheet. */
export function themeDeclarations(theme: "light" | "dark"): string {
  const tokens = pageOf(theme === "light" ? LIGHT : DARK);
  return namedColours(tokens)
    .map(([name, value]) => `--${name}:${value}`)
    .join(";");
}

/** The colours of a theme. */
export function tokensOf(theme: Theme): Tokens {
  if (theme === "page") return customProperties("--");
  return theme === "light" ? LIGHT : DARK;
}

/** The same without hue, for a map that should not be used: groups in one grey, ramps in the greys of the land. */
export function greyTokens(tokens: Tokens): Tokens {
  const { land, ink3 } = tokens;
  const ramp = tokens.sequential.map((_, k, { length }) => land[Math.round(((length - 1 - k) * 8) / (length - 1))]);
  const quiet = (colours: readonly string[]) => colours.map(() => ink3);
  return {
    ...tokens,
    group: quiet(tokens.group),
    category: quiet(tokens.category),
    sequential: ramp,
    terrain: ramp.slice(0, tokens.terrain.length),
    diverging: ramp,
  };
}

/** Past six groups hues come again with hollow badges: colour and whether the badge is filled. */
export function groupStyle(tokens: Tokens, rank: number): { readonly colour: string; readonly hollow: boolean } {
  return { colour: tokens.group[rank % tokens.group.length], hollow: rank >= tokens.group.length };
}
