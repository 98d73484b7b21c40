/**
 * The notebook of the Python package in a real JupyterLab on loopback: every cell runs, the map is drawn, what the reader opens and
 * selects comes back to Python, what Python selects is shown, and nothing asks for anything elsewhere. Run by npm run test:jupyter, which makes the environment.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { browserOfFile } from "./browser-of-file.ts";
import { numSelected } from "./map-dots.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PACKAGE = join("python", "trajectory-maps");
const NOTEBOOK = "pbc.ipynb";
/** Milliseconds after which the study counts as hung: it fits, compares and tests. */
const LONG = 3_600_000;
/** To be looked at. */
const PICTURE = join(ROOT, "out", "jupyter", "pbc.png");
const folder = mkdtempSync(join(tmpdir(), "dtm-jupyter-"));
const work = join(folder, "clone", PACKAGE, "examples");
const chromium = browserOfFile();
let lab: ChildProcess;
let origin: string;

beforeAll(async () => {
  // JupyterLab saves what it runs: a copy, in a folder that looks like the clone.
  mkdirSync(work, { recursive: true });
  copyFileSync(join(ROOT, PACKAGE, "examples", NOTEBOOK), join(work, NOTEBOOK));
  for (const name of ["examples", "packages"]) symlinkSync(join(ROOT, name), join(folder, "clone", name), "junction");
  const python = process.env.DTM_JUPYTER;
  if (!python) throw new Error("Expected DTM_JUPYTER, received none; run npm run test:jupyter.");
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  const options = [
    "--no-browser",
    "--allow-root",
    "--ServerApp.ip=127.0.0.1",
    `--ServerApp.port=${port}`,
    "--ServerApp.port_retries=0",
    "--IdentityProvider.token=",
    `--ServerApp.root_dir=${work}`,
    "--LabApp.extension_manager=readonly",
  ];
  const own = (name: string) => join(folder, name);
  // Nobody is asked about news.
  const settings = join(own("settings"), "@jupyterlab", "apputils-extension");
  mkdirSync(settings, { recursive: true });
  writeFileSync(
    join(settings, "notification.jupyterlab-settings"),
    JSON.stringify({ fetchNews: "false", checkForUpdates: false }),
  );
  lab = spawn(python, ["-m", "jupyterlab", ...options], {
    cwd: work,
    env: {
      ...process.env,
      HOME: folder,
      JUPYTER_CONFIG_DIR: own("config"),
      JUPYTER_DATA_DIR: own("data"),
      JUPYTER_RUNTIME_DIR: own("runtime"),
      JUPYTERLAB_SETTINGS_DIR: own("settings"),
      JUPYTERLAB_WORKSPACES_DIR: own("workspaces"),
      IPYTHONDIR: own("ipython"),
      MPLCONFIGDIR: own("matplotlib"),
      PYTHONPATH: join(ROOT, PACKAGE, "src"),
      PYTHONDONTWRITEBYTECODE: "1",
      TRAJECTORY_MAPS_DTM: undefined,
    },
    stdio: "ignore",
  });
});

afterAll(async () => {
  if (lab?.exitCode === null) {
    const ended = new Promise((resolve) => lab.once("exit", resolve));
    lab.kill("SIGTERM");
    await ended;
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

it(
  "runs the study, draws the map, and tells Python what its reader opens and selects",
  async () => {
    await expect.poll(answers, { message: "JupyterLab answers" }).toBe(true);
    const { page, record } = await chromium.openPage({ viewport: { width: 1180, height: 1000 } });
    await page.goto(`${origin}/lab/tree/${NOTEBOOK}`);
    await page.locator(".jp-Notebook .jp-Cell").first().waitFor();
    await expect.poll(() => page.getByText("Python 3 (ipykernel) | Idle").count()).toBeGreaterThan(0);
    await page.keyboard.press("Control+b");
    await page.getByRole("menuitem", { name: "Run", exact: true }).click();
    await page.getByRole("menuitem", { name: "Run All Cells", exact: true }).click();
    const last = cellOf(page, "MapWidget(run, colour").locator(".jp-InputPrompt");
    await expect.poll(() => last.textContent()).toBe("[*]:");
    await expect.poll(() => last.textContent(), { timeout: LONG / 2 }).not.toBe("[*]:");
    // The prompt is there before the answer of the kernel is in the document: it is saved until all answers are.
    const saved = async () => {
      await page.keyboard.press("Control+s");
      return results();
    };
    await expect.poll(saved, { interval: 1000 }).toEqual({ unfinished: 0, errors: [] });

    // The map of the groups, with everybody, and those whom a later cell selected.
    const cell = cellOf(page, "shown = MapWidget(");
    await scrollTo(page, cell);
    const dots = cell.locator(".tm-dots circle");
    await expect.poll(() => dots.count()).toBe(312);
    await expect.poll(() => numSelected(dots)).toBe(174);

    // A click opens, and a cell that runs afterwards knows whom.
    const id = await openSomebody(page, cell);
    expect(await printed(page)).toBe(`opened: ${id}\nselected: 174\n`);
    await scrollTo(page, cell);
    mkdirSync(dirname(PICTURE), { recursive: true });
    await page.screenshot({ path: PICTURE });

    // Keys are the map's, not the notebook's: L is a lasso.
    const stage = cell.locator(".tm-stage");
    await stage.focus();
    await page.keyboard.press("l");
    await expect.poll(() => stage.getAttribute("data-tool")).toBe("lasso");
    const box = (await stage.boundingBox())!;
    const corners = [0.3, 0.7].flatMap((a) => [0.2, 0.8].map((b) => [a, a < 0.5 ? b : 1 - b] as const));
    const [first, ...rest] = corners.map(([a, b]) => [box.x + a * box.width, box.y + b * box.height] as const);
    await page.mouse.move(...first!);
    await page.mouse.down();
    for (const corner of rest) await page.mouse.move(...corner, { steps: 8 });
    await page.mouse.up();
    await expect.poll(() => numSelected(dots)).not.toBe(174);
    const selected = await numSelected(dots);
    expect(selected).toBeGreaterThan(0);
    expect(await printed(page)).toBe(`opened: ${id}\nselected: ${selected}\n`);

    const elsewhere = record.requests.filter(
      ({ url }) => !/^(data|blob):/.test(url) && new URL(url).hostname !== "127.0.0.1",
    );
    expect(elsewhere).toEqual([]);
    expect(record.requests.length).toBeGreaterThan(10);
    expect(record.errors).toEqual([]);
  },
  LONG,
);

/** The notebook as it was saved: code cells that have not run, and what went wrong. */
function results(): { unfinished: number; errors: string[] } {
  // Not by JupyterLab's own interface: to it, a file that is just being written is a broken one.
  const content = JSON.parse(readFileSync(join(work, NOTEBOOK), "utf8")) as Notebook;
  const code = content.cells.filter((own) => own.cell_type === "code");
  const errors = code.flatMap((own) => (own.outputs ?? []).filter(({ output_type }) => output_type === "error"));
  return {
    unfinished: code.filter((own) => own.execution_count === null).length,
    errors: errors.map(({ ename, evalue }) => `${ename}: ${evalue}`),
  };
}

interface Notebook {
  readonly cells: readonly {
    readonly cell_type: string;
    readonly execution_count?: number | null;
    readonly outputs?: readonly { readonly output_type: string; readonly ename?: string; readonly evalue?: string }[];
  }[];
}

const cellOf = (page: Page, text: string) => page.locator(".jp-CodeCell", { hasText: text }).first();

/** Brings a cell into view; cells far away are not in the page. */
async function scrollTo(page: Page, cell: Locator): Promise<void> {
  const scroller = page.locator(".jp-WindowedPanel-outer").first();
  for (const part of [0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9]) {
    if ((await cell.count()) > 0) break;
    await scroller.evaluate((element, share) => element.scrollTo(0, share * element.scrollHeight), part);
    await twoFrames(page);
  }
  await cell.evaluate((element) => element.scrollIntoView({ block: "start" }));
  await twoFrames(page);
}

/** Clicks on a dot that no name of a group covers; its id, as the lens says it. The page may still be scrolling: dots are found anew. */
async function openSomebody(page: Page, cell: Locator): Promise<string> {
  const who = cell.locator(".tm-lens:not([hidden]) .tm-lens-who");
  let found: string | undefined;
  let k = 0;
  const tryNext = async () => {
    await scrollTo(page, cell);
    const at = await cell
      .locator(".tm-dots circle")
      .nth(k++ % 312)
      .boundingBox();
    if (at === null) return false;
    const [x, y] = [at.x + at.width / 2, at.y + at.height / 2];
    await page.mouse.move(x, y);
    await twoFrames(page);
    found = /^(\d+) · /.exec((await who.allTextContents())[0] ?? "")?.[1];
    const covered = await cell
      .locator(".tm-pill")
      .evaluateAll(
        (all, [x, y]) =>
          all
            .map((pill) => pill.getBoundingClientRect())
            .some((box) => x! > box.left && x! < box.right && y! > box.top && y! < box.bottom),
        [x, y],
      );
    if (found === undefined || covered) return false;
    await page.mouse.click(x, y);
    return true;
  };
  await expect.poll(tryNext, { interval: 10 }).toBe(true);
  return found!;
}

const twoFrames = (page: Page) =>
  page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));

/** Runs the cell that prints the traits; what it printed. */
async function printed(page: Page): Promise<string> {
  const cell = cellOf(page, 'print("opened:"');
  await scrollTo(page, cell);
  const prompt = cell.locator(".jp-InputPrompt");
  const before = await prompt.textContent();
  await cell.locator(".jp-InputPrompt").click();
  await page.keyboard.press("Control+Enter");
  await expect
    .poll(async () => /\d/.test((await prompt.textContent()) ?? "") && (await prompt.textContent()) !== before)
    .toBe(true);
  return (await cell.locator(".jp-OutputArea-output").textContent()) ?? "";
}

async function answers(): Promise<boolean> {
  try {
    return (await fetch(`${origin}/api/status`)).ok;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("Expected a port of 127.0.0.1, received none.");
  return address.port;
}
