/** The browser of a file of tests; apart from browser.ts, which the benchmarks use without a test runner. */
import { afterAll, beforeAll } from "vitest";
import { openBrowser, type TestBrowser } from "./browser.ts";

/** A browser for all tests of a file: started before the first of them, ended after the last. */
export function browserOfFile(env?: NodeJS.ProcessEnv): TestBrowser {
  let opened: TestBrowser;
  beforeAll(async () => {
    opened = await openBrowser(env);
  });
  afterAll(() => opened.close());
  return {
    get browser() {
      return opened.browser;
    },
    get file() {
      return opened.file;
    },
    openPage: (options) => opened.openPage(options),
    close: () => opened.close(),
  };
}
