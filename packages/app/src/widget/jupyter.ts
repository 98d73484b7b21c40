/**
 * The map as a widget of Jupyter, for the Python package: an anywidget whose traits are `_data` (what `showMap` takes),
 * `_height` in pixels, `selection` (ids) and `opened` (an id or null); the last two are followed both ways.
 */
import { showMap, type WidgetData } from "./widget.ts";

/** What anywidget hands over of the traits in Python. */
interface Traits {
  get(name: "_data"): WidgetData;
  get(name: "_height"): number;
  get(name: "selection"): string[];
  get(name: "opened"): string | null;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, handler: () => void): void;
  off(event: string, handler: () => void): void;
}

function render({ model: traits, el: element }: { model: Traits; el: HTMLElement }): () => void {
  const tell = (name: string, value: unknown) => {
    traits.set(name, value);
    traits.save_changes();
  };
  const home = element.ownerDocument.createElement("div");
  home.style.height = `${traits.get("_height")}px`;
  // The map has keys of its own, which JupyterLab would take for commands of the notebook.
  home.dataset.lmSuppressShortcuts = "true";
  element.append(home);
  const { body } = element.ownerDocument;
  const data = traits.get("_data");
  const ofPage = body.dataset.jpThemeLight === "false" ? "dark" : "light";
  const map = showMap(
    home,
    { ...data, theme: data.theme ?? ofPage },
    { onOpen: (id) => tell("opened", id), onSelect: (ids) => tell("selection", ids) },
  );
  const followers = {
    "change:selection": () => map.select(traits.get("selection")),
    "change:opened": () => map.open(traits.get("opened")),
  };
  for (const [event, follow] of Object.entries(followers)) {
    follow();
    traits.on(event, follow);
  }
  return () => {
    for (const [event, follow] of Object.entries(followers)) traits.off(event, follow);
    map.destroy();
  };
}

export default { render };
