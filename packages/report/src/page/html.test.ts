import { describe, expect, it } from "vitest";
import { significant } from "../numbers.ts";
import { html } from "./html.ts";

describe("html", () => {
  it("escapes values and raises powers of ten with plain figures", () => {
    expect(html`<td>${significant(1.2e-10)}</td>`.markup).toBe("<td>1.2 × 10<sup>−10</sup></td>");
    expect(html`<td>${"<b>mm³</b>"}</td>`.markup).toBe("<td>&lt;b&gt;mm³&lt;/b&gt;</td>");
  });
});
