import type { Plugin } from "vite";

export const NOTICES_FILE: string;
export function thirdPartyNotices(options?: {
  readonly seen?: Map<string, Set<string>>;
  readonly write?: boolean;
}): Plugin;
export function noticesOf(packages: Iterable<readonly [string, Iterable<string>]>): string;
export function headersOf(text: string): string[];
