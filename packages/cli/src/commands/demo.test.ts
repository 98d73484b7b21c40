import { mkdirSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { run, workplace } from "../../test/harness.ts";
import { readConfig } from "../config.ts";
import type { Protocol } from "../io/protocol.ts";
import type { Options } from "./command.ts";
import { checkOwn } from "./demo.ts";
import { study } from "./study.ts";

const here = workplace();
afterAll(here.clear);
const bundled = (name: string) => fileURLToPath(new URL(`../../../../examples/pbc/${name}`, import.meta.url));

describe("dtm demo", () => {
  it("refuses a folder with a run of the user's own, and leaves it as it was", async () => {
    mkdirSync(here.at("out", "tss"), { recursive: true });
    here.file("out/tss/model.json", "own");
    const { code, talk } = await run("demo", "--scleroderma", "-o", here.at("out"));
    expect([code, talk]).toEqual([
      2,
      expect.stringContaining("expected a new folder or one that dtm demo has written"),
    ]);
    expect(here.text("out", "tss", "model.json")).toBe("own");
    expect(readdirSync(here.at("out"))).toEqual(["tss"]);
  });

  it("takes a new folder, and what an earlier demo left, finished or not and with any seed", async () => {
    const [visits, subjects, yaml] = ["visits.csv", "subjects.csv", "study.yaml"].map(bundled) as [
      string,
      string,
      string,
    ];
    const settings = (await readConfig(yaml, study, async () => [study])) as Options;
    const asked = { title: "", folder: here.at("again", "pbc"), visits, subjects, settings };
    await checkOwn(asked);
    const { out } = await run("study", visits, subjects, "--config", yaml, "--plan", "--json");
    const { protocol } = JSON.parse(out) as { protocol: Protocol };
    const leave = (inner: string, left: Partial<Protocol>) => {
      mkdirSync(here.at("again", "pbc", inner), { recursive: true });
      here.file(`again/pbc/${inner}/protocol.json`, JSON.stringify({ ...protocol, ...left }));
    };
    leave("unfinished", {});
    await checkOwn(asked);
    leave(".", { settings: { ...protocol.settings, seed: "7" }, version: "0.0.9" });
    await checkOwn(asked);
    // Other settings or other tables: a study of the user's own.
    for (const left of [
      { settings: { ...protocol.settings, folds: "5" } },
      { inputs: protocol.inputs.map((input) => ({ ...input, sha256: "0" })) },
    ]) {
      leave(".", left);
      await expect(checkOwn(asked)).rejects.toThrow("Name a folder for the demo with -o");
    }
  });
});
