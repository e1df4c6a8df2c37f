import { useMemo } from "preact/hooks";
import type { VerdictRow } from "../../engine/api";
import { useTexts } from "../../texts";
import { CdfChart, type Delays, type Mark } from "../../ui/CdfChart";
import { useChartGroup } from "../../ui/charts";
import { type Paint, paints } from "../../ui/colors";
import { type Column, DataTable } from "../../ui/DataTable";
import { ceiling, NONE, value, withInterval } from "../../ui/format";
import { type Line, TimeChart } from "../../ui/TimeChart";
import { Verdict } from "../../ui/Verdict";
import type { Tried } from "./state";
import { type ClassResult, resultsOf, type Value } from "./verdict";

const shown = (v: Value, unit: string) => withInterval(v.mean, v.half, unit);

/** What a run says: each class, its requirements, and how it went over time. */
export function Results({ tried }: { tried: Tried }) {
  const t = useTexts().router.results;
  const { outcome, setup } = tried;
  const results = useMemo(() => resultsOf(outcome, setup.loads), [tried]);
  const verdicts = outcome.verdicts;
  const runs = outcome.runs.length;
  return (
    <>
      <DataTable
        caption={t.classes}
        quiet
        columns={useColumns()}
        rows={results}
        rowKey={(r) => r.name}
      />
      <p class="router-quiet">
        {t.how(
          runs,
          value(outcome.description.measurement.duration, "s"),
          outcome.seconds.toFixed(1),
        )}
      </p>
      {results
        .filter((r) => r.elsewhere)
        .map((r) => (
          <p key={r.name} class="router-notice">
            {t.elsewhere(r.name)}
          </p>
        ))}
      {verdicts.length > 0 && <Requirements verdicts={verdicts} />}
      <Charts tried={tried} results={results} />
    </>
  );
}

function useColumns(): Column<ClassResult>[] {
  const t = useTexts().router.results;
  const number = (
    key: "mean" | "p99" | "largest" | "loss" | "throughput",
    label: string,
    unit: string,
    title?: string,
  ): Column<ClassResult> => ({
    key,
    label,
    numeric: true,
    ...(title ? { title } : {}),
    value: (r) => r[key].mean,
    cell: (r) => shown(r[key], unit),
  });
  return [
    {
      key: "name",
      label: t.cls,
      value: (r) => r.name,
      cell: (r) => <strong class="class-name">{r.name}</strong>,
    },
    {
      key: "verdict",
      label: t.verdict,
      value: (r) => r.verdict,
      cell: (r) => (r.verdict === null ? t.nothing : <Verdict verdict={r.verdict} />),
    },
    number("mean", t.mean, "s"),
    number("p99", t.p99, "s"),
    number("largest", t.largest, "s"),
    {
      key: "bound",
      label: t.bound,
      title: t.boundNote,
      numeric: true,
      value: (r) => r.bound,
      cell: (r) =>
        r.bound === null ? <span title={r.why ?? ""}>{NONE}</span> : ceiling(r.bound, "s"),
    },
    number("loss", t.loss, "1"),
    {
      key: "lossless",
      label: t.certainLoss,
      title: t.certainLossNote,
      value: (r) => (r.lossless ? 0 : 1),
      cell: (r) => (r.lossless ? t.never : t.possible),
    },
    number("throughput", t.throughput, "b/s"),
    {
      key: "offered",
      label: t.offered,
      numeric: true,
      value: (r) => r.offered.mean,
      cell: (r) => value(r.offered.mean, "b/s"),
    },
  ];
}

function Requirements({ verdicts }: { verdicts: readonly VerdictRow[] }) {
  const t = useTexts().router.results;
  const columns: Column<VerdictRow>[] = [
    { key: "class", label: t.cls, value: (v) => v.class },
    { key: "words", label: t.requirement, value: (v) => v.words },
    { key: "basis", label: t.basis, value: (v) => v.basis ?? "" },
    { key: "measured", label: t.measured, value: (v) => v.measured, numeric: true },
    {
      key: "verdict",
      label: t.verdict,
      value: (v) => v.verdict,
      cell: (v) => <Verdict verdict={v.verdict} said={v.said} />,
    },
    { key: "needs", label: t.needs, value: (v) => v.advice ?? v.needs ?? v.note ?? "" },
  ];
  return (
    <details class="router-more" open={verdicts.some((v) => v.verdict !== "pass")}>
      <summary>
        {t.requirements(verdicts.filter((v) => v.verdict === "pass").length, verdicts.length)}
      </summary>
      <DataTable
        caption={t.requirement}
        quiet
        columns={columns}
        rows={verdicts}
        rowKey={(v, i) => `${v.class} ${v.metric} ${i}`}
      />
    </details>
  );
}

function Charts({ tried, results }: { tried: Tried; results: readonly ClassResult[] }) {
  const t = useTexts().router.results;
  const group = useChartGroup();
  const { outcome } = tried;
  // As in the picture: by all classes, also those that are offered nothing.
  const colors = useMemo(() => paints(tried.setup.loads.map((l) => l.name)), [tried]);
  const painted = (name: string) => {
    const paint = colors.get(name);
    return paint ? { paint } : {};
  };
  const lines = useMemo(() => {
    const first = outcome.series.filter((c) => c.run === 0);
    const of = (metric: string, name: (place: string) => string | undefined): Line[] =>
      first.flatMap((c) => {
        const title = c.metric === metric ? name(c.place) : undefined;
        if (title === undefined) return [];
        return [{ ...c, name: title, ...painted(title) }];
      });
    const cls = (place: string) => (place.startsWith("class ") ? place.slice(6) : undefined);
    const queues = new Map(
      tried.setup.loads
        .filter((l) => l.kind !== "none")
        .map((l) => [l.path.length > 0 ? `line/${l.path.join("/")}` : "", l.name]),
    );
    const queue = (place: string) =>
      queues.get(place) ??
      (place.startsWith("line/") && results.length === 1 ? results[0]?.name : undefined);
    return {
      throughput: of("throughput", cls),
      delay: of("queue_delay", queue),
      drops: of("drops_per_second", queue),
    };
  }, [outcome, colors]);
  const delays = useMemo(
    () => outcome.distributions.map((c): Delays => ({ ...c, name: c.class, ...painted(c.class) })),
    [outcome, colors],
  );
  const marks = useMemo(
    () => merged(outcome.verdicts.flatMap((v) => markOf(v, painted(v.class).paint))),
    [outcome, colors],
  );
  return (
    <div class="router-charts">
      <TimeChart title={t.charts.throughput} unit="b/s" lines={lines.throughput} group={group} />
      <TimeChart title={t.charts.delay} unit="s" lines={lines.delay} group={group} />
      <CdfChart title={t.charts.distribution} curves={delays} marks={marks} height={230} />
      <TimeChart title={t.charts.drops} unit="packets/s" lines={lines.drops} group={group} />
    </div>
  );
}

/** Shares of packets that percentiles of the delay leave above them. */
const ABOVE: Record<string, number> = {
  owd_p50: 0.5,
  owd_p95: 0.05,
  owd_p99: 0.01,
  owd_p999: 0.001,
};

/** A required percentile as a mark; other requirements have no place in the chart. */
function markOf(v: VerdictRow, paint: Paint | undefined): Mark[] {
  const share = ABOVE[v.metric];
  if (share === undefined || v.side !== "max") return [];
  return [{ name: v.words, delay: v.bound, share, ...(paint ? { paint } : {}) }];
}

/** Marks at one place are one: the color of a class is only that of its own. */
function merged(marks: readonly Mark[]): Mark[] {
  const places = new Map<string, Mark>();
  for (const { paint, ...m } of marks) {
    const key = `${m.delay} ${m.share}`;
    places.set(key, places.has(key) || !paint ? m : { ...m, paint });
  }
  return [...places.values()];
}
