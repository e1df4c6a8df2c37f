import { useRef } from "preact/hooks";
import { ticks } from "../../ui/cdf";
import { paint } from "../../ui/colors";
import { fitting, number } from "../../ui/format";
import { Legend } from "../../ui/Legend";
import { useWidth } from "../../ui/useWidth";
import { localized } from "../../ui/words";
import { useLessonTexts } from "./words";

/** A measured value with its interval, where a slider stood. */
export interface Point {
  at: number;
  mean: number;
  low: number;
  high: number;
}

interface Props {
  title: string;
  /** The base unit of the values. */
  unit: string;
  /** What the slider is, and its unit. */
  along: string;
  alongUnit: string;
  from: number;
  to: number;
  /** The formula. */
  theory: (at: number) => number | undefined;
  points: readonly Point[];
  /** Where the slider stands. */
  now: number;
}

const HEIGHT = 200;
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 12, 8, 40];
/** Values of the formula that make its curve. */
const STEPS = 120;

/** What a formula says for each place of a slider, with what was measured at some of them. */
export function TheoryChart(props: Props) {
  const { title, unit, along, alongUnit, from, to, theory, points, now } = props;
  const t = useLessonTexts();
  const area = useRef<HTMLDivElement>(null);
  const width = useWidth(area, 600);
  const curve = Array.from({ length: STEPS + 1 }, (_, i) => {
    const at = from + ((to - from) * i) / STEPS;
    return { at, y: theory(at) ?? 0 };
  });
  // The curve rises without end: what is nine tenths of the way along fills most of the height.
  const end = theory(from + 0.95 * (to - from)) ?? 1;
  const top = Math.max(end, ...points.filter((p) => p.at === now).map((p) => p.high)) * 1.1;
  const x = (at: number) => LEFT + ((at - from) / (to - from)) * (width - LEFT - RIGHT);
  const y = (value: number) =>
    HEIGHT - BOTTOM - Math.min(1, Math.max(0, value / top)) * (HEIGHT - TOP - BOTTOM);
  const scale = fitting(unit, [top]);
  const below = curve.filter((c) => c.y <= top);
  const path = below.map((c, i) => `${i ? "L" : "M"}${x(c.at).toFixed(1)} ${y(c.y).toFixed(1)}`);
  const [line, dot] = [paint(0), paint(1)];
  return (
    <figure class="chart" aria-label={title}>
      <figcaption class="chart-title">
        {title} ({scale.unit})
      </figcaption>
      <div class="chart-area" ref={area}>
        <svg width={width} height={HEIGHT} aria-hidden="true" focusable="false">
          {ticks(0, top, 4, false).map((value) => (
            <g key={value}>
              <line class="chart-grid" x1={LEFT} x2={width - RIGHT} y1={y(value)} y2={y(value)} />
              <text x={LEFT - 6} y={y(value) + 4} text-anchor="end">
                {localized(number(value, undefined, scale.factor, false))}
              </text>
            </g>
          ))}
          {ticks(from, to, 10, false).map((at) => (
            <text key={at} x={x(at)} y={HEIGHT - BOTTOM + 16} text-anchor="middle">
              {at}
            </text>
          ))}
          <text x={width - RIGHT} y={HEIGHT - 6} text-anchor="end">
            {along} ({alongUnit})
          </text>
          <path d={path.join("")} fill="none" stroke={line.color} stroke-width="2" />
          {points.map((p) => (
            <g key={p.at} stroke={dot.color} fill={p.at === now ? dot.color : "var(--paper)"}>
              <line x1={x(p.at)} x2={x(p.at)} y1={y(p.low)} y2={y(p.high)} stroke-width="2" />
              <circle cx={x(p.at)} cy={y(p.mean)} r="4" stroke-width="2" />
            </g>
          ))}
        </svg>
      </div>
      <Legend
        label={title}
        items={[
          { name: t.theory, paint: { ...line, dash: [] } },
          { name: t.measured, paint: { ...dot, dash: [] } },
        ]}
      />
    </figure>
  );
}
