/** The built server, as a person and an assistant start it: over HTTP, and by the Model Context Protocol with its own client. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answerLine, serveMcp, VERSIONS } from "../packages/cli/src/serve/mcp.ts";
import { fitFpca } from "../packages/core/src/models/linear-models.ts";
import { saveModel } from "../packages/core/src/models/save.ts";
import { simulateCohort } from "../packages/core/src/simulate/cohorts.ts";

const BIN = fileURLToPath(new URL("../packages/cli/bin/dtm.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "dtm-serve-"));
const MODEL = join(folder, "lungs.json");
const OTHER = join(folder, "other.json");
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeAll(() => {
  const text = saveModel(fitFpca(simulateCohort("pfvc", { numIndividuals: 60, seed: 3 }).cohort));
  writeFileSync(MODEL, text);
  writeFileSync(OTHER, text);
});

const REQUEST = {
  visits: [
    { time: 0, value: 81 },
    { time: 1.5, value: "<76" },
  ],
  at: [2, 4],
  threshold: { value: 60 },
};

/** Starts the server and gives what it printed first. */
async function start(
  ...argv: string[]
): Promise<{ child: ChildProcess; told: Record<string, string>; talk: () => string }> {
  const child = spawn(process.execPath, [BIN, "serve", ...argv, "--json"], { stdio: ["ignore", "pipe", "pipe"] });
  let talk = "";
  child.stderr?.on("data", (bytes) => {
    talk += String(bytes);
  });
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout?.once("data", (bytes) => resolve(String(bytes)));
    child.once("close", () => reject(new Error(talk)));
  });
  return { child, told: JSON.parse(line), talk: () => talk };
}

const ended = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once("close", resolve));

describe("dtm serve", () => {
  it("prints its address and token once, answers, logs nothing of it, and ends kindly", async () => {
    const { child, told, talk } = await start(MODEL, `second=${OTHER}`);
    const headers = { authorization: `Bearer ${told.token}`, "content-type": "application/json" };
    const answer = await fetch(new URL("/v1/models/second/place", told.address), {
      method: "POST",
      headers,
      body: JSON.stringify(REQUEST),
    });
    expect(answer.status).toBe(200);
    const placed = (await answer.json()) as { model: string; forecasts: { rows: unknown[] }[] };
    expect([placed.model, placed.forecasts[0]?.rows.length]).toEqual(["second", 2]);
    for (const path of ["/", "/calculator", "/calculator/second"]) {
      expect((await fetch(new URL(path, told.address), { headers })).status).toBe(200);
    }
    const { models } = (await (await fetch(told.api!, { headers })).json()) as { models: { name: string }[] };
    expect(models.map(({ name }) => name)).toEqual(["lungs", "second"]);
    child.kill("SIGTERM");
    expect(await ended(child)).toBe(143);
    expect(talk()).toContain('"route":"/v1/models/{name}/place","status":200');
    for (const secret of [told.token, folder, "second", "lungs", "<76"]) {
      expect(
        talk()
          .split("\n")
          .filter((line) => line.startsWith("{"))
          .join(""),
      ).not.toContain(secret);
    }
  });

  it("takes its token from a file and then does not print it", async () => {
    const file = join(folder, "token.txt");
    writeFileSync(file, "a-token-of-at-least-twenty-four-letters\n");
    const { child, told } = await start(MODEL, "--token-file", file, "--no-log");
    expect(told.token).toBeUndefined();
    const headers = { authorization: "Bearer a-token-of-at-least-twenty-four-letters" };
    expect((await fetch(told.api!, { headers })).status).toBe(200);
    expect((await fetch(told.api!)).status).toBe(401);
    child.kill("SIGINT");
    expect(await ended(child)).toBe(130);
  });

  const refusals: readonly [string, readonly string[], RegExp][] = [
    ["an address that others reach", ["--host", "0.0.0.0"], /--others-may-connect if that is meant/],
    ["no name to be asked under", ["--host", "0.0.0.0", "--others-may-connect"], /Add --allow-host NAME:PORT/],
    ["a short token", ["--token-file", MODEL], /24 or more letters/],
    ["a network for an assistant", ["--mcp", "--port", "8080"], /without options of the network/],
    ["a second model of the same name", [MODEL], /"lungs" twice/],
  ];
  for (const [what, argv, words] of refusals) {
    it(`refuses ${what}`, async () => {
      await expect(start(MODEL, ...argv)).rejects.toThrow(words);
    });
  }
});

describe("the door for assistants", () => {
  it("is understood by the client of the protocol", async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [BIN, "serve", MODEL, "--mcp", "-q"],
      stderr: "ignore",
    });
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(transport);
    expect(client.getServerVersion()).toMatchObject({ name: "dtm" });
    expect(client.getServerCapabilities()).toEqual({ tools: {} });
    await client.ping();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["list_models", "place", "explain"]);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    // The client holds structured content against the tool's own schema.
    const listed = await client.callTool({ name: "list_models", arguments: {} });
    expect(listed.structuredContent).toMatchObject({ models: [{ name: "lungs" }] });
    const placed = await client.callTool({ name: "place", arguments: REQUEST });
    expect(placed.isError).toBeUndefined();
    expect(placed.structuredContent).toMatchObject({
      model: "lungs",
      forecasts: [{ rows: [{ time: 2 }, { time: 4 }] }],
    });
    const said = await client.callTool({ name: "explain", arguments: { model: "lungs", ...REQUEST } });
    expect(JSON.stringify(said.content)).toContain("goes below 60 with probability");
    const wrong = await client.callTool({ name: "place", arguments: { visits: [{ time: "soon", value: 1 }] } });
    expect([wrong.isError, JSON.stringify(wrong.content)]).toEqual([
      true,
      expect.stringContaining("arguments.visits[0].time"),
    ]);
    const other = await client.callTool({ name: "explain", arguments: { model: "/etc/passwd", visits: [] } });
    expect([other.isError, JSON.stringify(other.content)]).toEqual([true, expect.stringContaining("among lungs")]);
    await expect(client.callTool({ name: "read_file", arguments: {} })).rejects.toThrow(/Expected a tool among/);
    await client.close();
  });

  const answer = (message: unknown) => {
    const line = answerLine(new Map(), typeof message === "string" ? message : JSON.stringify(message));
    return line === undefined ? undefined : JSON.parse(line);
  };

  it("speaks the version that is asked for, and the newest where it is unknown", () => {
    const speak = (protocolVersion: unknown) =>
      answer({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion } }).result.protocolVersion;
    for (const version of VERSIONS) expect(speak(version)).toBe(version);
    for (const odd of ["2099-01-01", undefined, 7]) expect(speak(odd)).toBe(VERSIONS[0]);
  });

  it("answers requests alone, and tells what is none", () => {
    expect(answer({ jsonrpc: "2.0", method: "notifications/initialized" })).toBeUndefined();
    expect(answer({ jsonrpc: "2.0", id: 3, result: {} })).toBeUndefined();
    expect(answer("{").error.code).toBe(-32700);
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    expect(answer(deep).error).toEqual({ code: -32700, message: expect.stringContaining("nested more than 200 deep") });
    for (const odd of [
      [],
      null,
      7,
      {},
      { jsonrpc: "1.0", id: 1, method: "ping" },
      { jsonrpc: "2.0", id: {}, method: "ping" },
    ]) {
      expect(answer(odd)).toMatchObject({ id: null, error: { code: -32600 } });
    }
    expect(answer({ jsonrpc: "2.0", id: "a", method: "resources/list" })).toMatchObject({
      id: "a",
      error: { code: -32601 },
    });
  });

  it("reads lines however they come, and gives up on endless ones", async () => {
    const ping = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`;
    const written: string[] = [];
    const pieces = [ping.slice(0, 9), `${ping.slice(9)}\r\n${ping}`, "x".repeat(2 << 20), "y".repeat(99), `\n${ping}`];
    await serveMcp(new Map(), Readable.from(pieces), (line) => written.push(line));
    const answers = written.map((line) => JSON.parse(line));
    expect(answers.map(({ result, error }) => (result ? "pong" : error.code))).toEqual([
      "pong",
      "pong",
      -32600,
      "pong",
    ]);
  });
});
