/**
 * A real Chromium for tests of pages: one named by DTM_CHROMIUM; else, on Linux on x64, the one packed in the development
 * dependency @sparticuz/chromium (with libraries, software WebGL and a font of its own, so that text is as wide on every
 * machine); elsewhere one on the PATH.
 *
 *   const chromium = await openBrowser();
 *   const { page, record } = await chromium.openPage({ colorScheme: "dark" });
 *   await page.goto(pathToFileURL("report.html").href);
 *   expect(record.problems()).toEqual([]);
 *   expect(await accessibilityViolations(page)).toEqual([]);
 *   await chromium.close();
 */
import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { AxeResults } from "axe-core";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const require = createRequire(import.meta.url);
const CACHE = fileURLToPath(new URL("../node_modules/.cache", import.meta.url));
/** Whether the packed browser is made for this machine. */
export const PACKED = process.platform === "linux" && process.arch === "x64";
const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** Milliseconds after which what a page waits for counts as missing: many times what a slow, busy machine needs. */
export const PATIENCE = 120_000;

/** The page under test is the only thing that may speak, and it must not reach a network from here. */
const FLAGS = [
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-default-apps",
  "--disable-domain-reliability",
  "--no-first-run",
  "--no-pings",
  "--no-sandbox",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
  // WebGL 2 without a graphics card.
  "--use-gl=angle",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--ignore-gpu-blocklist",
  // All else is painted by the processor itself, as where there is no card: through WebGL's stand-in it takes ten times as long.
  "--disable-gpu-compositing",
  // Same widths of text on every machine.
  "--font-render-hinting=none",
];

/** What a program needs to run: its file and what it must find in its environment. */
export interface Program {
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Everything a page did that somebody could object to; grows while the page lives. */
export interface PageRecord {
  /** Every request of the page, its frames and workers, in order: the page itself is the first. */
  readonly requests: { readonly url: string; readonly method: string; readonly type: string }[];
  readonly messages: { readonly type: string; readonly text: string; readonly url: string }[];
  /** Exceptions nobody caught. */
  readonly errors: string[];
  /**
   * Errors and warnings of the console, uncaught exceptions, and requests to any other place than the page's own,
   * one line each; empty for a quiet page. Addresses with data or blob: are the page's own.
   * @param own beginnings of further addresses that are expected, e.g. "http://127.0.0.1:8080/"
   */
  problems(own?: readonly string[]): string[];
}

/** A page in a context of its own, with its record. */
export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly record: PageRecord;
}

export interface TestBrowser {
  /** For what `openPage` does not offer. */
  readonly browser: Browser;
  /** File of the program that runs. */
  readonly file: string;
  /** A fresh page, 1280 × 800 and light unless told otherwise; `options` are Playwright's of a context. */
  openPage(options?: BrowserContextOptions): Promise<OpenPage>;
  close(): Promise<void>;
}

/**
 * Starts Chromium; never skips.
 * @param env where DTM_CHROMIUM and PATH are looked up. Default the process's own.
 */
export async function openBrowser(env: NodeJS.ProcessEnv = process.env): Promise<TestBrowser> {
  const { browser, file } = await launch(env);
  return {
    browser,
    file,
    openPage: async (options = {}) => {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        colorScheme: "light",
        locale: "en-GB",
        ...options,
      });
      context.setDefaultTimeout(PATIENCE);
      const page = await context.newPage();
      return { page, context, record: recordPage(page) };
    },
    close: () => browser.close(),
  };
}

async function launch(env: NodeJS.ProcessEnv): Promise<{ browser: Browser; file: string }> {
  const named = env.DTM_CHROMIUM;
  if (named !== undefined && named !== "") {
    if (!isExecutable(named)) {
      throw new Error(
        `openBrowser: expected DTM_CHROMIUM to be a program that can be started, received "${named}"; ` +
          "give the path of a Chromium or Chrome, or unset it to use the packed one.",
      );
    }
    return start({ file: named, env: {} });
  }
  if (PACKED) return start(await packedChromium());
  const found = onPath(env.PATH ?? "");
  if (found !== undefined) return start({ file: found, env: {} });
  throw new Error(
    "openBrowser: expected a Chromium on the PATH or in DTM_CHROMIUM, received none; the packed one is for Linux on x64, " +
      `this is ${process.platform} on ${process.arch}. Install Chromium or Chrome and name its program in DTM_CHROMIUM.`,
  );
}

async function start({ file, env }: Program): Promise<{ browser: Browser; file: string }> {
  const inherited = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const browser = await chromium.launch({
    executablePath: file,
    args: FLAGS,
    // Files share a process, and tests of the command line hand signals to it: they must not end it.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    timeout: PATIENCE,
    env: { ...Object.fromEntries(inherited), ...env },
  });
  return { browser, file };
}

function onPath(path: string): string | undefined {
  const folders = path.split(delimiter).filter((folder) => folder !== "");
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * The packed Chromium, unpacked once (206 MB, 3 s) beside the installed packages, or under the system's folder for
 * temporary files where that cannot be written. Each process unpacks into a folder of its own and renames it, which
 * succeeds for one of them: nobody ever sees half a browser.
 * @param folders where it may be unpacked, in order of preference
 */
export async function packedChromium(folders: readonly string[] = [CACHE, tmpdir()]): Promise<Program> {
  const entry = require.resolve("@sparticuz/chromium");
  const packageFile = join(dirname(entry), "..", "..", "package.json");
  const { version } = JSON.parse(readFileSync(packageFile, "utf8")) as { version: string };
  const parent = await writableFolder(folders);
  const home = join(parent, `dtm-chromium-${version}-${process.getuid?.() ?? 0}`);
  if (!existsSync(home)) {
    const own = await mkdtemp(`${home}-`);
    try {
      await unpack(entry, own);
      // Its own font alone: text is as wide on a machine with many fonts as on one with none.
      const fonts = `<fontconfig><dir>${home}/fonts/fonts</dir><cachedir>${home}/fonts/cache</cachedir></fontconfig>\n`;
      await writeFile(join(own, "fonts", "fonts.conf"), fonts);
      await rename(own, home);
    } catch (error) {
      // Another process was first: its folder is as good as ours.
      if (!existsSync(home)) throw error;
    } finally {
      await rm(own, { recursive: true, force: true });
    }
  }
  const libraries = [join(home, "al2023", "lib"), process.env.LD_LIBRARY_PATH].filter((path) => path).join(":");
  return { file: join(home, "chromium"), env: { LD_LIBRARY_PATH: libraries, FONTCONFIG_PATH: join(home, "fonts") } };
}

/**
 * The package unpacks into the folder for temporary files and adds its libraries only where it believes to be on a
 * certain server; both are matters of the environment, so it runs in a process with one made for it.
 */
function unpack(entry: string, folder: string): Promise<void> {
  const program = `const { default: packed } = await import(${JSON.stringify(pathToFileURL(entry).href)});
    await (packed.default ?? packed).executablePath();`;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      env: { ...process.env, TMPDIR: folder, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs20.x" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let complaint = "";
    child.stderr.on("data", (bytes) => {
      complaint += String(bytes);
    });
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve();
      else
        reject(
          new Error(
            `openBrowser: expected @sparticuz/chromium to unpack into ${folder}, it ended with ${code}: ${complaint} ` +
              "It needs 210 MB there; or name a Chromium in DTM_CHROMIUM.",
          ),
        );
    });
  });
}

async function writableFolder(folders: readonly string[]): Promise<string> {
  for (const folder of folders) {
    try {
      await mkdir(folder, { recursive: true });
      accessSync(folder, constants.W_OK);
      return folder;
    } catch {
      // The next one may do.
    }
  }
  throw new Error(`openBrowser: expected to write in one of ${folders.join(", ")}; free one, or set DTM_CHROMIUM.`);
}

/** Records what a page asks for and says, from now on. */
export function recordPage(page: Page): PageRecord {
  const requests: PageRecord["requests"] = [];
  const messages: PageRecord["messages"] = [];
  const errors: string[] = [];
  page.on("request", (request) =>
    requests.push({ url: request.url(), method: request.method(), type: request.resourceType() }),
  );
  page.on("websocket", (socket) => requests.push({ url: socket.url(), method: "GET", type: "websocket" }));
  page.on("console", (message) =>
    messages.push({ type: message.type(), text: message.text(), url: message.location().url }),
  );
  page.on("pageerror", (error) => errors.push(String(error)));
  const problems = (own: readonly string[] = []): string[] => {
    const [self] = requests;
    // Two visits of the page itself differ at most in what follows the hash.
    const isOwn = ({ url }: { url: string }) =>
      /^(data|blob):/.test(url) ||
      (self !== undefined && url.split("#")[0] === self.url.split("#")[0]) ||
      own.some((beginning) => url.startsWith(beginning));
    return [
      ...errors.map((text) => `uncaught: ${text}`),
      ...messages.filter(({ type }) => type === "error" || type === "warning").map((m) => `${m.type}: ${m.text}`),
      ...requests.filter((request) => !isOwn(request)).map(({ method, url }) => `request: ${method} ${url}`),
    ];
  };
  return { requests, messages, errors, problems };
}

/** One finding of axe: its rule, how grave, and where; as lines, so that a failing test says it all. */
export interface AccessibilityViolation {
  readonly rule: string;
  readonly impact: string;
  readonly help: string;
  readonly where: readonly string[];
}

/**
 * Violations of any severity that axe-core finds in the page as it stands, best practices included. The rules run
 * through the debugger and not as a script of the page, so a content security policy stays in force.
 * @param rules names of the rules that run. Default all.
 */
export async function accessibilityViolations(
  page: Page,
  rules?: readonly string[],
): Promise<AccessibilityViolation[]> {
  const session = await page.context().newCDPSession(page);
  const evaluate = async (expression: string): Promise<unknown> => {
    const answer = await session.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (answer.exceptionDetails !== undefined) {
      throw new Error(`accessibilityViolations: ${answer.exceptionDetails.exception?.description ?? "axe failed"}`);
    }
    return answer.result.value;
  };
  try {
    // A page that was looked at before has the rules already.
    if ((await evaluate("typeof axe")) === "undefined") {
      await evaluate(readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
    }
    // Frames are pages of their own: axe could only reach them by messages, which a page from disk may not send.
    // Of what passes nothing is told, so nothing is gathered about it; where things are is asked once there are some.
    const run = (selectors: boolean) => {
      const only = { iframes: false, resultTypes: ["violations"], selectors };
      const options = JSON.stringify({ ...only, ...(rules === undefined ? {} : { runOnly: rules }) });
      return evaluate(`axe.run(document, ${options}).then((results) => JSON.stringify(results.violations))`);
    };
    if ((await run(false)) === "[]") return [];
    const text = await run(true);
    return (JSON.parse(String(text)) as AxeResults["violations"]).map(({ id, impact, help, nodes }) => ({
      rule: id,
      impact: impact ?? "unknown",
      help,
      where: nodes.map(({ target, failureSummary }) => `${target.join(" ")}: ${failureSummary ?? ""}`),
    }));
  } finally {
    await session.detach();
  }
}
