import "uplot/dist/uPlot.min.css";
import "./ui.css";
import { effect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { isDark } from "../app/theme";
import { language } from "../texts";
import { Button } from "./Button";
import { type ChartGroup, onKey, useChartGroup } from "./charts";
import { type Paint, paint, resolved } from "./colors";
import { fitting, number, type Scale, value } from "./format";
import { Legend } from "./Legend";
import { type Gist, gist, outline, type Samples, span, valueAt } from "./outline";
import { inWords, localized, unitWord, useWords } from "./words";

/** A curve of a chart. */
export interface Line extends Samples {
  name: string;
  paint?: Paint;
  /** Whether it keeps its value from one sample to the next. */
  stepped?: boolean;
}

/** A value that is not to be exceeded, or to be reached. */
export interface Level {
  name: string;
  value: number;
}

interface Props {
  title: string;
  /** The base unit of all curves: `s`, `b/s`, `B`, `packets`. */
  unit: string;
  /** The same list as long as nothing changes: with another one the chart is drawn anew. */
  lines: readonly Line[];
  levels?: readonly Level[];
  /** Charts that are to show the same time. */
  group?: ChartGroup;
  /** In pixels. */
  height?: number;
  /** From when to when, in s; the curves' own span if not given. */
  range?: readonly [number, number];
}

const WIDTH = 1.75;
const NO_LEVELS: readonly Level[] = [];

/** Curves over time. Drag or keys zoom; arrows point. */
export function TimeChart(props: Props) {
  const { title, unit, lines, levels = NO_LEVELS, height = 180 } = props;
  const words = useWords().chart;
  const own = useChartGroup();
  const group = props.group ?? own;
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const shown = useMemo(() => lines.filter((l) => !hidden.has(l.name)), [lines, hidden]);
  const gists = useMemo(() => new Map(lines.map((l) => [l, gist(l)])), [lines]);
  const scale = useMemo(() => {
    const tops = shown.map((l) => gists.get(l)?.most);
    return fitting(unit, [...tops, ...levels.map((l) => l.value)]);
  }, [unit, shown, gists, levels]);
  const all = props.range ?? span(lines);
  const painted = useMemo(() => paintOf(lines), [lines]);
  const area = useRef<HTMLDivElement>(null);
  const dark = isDark();
  usePlot(area, { lines: shown, levels, all, height, group, painted, scale, dark });

  const at = group.at.value;
  const said = (line: Line) => (at === null ? undefined : shownAs(valueAt(line, at), unit));
  const toggle = (name: string) => {
    const next = new Set(hidden);
    if (!next.delete(name)) next.add(name);
    setHidden(next);
  };
  const keys = (event: JSX.TargetedKeyboardEvent<HTMLDivElement>) => {
    if (!all || event.ctrlKey || event.metaKey || event.altKey) return;
    const now = { zoom: group.zoom.value, at: group.at.value };
    const next = onKey(event.key, now, [all[0], all[1]], event.shiftKey);
    if (!next) return;
    event.preventDefault();
    group.zoom.value = next.zoom;
    group.at.value = next.at;
  };
  if (!all) return <p class="chart-none">{words.none(title)}</p>;
  return (
    <figure class="chart" aria-label={title}>
      <div class="chart-head">
        <figcaption class="chart-title">
          {title}
          {scale.unit && ` (${unitWord(scale.unit)})`}
        </figcaption>
        <span class="chart-now">
          {at !== null && shownAs(at, "s")}
          {group.zoom.value && (
            <Button kind="quiet" onClick={() => (group.zoom.value = null)}>
              {words.whole}
            </Button>
          )}
        </span>
      </div>
      <div
        class="chart-area"
        ref={area}
        role="slider"
        tabIndex={0}
        aria-label={words.pointer(title)}
        aria-valuemin={all[0]}
        aria-valuemax={all[1]}
        aria-valuenow={at ?? all[0]}
        aria-valuetext={pointed(at, shown, unit)}
        aria-description={words.keys}
        onKeyDown={keys}
        onDblClick={() => (group.zoom.value = null)}
      />
      <Legend
        label={words.curves(title)}
        onToggle={toggle}
        items={lines.map((l) => ({
          name: l.name,
          paint: painted.get(l) ?? paint(0),
          value: said(l),
          hidden: hidden.has(l.name),
        }))}
      />
      <ul class="unseen">
        {lines.map((l) => (
          <li key={l.name}>{summary(l.name, gists.get(l), unit, words)}</li>
        ))}
      </ul>
    </figure>
  );
}

/** A value with its unit, as people of the chosen language write it. */
const shownAs = (x: Parameters<typeof value>[0], base: string) => inWords(value(x, base));

function pointed(at: number | null, lines: readonly Line[], unit: string): string | undefined {
  if (at === null) return undefined;
  const values = lines.map((l) => `${l.name} ${shownAs(valueAt(l, at), unit)}`);
  return `${shownAs(at, "s")}: ${values.join(", ")}`;
}

function summary(
  name: string,
  g: Gist | null | undefined,
  unit: string,
  words: ReturnType<typeof useWords>["chart"],
): string {
  if (!g) return words.none(name);
  const text = (x: number) => shownAs(x, unit);
  return words.summary(name, text(g.least), text(g.mean), text(g.most), shownAs(g.when, "s"));
}

function paintOf(lines: readonly Line[]): Map<Line, Paint> {
  return new Map(lines.map((l, i) => [l, l.paint ?? paint(i)]));
}

interface Drawn {
  lines: readonly Line[];
  levels: readonly Level[];
  all: readonly [number, number] | null;
  height: number;
  group: ChartGroup;
  painted: Map<Line, Paint>;
  scale: Scale;
  dark: boolean;
}

/** Keeps a plot in an element, drawn anew where what it shows is another. */
function usePlot(area: { current: HTMLDivElement | null }, drawn: Drawn): void {
  const { lines, height, group, dark } = drawn;
  const [from, to] = drawn.all ?? [0, 1];
  const latest = useRef(drawn);
  latest.current = drawn;
  const renew = useRef<(() => void) | null>(null);
  const shape = shapeOf(drawn);
  // `dark` changes the resolved colors.
  useEffect(() => {
    const element = area.current;
    if (!element) return;
    const width = () => Math.max(100, element.clientWidth);
    const view = (): [number, number] => group.zoom.peek() ?? [from, to > from ? to : from + 1];
    const data = () => {
      const [a, b] = view();
      const table = outline(latest.current.lines, a, b, width());
      return [table.times, ...table.columns] as uPlot.AlignedData;
    };
    const options = optionsOf(element, latest.current, view, width());
    const plot = new uPlot(options, data(), element);
    const show = () =>
      plot.batch(() => {
        plot.setData(data(), false);
        const [min, max] = view();
        plot.setScale("x", { min, max });
      });
    const stop = [
      effect(() => {
        group.zoom.value;
        show();
      }),
      effect(() => {
        const at = group.at.value;
        // Where a time is changes with the part that is shown.
        group.zoom.value;
        // -10 is out of the plot, which hides the cursor.
        const left = at === null ? -10 : plot.valToPos(at, "x");
        plot.setCursor({ left, top: at === null ? -10 : 0 }, false);
      }),
    ];
    const point = (event: MouseEvent) => {
      group.at.value = plot.posToVal(event.offsetX, "x");
    };
    const leave = () => {
      group.at.value = null;
    };
    plot.over.addEventListener("mousemove", point);
    plot.over.addEventListener("mouseleave", leave);
    const observer = new ResizeObserver(() => {
      if (width() === plot.width) return;
      plot.setSize({ width: width(), height });
      plot.setData(data(), false);
      plot.redraw();
    });
    observer.observe(element);
    renew.current = show;
    return () => {
      observer.disconnect();
      for (const each of stop) each();
      renew.current = null;
      plot.destroy();
    };
  }, [area, shape, from, to, height, group, dark]);
  // After the effect that makes the plot: other curves of the same shape are shown in it.
  const shown = useRef(lines);
  useEffect(() => {
    if (shown.current !== lines) renew.current?.();
    shown.current = lines;
  }, [lines]);
}

/** All that a plot is made for, besides the values of its curves. */
function shapeOf({ lines, levels, painted, scale }: Drawn): string {
  const curves = lines.map((l) => [l.name, painted.get(l), l.stepped, l.values.length === 1]);
  return JSON.stringify([curves, levels, scale, language.value]);
}

function optionsOf(
  element: Element,
  { lines, levels, height, group, painted, scale }: Drawn,
  view: () => [number, number],
  width: number,
): uPlot.Options {
  const color = (property: string) => resolved(element, property);
  const [soft, line] = [color("--ink-soft"), color("--line")];
  const font = `12px ${color("--font")}`;
  const axis = {
    stroke: soft,
    font,
    ticks: { stroke: line, size: 4 },
    grid: { stroke: line, width: 1 },
  };
  const highest = Math.max(0, ...levels.map((l) => l.value));
  const written = (factor: number) => (_: uPlot, splits: number[]) =>
    splits.map((v) => localized(number(Number((v * factor).toPrecision(6)), undefined, 1, false)));
  const ofTime = fitting("s", [view()[1]]);
  return {
    width,
    height,
    legend: { show: false },
    scales: {
      x: { time: false, range: view },
      y: { range: (_, low, high) => heightOf(low, high, highest) },
    },
    axes: [
      {
        ...axis,
        size: 28,
        gap: 4,
        values: (u, splits) => {
          const texts = written(ofTime.factor)(u, splits);
          const last = texts.length - 1;
          return texts.map((t, i) => (i === last ? `${t} ${ofTime.unit}` : t));
        },
      },
      { ...axis, size: 52, gap: 4, values: written(scale.factor) },
    ],
    series: [
      {},
      ...lines.map((l) => {
        const p = painted.get(l) ?? paint(0);
        return {
          label: l.name,
          stroke: color(p.property),
          width: WIDTH,
          dash: [...p.dash],
          points: { show: l.values.length === 1 },
          ...(l.stepped ? { paths: stepped } : {}),
        } satisfies uPlot.Series;
      }),
    ],
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false },
      points: { size: 6 },
    },
    hooks: {
      setSelect: [
        (u) => {
          const { left, width: wide } = u.select;
          if (wide < 4) return;
          group.zoom.value = [u.posToVal(left, "x"), u.posToVal(left + wide, "x")];
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
      draw: [(u) => drawLevels(u, levels, color("--bad"), font)],
    },
  };
}

const stepped: uPlot.Series.PathBuilder = (u, series, from, to) =>
  uPlot.paths.stepped?.({ align: 1 })(u, series, from, to) ?? null;

/** From zero, or from what is below it, to a little above the largest. */
function heightOf(low: number, high: number, level: number): [number, number] {
  const top = Math.max(high, level, 0);
  const least = Math.min(0, Number.isFinite(low) ? low : 0);
  const room = (Number.isFinite(top) ? top : 1) - least;
  return [least < 0 ? least - room * 0.05 : 0, room > 0 ? least + room * 1.08 : 1];
}

function drawLevels(u: uPlot, levels: readonly Level[], color: string, font: string): void {
  const { ctx, bbox } = u;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.fillStyle = color;
  ctx.lineWidth = ratio;
  ctx.setLineDash([6 * ratio, 4 * ratio]);
  ctx.font = font.replace("12px", `${11 * ratio}px`);
  ctx.textAlign = "right";
  ctx.textBaseline = "bottom";
  for (const level of levels) {
    const y = u.valToPos(level.value, "y", true);
    if (y < bbox.top || y > bbox.top + bbox.height) continue;
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.fillText(level.name, bbox.left + bbox.width - 4 * ratio, y - 2 * ratio);
  }
  ctx.restore();
}
