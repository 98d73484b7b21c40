/** How often individuals were seen, in classes: 1, 2, 3, 4–5, 6–8, 9 or more visits. */

/** Fewest visits of each class. */
export const VISIT_CLASSES = [1, 2, 3, 4, 6, 9];

/** Class of a number of visits, from 0; −1 of none. */
export function visitClass(visits: number): number {
  return VISIT_CLASSES.filter((from) => visits >= from).length - 1;
}

/** Individuals in each class, [6]; those without a visit are in none. */
export function countVisitClasses(visitCounts: Iterable<number>): number[] {
  const counts = VISIT_CLASSES.map(() => 0);
  for (const visits of visitCounts) if (visits > 0) counts[visitClass(visits)]++;
  return counts;
}
