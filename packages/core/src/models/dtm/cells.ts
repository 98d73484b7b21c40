/**
 * How far single individuals stand out from node sums Σ_i r_ig (g̃_i, G̃_i): where nearly all of a node's responsibility is that of one
 * individual who is nearly certain to be there, its sums are that individual's own statistics. Whoever gives sums away looks here first.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import type { NodeCells } from "../shards.ts";
import { nodeWeights } from "./expectation-step.ts";
import type { IndividualModel } from "./individual-statistics.ts";
import type { LevelSquares } from "./level-statistics.ts";
import { rowOf } from "./mean-effects.ts";
import type { NodeTable } from "./node-table.ts";

/** The cells of individuals whose places have one prior. */
export function nodeCells(
  statistics: readonly BasisStatistics[],
  models: readonly IndividualModel[],
  { numNodes, rows, logWeights }: NodeTable,
  squares: readonly (LevelSquares | undefined)[],
): NodeCells {
  const cells = { people: new Float64Array(numNodes), largest: new Float64Array(numNodes) };
  const r = new Float64Array(numNodes);
  for (let i = 0; i < statistics[0].numIndividuals; i++) {
    const row = models.flatMap((model, k) => [...rowOf(statistics[k], i, model, squares[k]?.before)]);
    nodeWeights(Float64Array.from(row), rows, logWeights, r);
    addCells({ people: r, largest: r }, cells);
  }
  return cells;
}

/** Adds the cells of some individuals to those of others. */
export function addCells(from: NodeCells, to: NodeCells): void {
  for (let g = 0; g < to.people.length; g++) {
    to.people[g] += from.people[g];
    to.largest[g] = Math.max(to.largest[g], from.largest[g]);
  }
}
