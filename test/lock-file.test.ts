import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

interface Entry {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readFileSync(new URL("../package-lock.json", import.meta.url), "utf8")) as {
  readonly packages: Readonly<Record<string, Entry>>;
};

/** The entry that the package at `path` finds for `name`, in a node_modules of its own or the nearest above it. */
function foundFrom(path: string, name: string): Entry | undefined {
  for (let at = `${path}/`; ; at = at.slice(0, at.lastIndexOf("node_modules/", at.length - 2))) {
    const entry = packages[`${at}node_modules/${name}`];
    if (entry !== undefined || at === "") return entry;
  }
}

describe("package-lock.json", () => {
  it("names the packages of every platform, without which npm ci refuses it (scripts/complete-lock.mjs)", () => {
    const missing = Object.entries(packages).flatMap(([path, entry]) =>
      Object.entries(entry.optionalDependencies ?? {}).filter(([name, wanted]) => {
        const version = foundFrom(path, name)?.version;
        return version === undefined || (/^\d/.test(wanted) && version !== wanted);
      }),
    );
    expect(missing).toEqual([]);
    expect(Object.keys(packages).filter((path) => path.includes("darwin-arm64")).length).toBeGreaterThan(2);
  });

  it("holds a checksum of every package, without which npm installs it unchecked (scripts/complete-lock.mjs)", () => {
    const fetched = Object.entries(packages).filter(([path, { link }]) => path.includes("node_modules/") && !link);
    expect(fetched.length).toBeGreaterThan(100);
    expect(fetched.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ""))).toEqual([]);
  });

  it("holds no address of a registry", () => {
    const addresses = Object.values(packages).filter((entry) => entry.resolved?.startsWith("http"));
    expect(addresses).toEqual([]);
  });
});
