/** dtm serve MODEL...: places and forecasts for programs, the calculator and the explorer, behind one door. */
import process from "node:process";
import { StoppedError, UsageError } from "../exit-codes.ts";
import { patientPages } from "../io/patient-page.ts";
import { readText } from "../io/read.ts";
import { builtExplorer, filesOf } from "../io/served-files.ts";
import { firstSignal } from "../io/signals.ts";
import { ownVersion } from "../io/version.ts";
import { createApp } from "../serve/app.ts";
import { createSecret } from "../serve/door.ts";
import { serveMcp } from "../serve/mcp.ts";
import { loadServed, namedPaths, type ServedModel } from "../serve/models.ts";
import { createQueue } from "../serve/queue.ts";
import { openServer } from "../serve/server.ts";
import { type Command, type Context, type Options, repeatedOption, textOption } from "./command.ts";
import { wholeNumber } from "./numbers.ts";

/** Milliseconds that requests may go on after a signal. */
const PATIENCE = 5_000;
const SHORTEST_TOKEN = 24;

export const serve: Command = {
  name: "serve",
  description:
    "Serve fitted models: place and forecast one individual over HTTP (OpenAPI at /openapi.json), a calculator at /calculator, the explorer at /. On this machine only, with a token, unless told otherwise. With --mcp for assistants on standard input and output instead.",
  arguments: [
    {
      name: "models",
      description: "folders of runs or model files, each with a name if it is to have another: NAME=PATH",
      variadic: true,
    },
  ],
  options: [
    { flags: "--port <number>", description: "port (default: a free one)" },
    {
      flags: "--token-file <file>",
      description: `file with the bearer token, ${SHORTEST_TOKEN} characters or more (default: a new one, printed once)`,
    },
    { flags: "--queue <number>", description: "requests that may wait; more are answered with 503", default: "100" },
    { flags: "--host <address>", description: "address to listen on", default: "127.0.0.1" },
    { flags: "--others-may-connect", description: "needed to listen on an address that other machines reach" },
    {
      flags: "--allow-host <name>",
      description: "name and port under which others ask, as in their Host header; may be given several times",
      repeatable: true,
    },
    { flags: "--no-log", description: "no line for each request on standard error" },
    { flags: "--mcp", description: "speak the Model Context Protocol on standard input and output; no network" },
  ],
  examples: [
    "dtm serve run/",
    "dtm serve run/ liver=pbc/model.json --port 8080 --token-file token.txt",
    "dtm serve run/ --host 0.0.0.0 --others-may-connect --allow-host maps.example.org --port 8080",
    "dtm serve run/ --mcp",
  ],
  run: async (words, options, context) => {
    const network = options.mcp === true ? undefined : networkOf(options);
    if (network === undefined) checkMcp(context);
    const models = new Map<string, ServedModel>();
    for (const [name, path] of namedPaths(words)) {
      models.set(name, await context.talk.during(`Reading ${name}`, () => loadServed(name, path)));
    }
    if (network === undefined) {
      await serveMcp(models, process.stdin, (line) => process.stdout.write(line));
      return { text: "", json: {} };
    }
    return serveNetwork(models, network, options, context);
  },
};

const OF_NETWORK = ["port", "tokenFile", "queue", "host", "othersMayConnect", "allowHost", "log", "json"];

/** Refuses options of the network beside --mcp. */
function checkMcp({ originOf }: Context): void {
  const odd = OF_NETWORK.find((name) => originOf?.(name) === "flag");
  if (odd !== undefined)
    throw new UsageError(`--mcp: expected without options of the network, received ${odd}. Leave it out.`);
}

interface Network {
  readonly host: string;
  readonly port: number;
  readonly hosts: readonly string[];
  readonly queue: number;
  readonly bearer: string;
  /** Whether the token is new, and has to be told. */
  readonly isNew: boolean;
}

/** Where to listen and for whom; beyond this machine only if it is said in so many words. */
function networkOf(options: Options): Network {
  const host = textOption(options, "host") ?? "127.0.0.1";
  const port = wholeNumber("--port", textOption(options, "port") ?? "0", 0, 65535);
  const named = repeatedOption(options, "allowHost");
  const isNear = host === "127.0.0.1" || host === "::1" || host === "localhost";
  if (!isNear && options.othersMayConnect !== true) {
    throw new UsageError(
      `--host ${host}: other machines reach this address, and requests are not encrypted. Add --others-may-connect if that is meant.`,
    );
  }
  const isAny = host === "0.0.0.0" || host === "::";
  if (isAny && named.length === 0) {
    throw new UsageError(
      `--host ${host}: expected the names under which it is asked, received none. Add --allow-host NAME:PORT for each.`,
    );
  }
  const queue = wholeNumber("--queue", textOption(options, "queue") ?? "100", 1, 10_000);
  const file = textOption(options, "tokenFile");
  const bearer = file === undefined ? createSecret() : readText(file).trim();
  if (bearer.length < SHORTEST_TOKEN || !/^[\w.~+/-]+=*$/.test(bearer)) {
    throw new UsageError(
      `--token-file: expected ${SHORTEST_TOKEN} or more letters, digits and . ~ + / - _, received another text. Make one: openssl rand -base64 32.`,
    );
  }
  return { host, port, hosts: named, queue, bearer, isNew: file === undefined };
}

async function serveNetwork(
  models: ReadonlyMap<string, ServedModel>,
  { host, port, hosts, queue, bearer, isNew }: Network,
  options: Options,
  { talk }: Context,
): Promise<never> {
  // The explorer opens empty: visits of a run do not leave the server.
  const patients = new Map(Array.from(models, ([name, { patient }]) => [name, patient]));
  const files = new Map([...filesOf(builtExplorer()), ...patientPages(patients, ownVersion())]);
  files.set("/data/start.json", { type: "application/json; charset=utf-8", bytes: () => Buffer.from("{}") });
  const { application, routes } = createApp({ models, queue: createQueue(queue), files });
  const isTold = options.log !== false && options.quiet !== true;
  const server = await openServer(application, {
    ...{ port, address: host, bearer, hosts },
    open: routes.filter((route) => route.open).map(({ path }) => path),
    ...(isTold && { log: (line: string) => process.stderr.write(`${line}\n`) }),
  });
  const stopped = firstSignal();
  const api = new URL("/v1/models", server.address).href;
  const token = isNew ? { token: bearer } : {};
  process.stdout.write(
    options.json === true
      ? `${JSON.stringify({ address: server.address, api, port: server.port, ...token })}\n`
      : `Browser   ${server.address}\nPrograms  ${api}\n${isNew ? `Token     ${bearer}\n` : ""}`,
  );
  talk.say(
    "The address for a browser works once; programs send the token as Authorization: Bearer TOKEN. Stop with Ctrl-C.",
  );
  const signal = await stopped;
  await server.close(PATIENCE);
  throw new StoppedError(signal, "Stopped; nothing was written.");
}
