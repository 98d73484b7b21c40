/**
 * What sums may not leave a site, because a single individual could be read off them (docs/privacy.md):
 * - sums at a node of the map that are nearly all of one individual, who is more likely there than elsewhere;
 * - sums of a start from random places. Everybody knows these from the seed, so that a few hundred nodes are as many linear equations in the
 *   statistics of individuals.
 */
import type { NodeCells } from "@trajectory-maps/core/hosts";
import { UsageError } from "../exit-codes.ts";
import { counted } from "../print/words.ts";

/** An individual that carries this share of a node's sums, and is there with this probability, is exposed. */
const CARRIES = 0.9;
const CERTAIN = 0.5;
/** Starts whose places others do not know: principal components, and scores of them. */
const SAFE_RESTARTS = 1;

/** How single individuals stand out. */
export interface Exposure {
  readonly nodes: number;
  /** Nodes whose sums are nearly all of one individual. */
  readonly carried: number;
  /** Those of them where the individual is more likely than elsewhere. */
  readonly exposed: number;
}

/** The exposure of node sums. */
export function exposureOf({ people, largest }: NodeCells): Exposure {
  const carried = [...largest].filter((r, g) => r > CARRIES * people[g]!);
  return { nodes: people.length, carried: carried.length, exposed: carried.filter((r) => r > CERTAIN).length };
}

/** Exposure in words. */
export function exposureText({ nodes, carried, exposed }: Exposure): string {
  return `at ${carried} of ${nodes} nodes one individual makes up more than ${100 * CARRIES}% of the sums; at ${exposed} of these it stands with more than ${100 * CERTAIN}% probability (0 may leave)`;
}

/** Refuses node sums that are those of one individual. */
export function checkCells(cells: NodeCells, place: string): void {
  const { exposed } = exposureOf(cells);
  if (exposed === 0) return;
  throw new UsageError(
    `${place}: expected sums over several individuals at every node of the map, received ${counted(exposed, "node")} where nearly all is of one individual, whose statistics could be read off (docs/privacy.md). The sums of this round did not leave. Take part with more individuals, or hand them out with --allow-exposed.`,
  );
}

/** Further starts of a map that a site hands out sums for; refuses those from random places. */
export function safeRestarts(asked: number = SAFE_RESTARTS): number {
  if (asked <= SAFE_RESTARTS) return asked;
  throw new UsageError(
    `--restarts: expected 0 or 1, received ${asked}. Further starts are from random places, which every site knows from the seed: statistics of single individuals could be solved from their sums (docs/privacy.md). Ask for fewer, or for all the same with --allow-exposed.`,
  );
}
