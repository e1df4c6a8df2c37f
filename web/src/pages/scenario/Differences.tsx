import { useMemo, useState } from "preact/hooks";
import type { DifferenceRow, Outcome } from "../../engine/api";
import { useTexts } from "../../texts";
import { useCatalog, wordOf } from "../../ui/catalog";
import { type Column, DataTable } from "../../ui/DataTable";
import { Check, Select } from "../../ui/Field";
import { fitting, number, ofDifference } from "../../ui/format";

/** A difference in the unit that fits: of ratios in points. */
export function differenceText(d: DifferenceRow): string {
  if (d.mean === null) return "–";
  const half = d.low === null || d.high === null ? null : (d.high - d.low) / 2;
  const scale = ofDifference(fitting(d.unit, [d.mean]));
  const sign = d.mean > 0 ? "+" : "";
  return `${sign}${number(d.mean, half, scale.factor, true)} ${scale.unit}`.trimEnd();
}

/** Every other variant compared with one, run by run. */
export function Differences({ outcome }: { outcome: Outcome }) {
  const t = useTexts().scenario;
  const catalog = useCatalog();
  const { differences } = outcome;
  const metrics = useMemo(() => [...new Set(differences.map((d) => d.metric))], [differences]);
  const [metric, setMetric] = useState("");
  const [only, setOnly] = useState(true);
  const rows = differences.filter(
    (d) =>
      (metric === "" || d.metric === metric) &&
      (!only || (d.effect !== "same" && d.effect !== "not shown")),
  );
  const columns: Column<DifferenceRow>[] = [
    { key: "pair", label: t.compared, value: (d) => `${d.variant} − ${d.against}` },
    { key: "class", label: t.class, value: (d) => d.class },
    {
      key: "metric",
      label: t.metric,
      value: (d) => wordOf(catalog, "metrics", d.metric, "short"),
    },
    {
      key: "mean",
      label: t.difference,
      numeric: true,
      value: (d) => d.mean,
      cell: differenceText,
    },
    {
      key: "effect",
      label: t.effect,
      value: (d) => d.effect,
      cell: (d) => (
        <span class={`effect effect-${d.effect.replace(" ", "-")}`}>
          <span aria-hidden="true">{wordOf(catalog, "effects", d.effect, "mark")}</span>{" "}
          {t.effects[d.effect] ?? wordOf(catalog, "effects", d.effect)}
        </span>
      ),
    },
  ];
  return (
    <>
      <div class="filters">
        <Select
          label={t.metric}
          value={metric}
          choices={[
            { value: "", label: t.allMetrics },
            ...metrics.map((m) => ({ value: m, label: wordOf(catalog, "metrics", m, "short") })),
          ]}
          onChange={setMetric}
        />
        <Check label={t.onlyShown} checked={only} onChange={setOnly} />
      </div>
      <DataTable
        caption={t.views.differences}
        quiet
        columns={columns}
        rows={rows}
        rowKey={(d) => `${d.variant} ${d.class} ${d.metric}`}
      />
    </>
  );
}
