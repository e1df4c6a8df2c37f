import { useMemo } from "preact/hooks";
import { useChartGroup } from "../../ui/charts";
import { fitting, plain } from "../../ui/format";
import { type Line, TimeChart } from "../../ui/TimeChart";
import { inWords } from "../../ui/words";
import { CurvesChart } from "./CurvesChart";
import type { Curves, Figure, Rows, Settings, Times } from "./figure";
import { Key } from "./Key";
import { linesOf } from "./lines";
import { RowsChart } from "./RowsChart";
import type { Runs } from "./useRuns";
import { Values } from "./Values";
import type { FigureWords, PapersWords } from "./words";

interface Props<F extends Figure> {
  figure: F;
  settings: Settings;
  runs: Runs;
  t: PapersWords;
  words: FigureWords;
}

/** The charts of a figure, as far as it has been run. */
export function Charts(props: Props<Figure>) {
  const { figure } = props;
  if (figure.kind === "times") return <OverTime {...props} figure={figure} />;
  return figure.kind === "rows" ? (
    <InRows {...props} figure={figure} />
  ) : (
    <OfCurves {...props} figure={figure} />
  );
}

function OfCurves(props: Props<Curves>) {
  const { figure, settings, runs, t, words } = props;
  const marks = figure.marks(settings);
  const { factor, unit } = fitting(figure.xUnit, figure.xs);
  const names = new Map(
    figure.xs.map((x) => [x, inWords(`${plain(x * factor)} ${unit}`.trim())] as const),
  );
  const panels = figure.panels.map((panel) => ({
    ...panel,
    title: words.panels[panel.name] ?? panel.name,
    lines: linesOf(figure, panel, settings, runs.of, { ...words.panels, ...words.lines }),
  }));
  return (
    <>
      <div class="figure-panels">
        {panels.map(({ name, unit, title, lines, more }) => (
          <CurvesChart
            key={name}
            title={title}
            unit={unit}
            difference={more !== undefined}
            lines={lines}
            marks={marks}
            places={names}
            xTitle={words.x}
            alt={t.chartAlt(title, words.x)}
            height={panels.length > 1 ? 280 : 340}
          />
        ))}
      </div>
      <Key lines={panels[0]?.lines ?? []} marks={marks} words={{ ...t, marksOf: words.marksOf }} />
      <details class="figure-values">
        <summary>{t.values}</summary>
        {panels.map(({ name, unit, title, lines, more }) => (
          <Values
            key={name}
            caption={title}
            difference={more !== undefined}
            unit={unit}
            lines={lines}
            place={words.x}
            names={names}
          />
        ))}
      </details>
    </>
  );
}

function InRows(props: Props<Rows>) {
  const { figure, settings, runs, t, words } = props;
  const marks = figure.marks(settings);
  const [panel] = figure.panels;
  const { name, unit } = panel;
  const lines = linesOf(figure, panel, settings, runs.of, { ...words.panels, ...words.lines });
  const title = words.panels[name] ?? name;
  return (
    <>
      <RowsChart
        title={title}
        unit={unit}
        lines={lines}
        marks={marks}
        rows={figure.rows}
        alt={t.chartAlt(title, words.x)}
      />
      <Key lines={lines} marks={marks} words={{ ...t, marksOf: words.marksOf }} />
      <details class="figure-values">
        <summary>{t.values}</summary>
        <Values
          caption={title}
          unit={unit}
          lines={lines}
          place={words.x}
          names={new Map(figure.rows.map((name, i) => [i, name] as const))}
        />
      </details>
    </>
  );
}

const NO_LINES: readonly Line[] = [];

function OverTime(props: Props<Times>) {
  const { figure, settings, runs, words } = props;
  const group = useChartGroup();
  return (
    <>
      {figure.points(settings).map((point) => (
        <Timed
          key={point.line}
          title={point.line}
          unit={figure.unit}
          curves={runs.of(point)?.curves ?? NO_LINES}
          level={figure.levels[point.line]}
          group={group}
          words={words}
        />
      ))}
    </>
  );
}

function Timed(props: {
  title: string;
  unit: string;
  curves: readonly Line[];
  level: number | undefined;
  group: ReturnType<typeof useChartGroup>;
  words: FigureWords;
}) {
  const { title, unit, curves, level, group, words } = props;
  const lines = useMemo(
    () => curves.map((c) => ({ ...c, name: words.lines[c.name] ?? c.name })),
    [curves, words],
  );
  const levels = useMemo(
    () => (level === undefined ? [] : [{ name: words.marksOf.peak ?? "", value: level }]),
    [level, words],
  );
  return (
    <TimeChart title={title} unit={unit} lines={lines} levels={levels} group={group} height={210} />
  );
}
