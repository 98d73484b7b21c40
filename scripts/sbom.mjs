/**
 * npm run sbom [-- FILE]: the bill of materials of the project in CycloneDX, as npm reads it from package-lock.json, into
 * dist/sbom.cdx.json. The same lock file and build give the same bytes. npm knows what is installed, not what is bundled, so
 * the scope of each package is set by the notices of the builds (scripts/notices.mjs):
 *   required   is inside a published package (which, is among its properties), or is installed with one
 *   optional   is installed with the command line where it can be, and not missed where it cannot
 *   excluded   builds and tests the project and reaches nobody else
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** Where each published package tells what is inside it; the pages of the explorer hold what its served files hold. */
export const NOTICES = {
  core: ["dist/THIRD-PARTY-NOTICES.txt"],
  report: ["dist/THIRD-PARTY-NOTICES.txt"],
  app: ["dist/served/THIRD-PARTY-NOTICES.txt", "dist/map/THIRD-PARTY-NOTICES.txt"],
  cli: ["dist/THIRD-PARTY-NOTICES.txt"],
};

/** Packages that a text of notices names, as name@version. */
export function packagesIn(notices) {
  return [...notices.matchAll(/^((?:@[^\s/@]+\/)?[^\s/@]+) (\d\S*) \([^\n]+\)$/gm)].map(
    ([, name, at]) => `${name}@${at}`,
  );
}

/** Published packages by the package of others that is inside them. */
export function bundledIn() {
  const found = new Map();
  for (const [published, files] of Object.entries(NOTICES)) {
    for (const file of files) {
      for (const ref of packagesIn(readFileSync(join(ROOT, "packages", published, file), "utf8"))) {
        found.set(ref, (found.get(ref) ?? new Set()).add(published));
      }
    }
  }
  return found;
}

export function billOfMaterials() {
  const bill = npmBill();
  const bundled = bundledIn();
  const refs = new Map(bill.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const optional = new Set(bill.components.filter(({ scope }) => scope === "optional").map((one) => one["bom-ref"]));
  const named = licencesOfLock();
  const isDevelopment = ({ properties = [] }) => properties.some(({ name }) => name === "cdx:npm:package:development");

  // Numbers and times of one run, and names of the folder, say nothing of what is inside.
  delete bill.serialNumber;
  delete bill.metadata.timestamp;
  bill.metadata.tools = [{ vendor: "npm", name: "cli" }];
  bill.metadata.component.name = nameOf(bill.metadata.component);
  bill.components = bill.components
    .map((component) => {
      const ref = component["bom-ref"];
      const inside = [...(bundled.get(ref) ?? [])].sort();
      const installed = !isDevelopment(component);
      const scope =
        inside.length > 0 ? "required" : !installed ? "excluded" : optional.has(ref) ? "optional" : "required";
      // npm leaves out what is no identifier of SPDX, such as "SEE LICENSE IN LICENSE.md".
      const licenses = component.licenses ?? (named.has(ref) ? [{ license: { name: named.get(ref) } }] : []);
      const told = inside.map((value) => ({ name: "trajectory-maps:bundled-in", value }));
      return {
        ...component,
        name: nameOf(component),
        scope,
        licenses,
        properties: [...(component.properties ?? []), ...told],
      };
    })
    .sort((a, b) => compare(a["bom-ref"], b["bom-ref"]));
  bill.dependencies = [...refs]
    .map(([ref, dependsOn]) => ({ ref, dependsOn: [...dependsOn].sort(compare) }))
    .sort((a, b) => compare(a.ref, b.ref));
  return bill;
}

function npmBill() {
  // npm is a .cmd file on Windows and needs a shell.
  const shell = process.platform === "win32";
  const args = ["sbom", "--sbom-format=cyclonedx", "--package-lock-only"];
  const { status, stdout, stderr } = spawnSync("npm", args, { cwd: ROOT, encoding: "utf8", maxBuffer: 1 << 28, shell });
  if (status !== 0) throw new Error(`npm sbom failed: ${stderr}`);
  return JSON.parse(stdout);
}

/** What package.json of each package calls its licence, by name@version. */
function licencesOfLock() {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  const named = Object.entries(packages).filter(([, { license }]) => license !== undefined);
  return new Map(
    named.map(([path, { version, license }]) => [`${path.split("node_modules/").at(-1)}@${version}`, license]),
  );
}

/** The name of a package of ours is that of its folder in npm's bill; its reference is right. */
function nameOf(component) {
  return component["bom-ref"].slice(0, component["bom-ref"].lastIndexOf("@"));
}

function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

function licenceOf({ licenses = [] }) {
  return (
    licenses.map(({ license, expression }) => expression ?? license.id ?? license.name).join(" AND ") || "none named"
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = resolve(process.argv[2] ?? join(ROOT, "dist", "sbom.cdx.json"));
  const bill = billOfMaterials();
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`);
  const published = bill.components.filter(({ scope }) => scope !== "excluded");
  const counts = new Map();
  for (const one of published) counts.set(licenceOf(one), (counts.get(licenceOf(one)) ?? 0) + 1);
  const lines = [...counts]
    .sort(([a, m], [b, n]) => n - m || compare(a, b))
    .map(([name, n]) => `${String(n).padStart(5)}  ${name}`);
  process.stdout.write(
    `${file}\n${bill.components.length} packages, ${published.length} of them reach users, under these licences:\n${lines.join("\n")}\n`,
  );
}
