/** A document to draw SVG with, where there is no browser. */
import { parseHTML } from "linkedom";

export function parseDocument(): Document {
  return parseHTML("<!doctype html><html><body></body></html>").document as unknown as Document;
}
