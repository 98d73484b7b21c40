/** Results as text and as a table of Markdown. */
import { meets, type Row } from "./case.ts";

/** What is kept of a run of one case. */
export interface CaseResult {
  readonly date: string;
  /** Load average of the last minute when it began; beyond the number of cores, wall-clock times mean little. */
  readonly load: number;
  readonly rows: readonly Row[];
}

/** The file of results. */
export interface Results {
  readonly machine: { readonly cpu: string; readonly cores: number; readonly node: string; readonly platform: string };
  readonly cases: Readonly<Record<string, CaseResult>>;
}

/** Lines of a table of one case's rows, columns aligned. */
export function textTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => [row.what, oursOf(row), peerOf(row), ratioOf(row), goalOf(row), verdictOf(row)]);
  const widths = [0, 1, 2, 3, 4, 5].map((c) => Math.max(...cells.map((line) => line[c].length)));
  const lines = cells.map((line) =>
    line.map((cell, c) => (c === 0 ? cell.padEnd(widths[c]) : cell.padStart(widths[c]))),
  );
  return lines.map((line, k) => `${line.join("  ").trimEnd()}${noteOf(rows[k], "\n    ")}`).join("\n");
}

/** The same for docs/benchmarks.md. */
export function markdownTable(results: Results): string {
  const lines = ["| what | ours | against | ratio | goal | |", "|---|---:|---:|---:|---:|---|"];
  for (const { rows } of Object.values(results.cases)) {
    for (const row of rows) {
      const cells = [row.what, oursOf(row), peerOf(row), ratioOf(row), goalOf(row), verdictOf(row)];
      lines.push(`| ${cells.join(" | ")} |`);
    }
  }
  const { cpu, cores, node, platform } = results.machine;
  const dates = Object.values(results.cases).map(({ date }) => date);
  const loads = Object.values(results.cases).map(({ load }) => load);
  const when = [...new Set([dates.reduce(first), dates.reduce(last)])].join(" to ");
  const load = `load average ${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}`;
  return [`Measured ${when} on ${cpu}, ${cores} cores, ${platform}, Node ${node}; ${load}.`, "", ...lines].join("\n");
}

/** Notes of rows that carry one, for the page. */
export function markdownNotes(results: Results): string {
  const rows = Object.values(results.cases).flatMap((result) => result.rows);
  return rows
    .filter((row) => row.note !== undefined || row.void !== undefined)
    .map((row) => `- ${row.what}: ${row.void ?? row.note}.`.replace(/\.\.$/, "."))
    .join("\n");
}

/** Puts text between the two markers of a page; throws where they are missing. */
export function betweenMarkers(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) {
    throw new Error(
      `Expected ${begin} and ${end} in the page, received a page without them. Put them where the table goes.`,
    );
  }
  return `${page.slice(0, from + begin.length)}\n${text}\n${page.slice(to)}`;
}

function oursOf(row: Row): string {
  return Number.isFinite(row.ours) ? withUnit(row.ours, row.unit) : "–";
}

function peerOf({ peer, unit }: Row): string {
  if (peer === undefined) return "";
  return peer.figure === undefined ? `${peer.name}: peer not here` : `${peer.name}: ${withUnit(peer.figure, unit)}`;
}

function ratioOf({ ratio }: Row): string {
  if (ratio === undefined) return "";
  return ratio < 0.2 ? `1/${digits(1 / ratio)}` : `${digits(ratio)}x`;
}

function goalOf({ goal, atLeast, peer, unit }: Row): string {
  if (goal === undefined) return "";
  const sign = atLeast === true ? "≥" : "≤";
  if (peer === undefined) return `${sign} ${withUnit(goal, unit)}`;
  return goal < 0.5 ? `${sign} 1/${digits(1 / goal)}` : `${sign} ${digits(goal)}x`;
}

function verdictOf(row: Row): string {
  if (row.void !== undefined) return "void";
  const met = meets(row);
  return met === undefined ? "" : met ? "met" : "missed";
}

function noteOf(row: Row, before: string): string {
  const text = row.void ?? row.note;
  return text === undefined ? "" : `${before}${text}`;
}

function withUnit(value: number, unit: Row["unit"]): string {
  return unit === "x" ? `${digits(value)}x` : `${digits(value)} ${unit}`;
}

/** Three figures, as people write them. */
function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en");
  if (size !== 0 && size < 0.001) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
}

const first = (a: string, b: string) => (a < b ? a : b);
const last = (a: string, b: string) => (a > b ? a : b);
