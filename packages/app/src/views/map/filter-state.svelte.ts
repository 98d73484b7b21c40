/** The brushes of the cross-filter: A dims the map, B is what A is compared with. They are forgotten with the map they belong to. */
import type { Placements } from "@trajectory-maps/core";
import { explorer } from "../../state/explorer.svelte.ts";
import { type Brushes, type Dimension, dimensionsOf, type Filtered, filterBy, NO_BRUSHES } from "./cross-filter.ts";
import { studies } from "./map-studies.svelte.ts";

export type Side = "a" | "b";

class FilterState {
  open = $state(false);
  side: Side = $state("a");
  #brushes: { readonly of: Placements | null; readonly a: Brushes; readonly b: Brushes } = $state.raw({
    of: null,
    a: NO_BRUSHES,
    b: NO_BRUSHES,
  });

  readonly #placements: Placements | null = $derived(studies.study?.placements ?? null);
  readonly dimensions: readonly Dimension[] = $derived(
    !this.open || this.#placements === null
      ? []
      : dimensionsOf(this.#placements, explorer.outcomes, explorer.subjects?.table ?? null),
  );
  /** Whom the map has selected or filtered to: the histograms are of them. */
  readonly among: ArrayLike<number> | null = $derived(
    studies.selection?.members ??
      (explorer.view.group === null ? null : (studies.groups?.members[explorer.view.group] ?? null)),
  );
  readonly a: Filtered = $derived(this.#filtered("a"));
  readonly b: Filtered = $derived(this.#filtered("b"));
  /** Whom the brushes keep; null where nothing is brushed. */
  readonly members: Int32Array | null = $derived.by(() => {
    if (!this.open || !(this.isBrushed("a") || this.isBrushed("b"))) return null;
    if (!this.isBrushed("b")) return this.a.members;
    if (!this.isBrushed("a")) return this.b.members;
    return Int32Array.from(new Set([...this.a.members, ...this.b.members])).sort();
  });

  brushesOf(side: Side): Brushes {
    const { of, [side]: own } = this.#brushes;
    return of === this.#placements ? own : NO_BRUSHES;
  }

  isBrushed(side: Side): boolean {
    return this.brushesOf(side).size > 0;
  }

  /** Brushes bins of a dimension on the side at hand, or all of them. */
  brush(key: string, range: readonly [number, number] | null): void {
    const own = new Map(this.brushesOf(this.side));
    if (range === null) own.delete(key);
    else own.set(key, range);
    const both = { a: this.brushesOf("a"), b: this.brushesOf("b"), [this.side]: own };
    this.#brushes = { ...both, of: this.#placements };
  }

  clear(): void {
    this.#brushes = { of: null, a: NO_BRUSHES, b: NO_BRUSHES };
    this.side = "a";
  }

  #filtered(side: Side): Filtered {
    return filterBy(this.dimensions, this.brushesOf(side), this.#placements?.ids.length ?? 0, this.among);
  }
}

/** The cross-filter of the page. */
export const filter = new FilterState();
