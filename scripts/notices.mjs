/**
 * Notices of the licences of third-party code inside a bundle: a plugin for tsdown and Vite that sees which packages the
 * modules of a build come from, and writes THIRD-PARTY-NOTICES.txt beside it: their licence files, equal texts once, and what
 * else their files say of copyright, since bundlers drop comments. A package without a licence file gets what its readme says,
 * or the text of the licence that its package.json names; one without any stops the build.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { LICENCE_TEXTS } from "./licence-texts.mjs";

export const NOTICES_FILE = "THIRD-PARTY-NOTICES.txt";

/** Packages whose published files hold code of others, which no bundler can tell apart. */
const INLINED = { docx: ["fflate", "nanoid"] };

/** Collects the packages of every build it takes part in; with `write`, the build gets the file of all seen so far. */
export function thirdPartyNotices({ seen = new Map(), write = true } = {}) {
  return {
    name: "third-party-notices",
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        for (const id of Object.keys(chunk.modules ?? {})) {
          const path = id.replace(/^\0/, "").split("?")[0];
          const folder = packageFolder(path);
          if (folder === null) continue;
          for (const one of [folder, ...inlinedBy(folder)]) if (!seen.has(one)) seen.set(one, new Set());
          if (existsSync(path)) for (const text of headersOf(readFileSync(path, "utf8"))) seen.get(folder).add(text);
        }
      }
      if (write) this.emitFile({ type: "asset", fileName: NOTICES_FILE, source: noticesOf(seen) });
    },
  };
}

/** The folder of the package that a module of node_modules belongs to, or null. */
function packageFolder(path) {
  const found = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(path);
  return found === null || !existsSync(join(found[1], "package.json")) ? null : found[1];
}

function inlinedBy(folder) {
  return (INLINED[describe(folder).name] ?? []).map((name) => {
    const places = [join(folder, "node_modules", name), join(dirname(folder), name)];
    const found = places.find((place) => existsSync(place));
    if (found === undefined) throw new Error(`${folder}: holds code of ${name}, whose licence is not found.`);
    return found;
  });
}

/** Comments of a file that state a copyright, without their stars. */
export function headersOf(text) {
  const comments = text.match(/\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n)+/gm) ?? [];
  return comments
    .map((comment) =>
      comment
        .replace(/^\/\*[*!]*|\**\*\/$/g, "")
        .split("\n")
        .map((line) => line.replace(/^\s*(\*|\/\/)? ?/, "").trimEnd())
        .join("\n")
        // The head of every file under this licence, which its package holds as a whole.
        .replace(/^\s*@license Apache-2\.0\n[\s\S]*?limitations under the License\.\n*/, "")
        .trim(),
    )
    .filter((comment) => /copyright\s+(\(c\)|©|\d{4})|\(c\) copyright/i.test(comment));
}

/** Names and versions of the packages above each text, in alphabetical order; packages are folders with the headers of their files. */
export function noticesOf(packages) {
  const byText = new Map();
  const described = [...packages].map(([folder, headers]) => ({ folder, headers, ...describe(folder) }));
  described.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.version < b.version ? -1 : 1));
  for (const { folder, headers, name, version, license, author } of described) {
    const licence = licenceTexts(folder, name, license, author);
    for (const text of [...licence, ...[...headers].sort()]) {
      const names = byText.get(text) ?? new Set();
      byText.set(text, names.add(`${name} ${version} (${license})`));
    }
  }
  const parts = [...byText].map(([text, names]) => `${[...names].join("\n")}\n\n${text}`);
  const head =
    "This software contains code of the packages below, under the licences and with the notices that follow their names.";
  return `${[head, ...parts].join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

function describe(folder) {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

function licenceTexts(folder, name, license, author) {
  const read = (file) => readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim();
  const files = readdirSync(folder).sort();
  const texts = files.filter((file) => /^((un)?licen[cs]e|copying|notice)([.-].*)?$/i.test(file)).map(read);
  if (texts.length > 0) return texts;
  const readme = files.filter((file) => /^readme/i.test(file)).map(read)[0] ?? "";
  const section = /^#+ *licen[cs]e *\n(?<text>[\s\S]*?)(?=\n#|$(?![\s\S]))/im.exec(readme)?.groups?.text.trim() ?? "";
  if (/permission .*granted/i.test(section.replaceAll("\n", " "))) return [section];
  const standard = LICENCE_TEXTS[license];
  if (standard === undefined) {
    throw new Error(
      `${folder}: ${name} is bundled, but its licence is not found. Remove it, or add the licence's text.`,
    );
  }
  const holder = (typeof author === "string" ? author : author?.name) ?? `the authors of ${name}`;
  return [license === "Unlicense" ? standard : `Copyright (c) ${holder}\n\n${standard}`];
}
