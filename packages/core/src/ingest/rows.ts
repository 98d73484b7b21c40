/** Growing columns of accepted rows: one entry per observation in each column, no object per row. */

export interface Rows {
  readonly ids: string[];
  times: Float64Array;
  values: Float64Array;
  /** Physical line each row came from. */
  lines: Int32Array;
  length: number;
}

export function createRows(): Rows {
  return {
    ids: [],
    times: new Float64Array(1024),
    values: new Float64Array(1024),
    lines: new Int32Array(1024),
    length: 0,
  };
}

export function appendRow(rows: Rows, id: string, time: number, value: number, line: number): void {
  if (rows.length === rows.times.length) {
    rows.times = grown(rows.times, new Float64Array(2 * rows.length));
    rows.values = grown(rows.values, new Float64Array(2 * rows.length));
    rows.lines = grown(rows.lines, new Int32Array(2 * rows.length));
  }
  rows.ids.push(id);
  rows.times[rows.length] = time;
  rows.values[rows.length] = value;
  rows.lines[rows.length] = line;
  rows.length++;
}

function grown<A extends Float64Array | Int32Array>(from: A, to: A): A {
  to.set(from);
  return to;
}

/** Cuts the columns to their length. */
export function trimRows(rows: Rows): void {
  rows.times = rows.times.subarray(0, rows.length);
  rows.values = rows.values.subarray(0, rows.length);
  rows.lines = rows.lines.subarray(0, rows.length);
}
