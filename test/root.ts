import { fileURLToPath } from "node:url";

/** The repository; this file stands one folder deep in it, and so does a program that it is built into. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url));
