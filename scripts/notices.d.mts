import type { Plugin } from "vite";

export const NOTICES_FILE: string;
export function thirdPartyNotices(options?: { readonly seen?: Set<string>; readonly write?: boolean }): Plugin;
export function noticesOf(folders: Iterable<string>): string;
