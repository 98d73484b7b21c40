/**
 * Sums of rows of features over chosen individuals. Features stand in blocks of eight columns, [rank/8][n][8], so that the
 * eight sums of a block stay in registers and each row is one line of the cache. Each sum is taken in the order of the
 * list, as the TypeScript kernel does: the bits are the same.
 */

/** sums[rank] = Σ rows over members[0..count). */
export function sumRows(rows: usize, n: i32, rank: i32, members: usize, count: i32, sums: usize): void {
  const end = members + (<usize>count << 2);
  const stride = <usize>n << 6;
  for (let block = 0; block < rank; block += 8) {
    let a = f64x2.splat(0);
    let b = a;
    let c = a;
    let d = a;
    for (let m = members; m < end; m += 4) {
      const row = rows + (<usize>load<u32>(m) << 6);
      a = f64x2.add(a, v128.load(row));
      b = f64x2.add(b, v128.load(row, 16));
      c = f64x2.add(c, v128.load(row, 32));
      d = f64x2.add(d, v128.load(row, 48));
    }
    v128.store(sums, a);
    v128.store(sums, b, 16);
    v128.store(sums, c, 32);
    v128.store(sums, d, 48);
    sums += 64;
    rows += stride;
  }
}
