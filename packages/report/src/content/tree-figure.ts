/** The figure of the tree of merges. */
import { drawDendrogram } from "../figures/dendrogram.ts";
import type { Figure } from "../figures/figure.ts";
import { significant, whole } from "../numbers.ts";
import { sharedTree } from "../shared-tree.ts";
import { isCount } from "../small-cells.ts";
import { numberWord } from "../words.ts";
import type { Context } from "./context.ts";

const LISTED = 10;

/** The top of the tree with the cut, without sizes of branches where it may be shared; none where groups were not cut from one. */
export function treeFigure({ study, groups, sizes, smallCell }: Context): Figure | undefined {
  const own = study.groups?.tree;
  const isShared = smallCell > 1;
  const hidden = new Set(groups.filter((_, k) => !isCount(sizes[k])).map(({ group }) => group));
  const tree = own === undefined || !isShared ? own : sharedTree(own, hidden);
  if (tree === undefined || tree.merges.length === 0) return undefined;
  const { merges, leaves } = tree;
  const last = merges.slice(-LISTED).reverse();
  const within = groups.length - 1 - merges.filter(([, , height]) => height > tree.cut).length;
  return {
    key: "tree",
    title: "Tree of merges",
    caption: `Lengths: how much a split lowers the sum of squares within (root of twice of it); ${leaves.length} branches are shown. ${isShared ? "Letters: the group of a branch" : "Discs: individuals in a branch; letters: its group"}${within > 0 ? "; a letter that comes again beyond another is a group from which a branch was taken" : ""}. A cut through long branches separates; one through short branches divides a continuum.`,
    summary: `The last merge, of two branches into one, is at height ${significant(merges[merges.length - 1][2])}. ${
      groups.length > 1
        ? `Cut at height ${significant(tree.cut)}${within > 0 ? `, with ${numberWord(within)} more of the branches below` : ""}, the tree gives ${numberWord(groups.length)} groups.`
        : "The tree is not cut."
    }`,
    table: {
      columns: ["Branches left", "height of the merge", ...(isShared ? [] : ["individuals in it"])],
      rows: last.map(([, , height, size], k) => {
        return [String(k + 1), significant(height), ...(isShared ? [] : [whole(size)])];
      }),
    },
    width: 540,
    draw: (canvas) => drawDendrogram(tree, groups, !isShared, canvas),
  };
}
