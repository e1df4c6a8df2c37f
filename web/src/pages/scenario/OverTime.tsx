import { useMemo, useState } from "preact/hooks";
import type { Outcome } from "../../engine/api";
import { useTexts } from "../../texts";
import { useCatalog, wordOf } from "../../ui/catalog";
import { useChartGroup } from "../../ui/charts";
import { Select } from "../../ui/Field";
import { TimeChart } from "../../ui/TimeChart";
import { chartOfPlace, chartsOfVariant, isEmpty, metricsOf, placesOf, runsOf } from "./curves";

/** The value of a choice that is still there, else the first. */
function still<T>(chosen: T | undefined, list: readonly T[]): T | undefined {
  return chosen !== undefined && list.includes(chosen) ? chosen : list[0];
}

/** Curves over time: all of a variant, or one place in all variants. */
export function OverTime({ outcome }: { outcome: Outcome }) {
  const t = useTexts().scenario;
  const catalog = useCatalog();
  const group = useChartGroup();
  const { series, description } = outcome;
  const metrics = useMemo(() => metricsOf(series), [series]);
  const runs = useMemo(() => runsOf(series), [series]);
  const [chosen, choose] = useState<{ metric?: string; run?: number; of?: string }>({});
  const metric = still(chosen.metric, metrics);
  const run = still(chosen.run, runs) ?? 0;
  const places = useMemo(() => (metric ? placesOf(series, metric) : []), [series, metric]);
  const { variants, classes } = description;
  const of = still(chosen.of, [
    ...variants.map((v) => `variant ${v}`),
    ...places.map((p) => `place ${p}`),
  ]);
  const charts = useMemo(() => {
    if (metric === undefined || of === undefined) return [];
    return of.startsWith("place ")
      ? [chartOfPlace(series, metric, of.slice(6), run, variants)]
      : chartsOfVariant(series, metric, of.slice(8), run, classes);
  }, [series, metric, of, run, variants, classes]);
  if (metric === undefined) return <p class="results-none">{t.noSeries}</p>;
  // What is nothing but zero takes a line of text, not a chart.
  const empty = charts.filter(isEmpty);
  const named = (title: string) => {
    const label = wordOf(catalog, "series", metric, "label");
    return title ? `${title}: ${label}` : label;
  };
  return (
    <>
      <div class="filters">
        <Select
          label={t.metric}
          value={metric}
          choices={metrics.map((m) => ({ value: m, label: wordOf(catalog, "series", m, "short") }))}
          onChange={(m) => choose({ ...chosen, metric: m })}
        />
        <Select
          label={t.shown}
          value={of ?? ""}
          choices={[
            ...variants.map((v) => ({
              value: `variant ${v}`,
              label: v || t.asWritten,
              group: t.allOfVariant,
            })),
            ...places.map((p) => ({ value: `place ${p}`, label: p, group: t.allVariants })),
          ]}
          onChange={(next) => choose({ ...chosen, of: next })}
        />
        {runs.length > 1 && (
          <Select
            label={t.oneRun}
            value={String(run)}
            choices={runs.map((r) => ({ value: String(r), label: String(r + 1) }))}
            onChange={(r) => choose({ ...chosen, run: Number(r) })}
          />
        )}
      </div>
      <p class="note-line">{wordOf(catalog, "series", metric, "summary")}</p>
      <div class="charts">
        {charts
          .filter((c) => !empty.includes(c))
          .map((c) => (
            <TimeChart
              key={`${metric} ${of} ${c.title} ${c.lines[0]?.name}`}
              title={named(c.title)}
              unit={c.unit}
              lines={c.lines}
              group={group}
            />
          ))}
      </div>
      {empty.length > 0 && (
        <p class="note-line">{t.alwaysZero(empty.map((c) => c.title).join(", "))}</p>
      )}
    </>
  );
}
