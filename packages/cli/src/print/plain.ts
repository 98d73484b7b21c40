/** Text of others made safe for a terminal. */

/** Control characters but line ends and tabs, marks that turn the direction of text, and separators that some terminals take for line ends. */
const ODD =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** The text with escapes such as \u001b for what could move the cursor, change colours or hide letters. */
export function plain(text: string): string {
  return text.replace(ODD, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
