/** Compensated (Neumaier) sum over x[start, end): the error does not grow with the length. */
export function compensatedSum(x: ArrayLike<number>, start = 0, end: number = x.length): number {
  let s = 0;
  let c = 0;
  for (let i = start; i < end; i++) {
    const v = x[i];
    const t = s + v;
    c += Math.abs(s) >= Math.abs(v) ? s - t + v : v - t + s;
    s = t;
  }
  return s + c;
}
