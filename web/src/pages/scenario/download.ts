/** Results as files. */

import type { Curve, Outcome, SummaryRow } from "../../engine/api";
import { timeOf } from "../../ui/outline";

/** A cell of a CSV file: in quotes where it must be (RFC 4180). */
function cell(value: unknown): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function lines(head: readonly string[], rows: Iterable<readonly unknown[]>): string {
  const all = [head.join(",")];
  for (const row of rows) all.push(row.map(cell).join(","));
  return `${all.join("\r\n")}\r\n`;
}

const SUMMARY = "variant scope name metric unit mean low high n bound".split(" ");

export function summaryCsv(rows: readonly SummaryRow[]): string {
  return lines(
    SUMMARY,
    rows.map((row) => SUMMARY.map((key) => row[key as keyof SummaryRow])),
  );
}

export function seriesCsv(series: readonly Curve[]): string {
  function* rows() {
    for (const c of series) {
      for (let i = 0; i < c.values.length; i++) {
        yield [c.variant, c.run, c.place, c.metric, c.unit, timeOf(c, i), c.values[i]];
      }
    }
  }
  return lines(["variant", "run", "place", "metric", "unit", "time_s", "value"], rows());
}

/** Everything but the description's policies, as one JSON document. */
export function resultsJson(outcome: Outcome): string {
  const series = outcome.series.map((c) => ({
    ...c,
    values: Array.from(c.values, (v) => (Number.isNaN(v) ? null : v)),
  }));
  return `${JSON.stringify({ ...outcome, series }, null, 1)}\n`;
}

/** Hands a file to the user. */
export function save(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The download has begun once the click is over.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
