/**
 * Notices of the licences of third-party code inside a bundle: a plugin for tsdown and Vite that sees which packages the
 * modules of a build come from, and writes their licence files, equal texts once, to THIRD-PARTY-NOTICES.txt beside it.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const NOTICES_FILE = "THIRD-PARTY-NOTICES.txt";

/** Collects the packages of every build it takes part in; with `write`, the build gets the file of all seen so far. */
export function thirdPartyNotices({ seen = new Set(), write = true } = {}) {
  return {
    name: "third-party-notices",
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        for (const id of Object.keys(chunk.modules ?? {})) {
          const folder = packageFolder(id);
          if (folder !== null) seen.add(folder);
        }
      }
      if (write) this.emitFile({ type: "asset", fileName: NOTICES_FILE, source: noticesOf(seen) });
    },
  };
}

/** The folder of the package that a module of node_modules belongs to, or null. */
function packageFolder(id) {
  const path = id.replace(/^\0/, "").split("?")[0];
  const found = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(path);
  return found === null || !existsSync(join(found[1], "package.json")) ? null : found[1];
}

/** Names and versions of the packages above each text, in alphabetical order. */
export function noticesOf(folders) {
  const byText = new Map();
  const describe = (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const packages = [...folders].map((folder) => ({ folder, ...describe(folder) }));
  packages.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { folder, name, version, license } of packages) {
    for (const text of licenceTexts(folder, name, license)) {
      byText.set(text, [...(byText.get(text) ?? []), `${name} ${version} (${license})`]);
    }
  }
  const parts = [...byText].map(([text, names]) => `${names.join("\n")}\n\n${text}`);
  const head =
    "This software contains code of the packages below, under the licences and with the notices that follow their names.";
  return `${[head, ...parts].join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

function licenceTexts(folder, name, license) {
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)([.-].*)?$/i.test(file));
  const texts = files.sort().map((file) => readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim());
  if (texts.length > 0) return texts;
  if (typeof license === "string") return [`No licence file; package.json names the licence ${license}.`];
  throw new Error(
    `${dirname(folder)}: package ${name} is bundled but names no licence. Remove it, or add its licence.`,
  );
}
