/** The same fit in a worker of a page (Chromium) and in Node, in turn. */
import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { openBrowser } from "../../test/browser.ts";
import { against, type BenchCase, requireClose } from "../case.ts";
import { ROOT } from "../peers.ts";

interface TimedFit {
  readonly milliseconds: number;
  readonly bound: number;
  readonly kernels: string;
}

const TYPES: Readonly<Record<string, string>> = { ".html": "text/html", ".mjs": "text/javascript" };

export const browser: BenchCase = {
  name: "browser",
  about: "the same fit in a browser's worker and in Node",
  run: async ({ quick }) => {
    const m = quick ? 150 : 400;
    const page = pathToFileURL(join(ROOT, "bench", "page", "fit.mjs")).href;
    const { timedFit } = (await import(page)) as { timedFit: (m: number) => TimedFit };
    const server = await serve();
    const chromium = await openBrowser();
    try {
      const { page, record } = await chromium.openPage();
      const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      await page.goto(`${address}bench/page/index.html`);
      await page.waitForFunction("globalThis.fitInWorker !== undefined");
      const inWorker = async () => (await page.evaluate(`fitInWorker(${m})`)) as TimedFit;
      let [node, worker] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      for (let round = 0; round < (quick ? 2 : 6); round++) {
        const here = timedFit(m);
        const there = await inWorker();
        requireClose("bound of the fit in the browser", there.bound, here.bound, 1e-9);
        node = Math.min(node, here.milliseconds);
        worker = Math.min(worker, there.milliseconds);
      }
      const problems = record.problems([address]);
      if (problems.length > 0) throw new Error(`The page complained: ${problems.join("; ")}`);
      return [against(`fit of ${m} individuals in a browser's worker`, "ms", worker, "Node", node, { goal: 1.5 })];
    } finally {
      await chromium.close();
      server.close();
    }
  },
};

/** Serves files of bench/page and the built library on loopback. */
function serve(): Promise<Server> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://127.0.0.1").pathname;
    const known = path.startsWith("/bench/page/") || path.startsWith("/packages/core/dist/");
    const file = join(ROOT, path);
    if (!known || !existsSync(file)) return response.writeHead(404).end();
    response
      .writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" })
      .end(readFileSync(file));
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}
