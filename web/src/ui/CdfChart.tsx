import "./ui.css";
import type { JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { floorOf, longer, type Quantiles, reach, tail, ticks } from "./cdf";
import { type Paint, paint } from "./colors";
import { Check } from "./Field";
import { fitting, number, rough, value } from "./format";
import { Legend } from "./Legend";
import { useWidth } from "./useWidth";
import { useWords } from "./words";

/** The delays of a class. */
export interface Delays extends Quantiles {
  name: string;
  paint?: Paint;
  /** Least and largest of the runs' own quantiles. */
  least?: readonly (number | null)[];
  most?: readonly (number | null)[];
}

/** A delay that is not to be exceeded, by all packets or by all but a share. */
export interface Mark {
  name: string;
  /** s */
  delay: number;
  share?: number;
  paint?: Paint;
}

interface Props {
  title: string;
  curves: readonly Delays[];
  marks?: readonly Mark[];
  height?: number;
}

const LEFT = 56;
const RIGHT = 12;
const TOP = 24;
const BOTTOM = 38;
const NO_MARKS: readonly Mark[] = [];

/** From delays and shares to pixels. */
interface Scales {
  x: (delay: number) => number;
  y: (share: number) => number;
  back: (x: number) => number;
  from: number;
  to: number;
  floor: number;
  bottom: number;
  right: number;
}

function scalesOf(
  [low, high]: [number, number],
  floor: number,
  log: boolean,
  width: number,
  height: number,
): Scales {
  const [right, bottom] = [width - RIGHT, height - BOTTOM];
  const from = log ? low / 1.1 : 0;
  const to = high * (log ? 1.1 : 1.04);
  const place = (d: number) => (log ? Math.log(d / from) / Math.log(to / from) : d / to);
  const decades = Math.log10(floor);
  const clip = (p: number) => Math.min(1, Math.max(0, p));
  return {
    x: (d) => LEFT + clip(place(Math.max(d, from))) * (right - LEFT),
    y: (s) => TOP + clip(s > 0 ? Math.log10(s) / decades : 1) * (bottom - TOP),
    back: (x) => {
      const p = clip((x - LEFT) / (right - LEFT));
      return log ? from * (to / from) ** p : p * to;
    },
    from,
    to,
    floor,
    bottom,
    right,
  };
}

function pathOf(scales: Scales, q: readonly number[], owd: readonly (number | null)[]): string {
  const points = tail({ q, owd });
  return points
    .map(
      (p, i) => `${i ? "L" : "M"}${scales.x(p.delay).toFixed(1)} ${scales.y(p.share).toFixed(1)}`,
    )
    .join("");
}

/** What share of packets takes longer than a delay, on a logarithmic axis of shares. */
export function CdfChart({ title, curves, marks = NO_MARKS, height = 260 }: Props) {
  const words = useWords().chart;
  const area = useRef<HTMLDivElement>(null);
  const width = useWidth(area, 600);
  const [log, setLog] = useState(false);
  const [at, setAt] = useState<number | null>(null);
  const span = useMemo(
    () =>
      reach(
        curves,
        marks.map((m) => m.delay),
      ),
    [curves, marks],
  );
  const floor = useMemo(
    () => Math.min(floorOf(curves), ...marks.flatMap((m) => (m.share ? [m.share / 2] : []))),
    [curves, marks],
  );
  if (!span || curves.length === 0) return <p class="chart-none">{words.none(title)}</p>;
  const scales = scalesOf(span, floor, log, width, height);
  const said = (c: Delays) => (at === null ? undefined : rough(longer(c, at), "1"));
  const keys = (event: JSX.TargetedKeyboardEvent<HTMLDivElement>) => {
    const next = moved(event.key, scales.x(at ?? scales.from), scales);
    if (next === undefined) return;
    event.preventDefault();
    setAt(scales.back(next));
  };
  return (
    <figure class="chart" aria-label={title}>
      <div class="chart-head">
        <figcaption class="chart-title">{title}</figcaption>
        <span class="chart-now">{at !== null && `> ${value(at, "s")}`}</span>
        <Check label={words.logarithmic} checked={log} onChange={setLog} />
      </div>
      <div
        class="chart-area"
        ref={area}
        role="slider"
        tabIndex={0}
        aria-label={words.delayPointer(title)}
        aria-valuemin={scales.from}
        aria-valuemax={scales.to}
        aria-valuenow={at ?? scales.from}
        aria-valuetext={
          at === null
            ? undefined
            : `${value(at, "s")}: ${curves.map((c) => `${c.name} ${said(c)}`).join(", ")}`
        }
        onKeyDown={keys}
        onMouseMove={(e) => setAt(scales.back(e.offsetX))}
        onMouseLeave={() => setAt(null)}
      >
        <svg width={width} height={height} aria-hidden="true" focusable="false">
          <Axes scales={scales} log={log} height={height} />
          {curves.map((c, i) => (
            <Curve key={c.name} curve={c} scales={scales} drawn={c.paint ?? paint(i)} />
          ))}
          {marks.map((m, i) => (
            <MarkSign key={`${m.name} ${m.delay}`} mark={m} row={i} scales={scales} />
          ))}
          {at !== null && (
            <line
              class="chart-cursor"
              x1={scales.x(at)}
              x2={scales.x(at)}
              y1={TOP}
              y2={scales.bottom}
            />
          )}
        </svg>
      </div>
      <Legend
        label={words.curves(title)}
        items={curves.map((c, i) => ({
          name: c.name,
          paint: c.paint ?? paint(i),
          value: said(c),
        }))}
      />
      <ul class="unseen">
        {curves.map((c) => (
          <li key={c.name}>{inWords(c, words)}</li>
        ))}
      </ul>
    </figure>
  );
}

/** A curve by three of its quantiles. */
function inWords(curve: Delays, words: ReturnType<typeof useWords>["chart"]): string {
  const quantile = (level: number) => {
    const i = curve.q.findIndex((q) => q >= level - 1e-12);
    return value(curve.owd[i], "s");
  };
  const parts = [0.5, 0.99, 0.999].map((p) => words.longer(rough(1 - p, "1"), quantile(p)));
  return `${curve.name}: ${parts.join("; ")}.`;
}

function moved(key: string, x: number, scales: Scales): number | undefined {
  const by = { ArrowLeft: -4, ArrowRight: 4, PageUp: -40, PageDown: 40 }[key];
  if (by !== undefined) return x + by;
  return { Home: LEFT, End: scales.right }[key];
}

function Curve({ curve, scales, drawn }: { curve: Delays; scales: Scales; drawn: Paint }) {
  const { q, owd, least, most } = curve;
  const band =
    least && most
      ? `${pathOf(scales, q, least)}L${pathOf(scales, [...q].reverse(), [...most].reverse()).slice(1)}Z`
      : undefined;
  return (
    <g>
      {band && <path d={band} fill={drawn.color} opacity="0.14" />}
      <path
        d={pathOf(scales, q, owd)}
        fill="none"
        stroke={drawn.color}
        stroke-width="2"
        stroke-linejoin="round"
        stroke-dasharray={drawn.dash.join(" ")}
      />
    </g>
  );
}

function MarkSign({ mark, row, scales }: { mark: Mark; row: number; scales: Scales }) {
  const x = scales.x(mark.delay);
  const color = mark.paint?.color ?? "var(--bad)";
  const left = x > scales.right - 140;
  const label = {
    x: x + (left ? -5 : 5),
    "text-anchor": left ? ("end" as const) : ("start" as const),
  };
  if (mark.share === undefined) {
    return (
      <g>
        <line x1={x} x2={x} y1={TOP} y2={scales.bottom} stroke={color} stroke-dasharray="6 4" />
        <text {...label} y={TOP + 10 + 14 * row}>
          {mark.name}
        </text>
      </g>
    );
  }
  const y = scales.y(mark.share);
  // The corner that a curve must stay left of, or below.
  return (
    <g>
      <path
        d={`M${x} ${TOP}V${y}H${scales.right}`}
        fill="none"
        stroke={color}
        stroke-dasharray="2 3"
      />
      <path d={`M${x - 4} ${y}l4 -4l4 4l-4 4Z`} fill={color} />
      <text {...label} y={y - 6}>
        {mark.name}
      </text>
    </g>
  );
}

function Axes({ scales, log, height }: { scales: Scales; log: boolean; height: number }) {
  const words = useWords().chart;
  const { from, to, right, bottom } = scales;
  const unit = fitting("s", [to]);
  const room = Math.max(2, Math.floor((right - LEFT) / 70));
  return (
    <g>
      {ticks(from, to, room, log).map((d) => (
        <g key={d}>
          <line class="chart-grid" x1={scales.x(d)} x2={scales.x(d)} y1={TOP} y2={bottom} />
          <text x={scales.x(d)} y={bottom + 15} text-anchor="middle">
            {number(d, undefined, unit.factor, false)}
          </text>
        </g>
      ))}
      {ticks(scales.floor, 1, 7, true)
        .filter((s) => Math.abs(Math.log10(s) - Math.round(Math.log10(s))) < 1e-6)
        .map((s) => (
          <g key={s}>
            <line class="chart-grid" x1={LEFT} x2={right} y1={scales.y(s)} y2={scales.y(s)} />
            <text x={LEFT - 6} y={scales.y(s) + 4} text-anchor="end">
              {rough(s, "1")}
            </text>
          </g>
        ))}
      <text x={right} y={height - 6} text-anchor="end">
        {`${words.delay} (${unit.unit})`}
      </text>
      <text x={LEFT - 6} y={12}>
        {words.share}
      </text>
    </g>
  );
}
