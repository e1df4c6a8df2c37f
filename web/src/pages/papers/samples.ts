import type { Outcome, SampleRow } from "../../engine/api";

/** The values of a metric of one or several things of a scope, one list of runs each. */
export function sampled(
  outcome: Outcome,
  scope: string,
  metric: string,
  named: (name: string) => boolean,
): number[][] {
  const rows = (outcome.samples ?? []).filter(
    (r) => r.scope === scope && r.metric === metric && named(r.name),
  );
  if (rows.length === 0) throw new Error(`the run has no ${metric} of the ${scope} asked for`);
  return rows.map(values);
}

/** The values of a metric of one thing, by run. */
export function sample(outcome: Outcome, scope: string, name: string, metric: string): number[] {
  const [only = []] = sampled(outcome, scope, metric, (n) => n === name);
  return only;
}

/** The sum of several values, run by run. */
export function summed(lists: readonly (readonly number[])[]): number[] {
  const [first = []] = lists;
  return first.map((_, run) => lists.reduce((sum, list) => sum + (list[run] ?? Number.NaN), 0));
}

function values(row: SampleRow): number[] {
  return row.values.map((v) => v ?? Number.NaN);
}
