import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accessibilityViolations, openBrowser, PACKED, packedChromium } from "./browser.ts";
import { browserOfFile } from "./browser-of-file.ts";

/** A page that does each thing the record is there to notice, and keeps a strict content security policy. */
const LOUD = `<!doctype html><html lang="en"><head><title>Loud</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'self' 'unsafe-inline' blob:; connect-src *; img-src *"></head>
<body><main><h1>Loud</h1><img src="/picture.png"><p style="color:#bbb;background:#fff">faint</p></main>
<script>
console.error("a message");
fetch("http://127.0.0.1:9/elsewhere").catch(() => {});
const body = 'fetch("http://127.0.0.1:9/from-a-worker").catch(() => {}).then(() => postMessage("done"))';
new Worker(URL.createObjectURL(new Blob([body]))).onmessage = () => { document.title = "done"; };
setTimeout(() => { throw new Error("thrown"); });
</script></body></html>`;

const server = createServer((request, response) => {
  response.setHeader("content-type", "text/html");
  response.end(request.url === "/" ? LOUD : "");
});
let address: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => {
  server.close();
});

const chromium = browserOfFile();

describe("the browser of the tests", () => {
  it("draws with WebGL 2", async () => {
    const { page, context } = await chromium.openPage();
    await page.setContent("<canvas></canvas>");
    const version = await page.evaluate(() =>
      document.querySelector("canvas")?.getContext("webgl2")?.getParameter(WebGL2RenderingContext.VERSION),
    );
    expect(version).toMatch(/^WebGL 2/);
    await context.close();
  });

  it("records messages, exceptions and requests, those of workers too", async () => {
    const { page, context, record } = await chromium.openPage();
    await page.goto(address);
    await page.waitForFunction(() => document.title === "done");
    const problems = record.problems().join("\n");
    expect(problems).toContain("error: a message");
    expect(problems).toContain("uncaught: Error: thrown");
    expect(problems).toContain("request: GET http://127.0.0.1:9/elsewhere");
    expect(problems).toContain("request: GET http://127.0.0.1:9/from-a-worker");
    expect(problems).toContain("picture.png");
    expect(record.problems([address]).join("\n")).not.toContain("picture.png");
    await context.close();
  });

  it("finds what axe objects to, under a content security policy", async () => {
    const { page, context } = await chromium.openPage();
    await page.goto(address);
    const rules = (await accessibilityViolations(page)).map(({ rule }) => rule);
    expect(rules).toContain("image-alt");
    expect(rules).toContain("color-contrast");
    await context.close();
  });
});

describe("openBrowser", () => {
  it("says what to do when DTM_CHROMIUM names nothing that can be started", async () => {
    await expect(openBrowser({ DTM_CHROMIUM: "/no/such/program" })).rejects.toThrow(/DTM_CHROMIUM.*received.*unset/s);
  });

  it.runIf(PACKED)("unpacks one browser for two that start at once, and leaves nothing else behind", async () => {
    const folder = await mkdtemp(join(tmpdir(), "dtm-unpack-"));
    try {
      const [one, two] = await Promise.all([packedChromium([folder]), packedChromium([folder])]);
      expect(two).toEqual(one);
      expect((await readdir(folder)).map((name) => join(folder, name, "chromium"))).toEqual([one.file]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
