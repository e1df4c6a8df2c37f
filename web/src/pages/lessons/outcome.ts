import type { Curve, Outcome, SummaryRow } from "../../engine/api";
import type { Measure } from "./lesson";

/** A row of the summary. */
export function row(
  o: Outcome,
  variant: string | undefined,
  scope: string,
  name: string,
  metric: string,
): SummaryRow | undefined {
  return o.summary.find(
    (r) =>
      r.scope === scope &&
      r.name === name &&
      r.metric === metric &&
      (variant === undefined || r.variant === variant),
  );
}

/** The mean over the runs of a metric, in its base unit. It has to be there. */
export function mean(
  o: Outcome | undefined,
  variant: string | undefined,
  scope: string,
  name: string,
  metric: string,
): number {
  const found = o && row(o, variant, scope, name, metric)?.mean;
  if (typeof found !== "number") {
    throw new Error(`the run has no ${metric} of ${scope} ${name} (${variant ?? "any variant"})`);
  }
  return found;
}

/** Time series of one place. */
export function curves(o: Outcome, place: string, metric: string): Curve[] {
  return o.series.filter((s) => s.place === place && s.metric === metric);
}

/** A measure of a lesson by a variant, as a row; the one that is computed has no interval. */
export function measureRow(
  o: Outcome,
  variant: string,
  m: Measure<string, string>,
): Pick<SummaryRow, "mean" | "low" | "high" | "unit"> | undefined {
  if (!m.computed) return row(o, variant, m.scope, m.of, m.metric);
  const unit = curves(o, m.of, m.metric)[0]?.unit ?? "";
  return { mean: m.computed(o), low: null, high: null, unit };
}

/** The values of a time series in the measured period. */
export function measured(o: Outcome, curve: Curve): Float64Array {
  const first = Math.ceil((o.description.measurement.warmup - curve.start) / curve.step);
  return curve.values.subarray(Math.max(0, first)).filter((x) => !Number.isNaN(x));
}

/** The standard deviation of what a time series shows in the measured period. */
export function swing(o: Outcome | undefined, place: string, metric: string): number {
  const [curve] = o ? curves(o, place, metric) : [];
  if (!o || !curve) throw new Error(`the run has no series ${metric} of ${place}`);
  const values = measured(o, curve);
  const middle = values.reduce((sum, x) => sum + x, 0) / values.length;
  const squares = values.reduce((sum, x) => sum + (x - middle) ** 2, 0);
  return Math.sqrt(squares / values.length);
}

/** The name whose value is least. */
export function least<K extends string>(values: Readonly<Record<K, number>>): K {
  const names = Object.keys(values) as K[];
  return names.reduce((a, b) => (values[b] < values[a] ? b : a));
}

/** The name whose value is greatest. */
export function greatest<K extends string>(values: Readonly<Record<K, number>>): K {
  const names = Object.keys(values) as K[];
  return names.reduce((a, b) => (values[b] > values[a] ? b : a));
}
