/** `<trajectory-map>`: the map as a custom element. Objects are properties, words are attributes, wishes are events. */
import { mountMap } from "./mount-map.ts";
import { combine } from "./selection.ts";
import type { MapHandle, MapOptions, MapTheme, MapTool } from "./types.ts";

const OBSERVED = ["theme", "tool"] as const;
const PROPERTIES = [
  "model",
  "placements",
  "colour",
  "terrain",
  "groups",
  "selection",
  "outline",
  "arrows",
  "individual",
  "pins",
  "renderer",
  "coast",
  "reducedMotion",
  "view",
  "axes",
  "caveat",
  "legend",
  "sentence",
  "describe",
] as const satisfies readonly (keyof MapOptions)[];

/**
 * Registers `<trajectory-map>` once. Set `model` and `placements`; the map appears when both are there. Events, all with
 * their facts in `detail`: map-open, map-clear, map-select, map-hover, map-pin, map-path, map-view, map-group.
 */
export function defineTrajectoryMap(name = "trajectory-map"): void {
  if (customElements.get(name) !== undefined) return;

  class TrajectoryMapElement extends HTMLElement {
    static readonly observedAttributes = OBSERVED;
    #options: Partial<MapOptions> = {};
    #handle: MapHandle | null = null;
    #home: HTMLElement | null = null;

    /** The handle of the map, null until model and placements are set. */
    get handle(): MapHandle | null {
      return this.#handle;
    }

    connectedCallback(): void {
      if (this.#home === null) {
        const root = this.attachShadow({ mode: "open" });
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(":host{display:grid;height:520px}.tm-home{min-width:0;min-height:0}");
        root.adoptedStyleSheets = [sheet];
        this.#home = this.ownerDocument.createElement("div");
        this.#home.className = "tm-home";
        root.append(this.#home);
      }
      for (const key of PROPERTIES) this.#takeEarly(key);
      this.#mount();
    }

    disconnectedCallback(): void {
      this.#handle?.destroy();
      this.#handle = null;
    }

    attributeChangedCallback(key: string, _: string | null, value: string | null): void {
      if (key === "theme") this.setOption("theme", (value ?? "system") as MapTheme);
      if (key === "tool") this.setOption("tool", (value ?? "point") as MapTool);
    }

    getOption<K extends keyof MapOptions>(key: K): MapOptions[K] | undefined {
      return this.#options[key];
    }

    setOption<K extends keyof MapOptions>(key: K, value: MapOptions[K]): void {
      this.#options = { ...this.#options, [key]: value };
      if (this.#handle !== null) this.#handle.update({ [key]: value } as Partial<MapOptions>);
      else this.#mount();
    }

    /** A property set before the element was defined hides the accessor of its class. */
    #takeEarly(key: (typeof PROPERTIES)[number]): void {
      const own = Object.getOwnPropertyDescriptor(this, key);
      if (own === undefined) return;
      Reflect.deleteProperty(this, key);
      this.setOption(key, own.value);
    }

    #mount(): void {
      const { model, placements } = this.#options;
      if (this.#handle !== null || this.#home === null || !this.isConnected) return;
      if (model === undefined || placements === undefined) return;
      this.#handle = mountMap(this.#home, { ...this.#options, model, placements, ...this.#callbacks() });
    }

    /** Events instead of callbacks. What nobody prevents, the map does itself. */
    #callbacks(): Partial<MapOptions> {
      const tell = (event: string, detail: unknown) =>
        this.dispatchEvent(new CustomEvent(event, { detail, bubbles: true, composed: true, cancelable: true }));
      return {
        onOpen: (index) => {
          if (!tell("map-open", { index })) return;
          const { model, placements } = this.#options as MapOptions;
          const q = model.mapDimension;
          const location = placements.location.slice(index * q, (index + 1) * q);
          this.setOption("individual", { index, location, label: placements.ids[index] });
        },
        onClear: (what) => {
          if (!tell("map-clear", { what })) return;
          if (what === "individual" || what === "selection") this.setOption(what, null);
        },
        onSelect: (indices, mode, how) => {
          if (!tell("map-select", { indices, mode, how })) return;
          this.setOption("selection", combine(this.#options.selection, indices, mode));
        },
        onHover: (reading) => void tell("map-hover", { reading }),
        onPin: (pins) => void tell("map-pin", { pins }),
        onPath: (share, reading) => void tell("map-path", { share, reading }),
        onView: (view) => void tell("map-view", { view }),
        onGroup: (group) => void tell("map-group", { group }),
      };
    }
  }

  for (const key of PROPERTIES) {
    Object.defineProperty(TrajectoryMapElement.prototype, key, {
      configurable: true,
      enumerable: true,
      get(this: TrajectoryMapElement) {
        return this.getOption(key);
      },
      set(this: TrajectoryMapElement, value: never) {
        this.setOption(key, value);
      },
    });
  }
  customElements.define(name, TrajectoryMapElement);
}
