/** A polite live region that speaks at most once in half a second; of what comes faster, the last is said. */

const PAUSE = 500;

export interface Speaker {
  readonly element: HTMLElement;
  say(words: string): void;
  destroy(): void;
}

/** A speaker; put its element into the page. */
export function speaker(document: Document): Speaker {
  const element = document.createElement("div");
  element.className = "tm-live";
  element.setAttribute("role", "status");
  element.setAttribute("aria-live", "polite");
  let last = -Infinity;
  let timer: ReturnType<typeof setTimeout> | null = null;
  const speak = (words: string) => {
    last = Date.now();
    timer = null;
    element.textContent = words;
  };
  return {
    element,
    say(words) {
      if (timer !== null) clearTimeout(timer);
      const wait = last + PAUSE - Date.now();
      if (wait <= 0) speak(words);
      else timer = setTimeout(() => speak(words), wait);
    },
    destroy() {
      if (timer !== null) clearTimeout(timer);
      element.remove();
    },
  };
}
