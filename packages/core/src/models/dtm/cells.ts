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
import type { StartingWeights } from "./starting-places.ts";

/** The cells of individuals whose places have one prior. */
export function nodeCells(
  statistics: readonly BasisStatistics[],
  models: readonly IndividualModel[],
  { numNodes, rows, logWeights }: NodeTable,
  squares: readonly (LevelSquares | undefined)[],
): NodeCells {
  return cellsOf(statistics[0].numIndividuals, numNodes, (i, r) => {
    const row = models.flatMap((model, k) => [...rowOf(statistics[k], i, model, squares[k]?.before)]);
    nodeWeights(Float64Array.from(row), rows, logWeights, r);
  });
}

/** The cells of m individuals at their starting responsibilities. */
export function startingCells(m: number, { terms, powers }: StartingWeights): NodeCells {
  const numTerms = terms.length / m;
  const even = new Float64Array(powers.length / numTerms);
  return cellsOf(m, even.length, (i, r) =>
    nodeWeights(terms.subarray(i * numTerms, (i + 1) * numTerms), powers, even, r),
  );
}

function cellsOf(m: number, numNodes: number, weigh: (i: number, r: Float64Array) => void): NodeCells {
  const cells = { people: new Float64Array(numNodes), largest: new Float64Array(numNodes) };
  const r = new Float64Array(numNodes);
  for (let i = 0; i < m; i++) {
    weigh(i, r);
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
