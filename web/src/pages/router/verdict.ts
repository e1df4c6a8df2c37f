/** What a run says of each class: measured values with their intervals, bounds and verdicts. */

import type { Outcome, SummaryRow, VerdictRow } from "../../engine/api";
import type { Load } from "./loads";

/** A mean with half the width of its interval. */
export interface Value {
  mean: number | null;
  half: number | null;
  low: number | null;
  high: number | null;
}

export interface ClassResult {
  name: string;
  offered: Value;
  throughput: Value;
  loss: Value;
  mean: Value;
  p99: Value;
  largest: Value;
  /** s that no packet can exceed; `null` if nothing bounds it, for the reason of `why`. */
  bound: number | null;
  lossless: boolean;
  why: string | null;
  verdicts: VerdictRow[];
  /** Whether none of its packets came to the queue of the class: another class took them. */
  elsewhere: boolean;
  /** The worst of its verdicts; none if nothing is required. */
  verdict: "pass" | "fail" | "undecided" | null;
}

export const METRICS = {
  offered: "offered",
  throughput: "throughput",
  loss: "loss_ratio",
  mean: "owd_mean",
  p99: "owd_p99",
  largest: "owd_max",
} as const;

const NOTHING: Value = { mean: null, half: null, low: null, high: null };

function valueFrom(row: SummaryRow | undefined): Value {
  if (row === undefined) return NOTHING;
  const { mean, low, high } = row;
  return { mean, low, high, half: low !== null && high !== null ? (high - low) / 2 : null };
}

/** Rows of classes in the order of the loads; of a variant, or of the only one. */
export function resultsOf(outcome: Outcome, loads: readonly Load[]): ClassResult[] {
  return loads
    .filter((l) => l.kind !== "none")
    .map(({ name, path }) => {
      const rows = outcome.summary.filter((r) => r.scope === "class" && r.name === name);
      const of = (metric: string) => valueFrom(rows.find((r) => r.metric === metric));
      const verdicts = outcome.verdicts.filter((v) => v.class === name);
      const bound = outcome.bounds.find((b) => b.class === name);
      return {
        name,
        offered: of(METRICS.offered),
        throughput: of(METRICS.throughput),
        loss: of(METRICS.loss),
        mean: of(METRICS.mean),
        p99: of(METRICS.p99),
        largest: of(METRICS.largest),
        bound: bound?.owd ?? null,
        lossless: bound?.lossless ?? false,
        why: bound?.why ?? null,
        verdicts,
        elsewhere: (of("packets_sent").mean ?? 0) > 0 && arrivedAt(outcome, path) === 0,
        verdict: worst(verdicts),
      };
    });
}

/** Packets that came to the queue of a class; none where it has no queue of its own. */
export function arrivedAt(outcome: Pick<Outcome, "summary">, path: readonly string[]) {
  const place = `line/${path.join("/")}`;
  const row = outcome.summary.find(
    (r) => r.scope === "queue" && r.name === place && r.metric === "packets_offered",
  );
  return row?.mean ?? undefined;
}

function worst(verdicts: readonly VerdictRow[]): ClassResult["verdict"] {
  if (verdicts.length === 0) return null;
  if (verdicts.some((v) => v.verdict === "fail")) return "fail";
  return verdicts.every((v) => v.verdict === "pass") ? "pass" : "undecided";
}

/** Whether two values differ for sure: their intervals have nothing in common. */
export function differs(a: Value, b: Value): boolean {
  if (a.low === null || a.high === null || b.low === null || b.high === null) return false;
  return a.high < b.low || b.high < a.low;
}
