import { useMemo, useState } from "preact/hooks";
import type { Outcome, SummaryRow } from "../../engine/api";
import { useTexts } from "../../texts";
import { useCatalog, wordOf } from "../../ui/catalog";
import { type Column, DataTable } from "../../ui/DataTable";
import { Check, Select, TextField } from "../../ui/Field";
import { ceiling, withInterval } from "../../ui/format";

/** One metric of one thing, in every variant. */
interface Line {
  name: string;
  metric: string;
  byVariant: Map<string, SummaryRow>;
}

function halfOf(row: SummaryRow): number | null {
  return row.low === null || row.high === null ? null : (row.high - row.low) / 2;
}

/** The rows of a scope and a metric, one a thing and metric. */
export function linesOf(
  summary: readonly SummaryRow[],
  scope: string,
  metric: string,
  name: string,
  zeros = true,
): Line[] {
  const found = new Map<string, Line>();
  const sought = name.trim().toLowerCase();
  for (const row of summary) {
    if (row.scope !== scope || (metric !== "" && row.metric !== metric)) continue;
    if (sought !== "" && !row.name.toLowerCase().includes(sought)) continue;
    const key = `${row.name}\u0000${row.metric}`;
    const line = found.get(key) ?? { name: row.name, metric: row.metric, byVariant: new Map() };
    line.byVariant.set(row.variant, row);
    found.set(key, line);
  }
  const lines = [...found.values()];
  return zeros ? lines : lines.filter((l) => [...l.byVariant.values()].some((r) => r.mean));
}

/** Every value that was measured, with its interval, chosen by scope, metric and name. */
export function Summary({ outcome }: { outcome: Outcome }) {
  const t = useTexts().scenario;
  const catalog = useCatalog();
  const { summary } = outcome;
  const { variants } = outcome.description;
  const scopes = useMemo(() => [...new Set(summary.map((r) => r.scope))], [summary]);
  const [chosen, setScope] = useState("class");
  const [metric, setMetric] = useState("");
  const [name, setName] = useState("");
  const [zeros, setZeros] = useState(false);
  const scope = scopes.includes(chosen) ? chosen : (scopes[0] ?? "");
  const metrics = useMemo(
    () => [...new Set(summary.filter((r) => r.scope === scope).map((r) => r.metric))],
    [summary, scope],
  );
  const of = metrics.includes(metric) ? metric : "";
  const rows = useMemo(
    () => linesOf(summary, scope, of, name, zeros),
    [summary, scope, of, name, zeros],
  );
  const columns: Column<Line>[] = [
    { key: "name", label: wordOf(catalog, "scopes", scope, "short"), value: (r) => r.name },
    {
      key: "metric",
      label: t.metric,
      value: (r) => wordOf(catalog, "metrics", r.metric, "short"),
      cell: (r) => (
        <span title={wordOf(catalog, "metrics", r.metric, "summary")}>
          {wordOf(catalog, "metrics", r.metric, "short")}
        </span>
      ),
    },
    ...variants.map((variant) => valueColumn(variant, variant || t.value, t.cannotExceed)),
  ];
  return (
    <>
      <div class="filters">
        <Select
          label={t.scope}
          value={scope}
          choices={scopes.map((s) => ({ value: s, label: wordOf(catalog, "scopes", s, "short") }))}
          onChange={setScope}
        />
        <Select
          label={t.metric}
          value={of}
          choices={[
            { value: "", label: t.allMetrics },
            ...metrics.map((m) => ({ value: m, label: wordOf(catalog, "metrics", m, "short") })),
          ]}
          onChange={setMetric}
        />
        <TextField label={t.filter} value={name} onInput={setName} />
        <Check label={t.zeros} checked={zeros} onChange={setZeros} />
      </div>
      <DataTable
        caption={t.views.summary}
        quiet
        columns={columns}
        rows={rows}
        rowKey={(r) => `${r.name} ${r.metric}`}
      />
    </>
  );
}

function valueColumn(
  variant: string,
  label: string,
  cannotExceed: (text: string) => string,
): Column<Line> {
  return {
    key: `variant ${variant}`,
    label,
    numeric: true,
    value: (line) => line.byVariant.get(variant)?.mean,
    cell: (line) => {
      const row = line.byVariant.get(variant);
      if (!row) return "–";
      const bound = row.bound === null ? undefined : cannotExceed(ceiling(row.bound, row.unit));
      return <span title={bound}>{withInterval(row.mean, halfOf(row), row.unit)}</span>;
    },
  };
}
