/// <reference types="svelte" />
/// <reference types="vite/client" />

/** Whether this is the build that `dtm explore` serves; the other is the page opened from disk. */
declare const __SERVED__: boolean;
