import { useRef } from "preact/hooks";
import { paint } from "../../ui/colors";
import { useWidth } from "../../ui/useWidth";
import { inWords } from "../../ui/words";
import { along, axisOf, type Drawn, extent, type Spot, said, shape, spread } from "./draw";
import type { Mark } from "./figure";

interface Props {
  title: string;
  unit: string;
  lines: readonly Drawn[];
  marks: readonly Mark[];
  /** Whether values are differences of two. */
  difference: boolean;
  /** Places of the axis, and what they are called. */
  places: ReadonlyMap<number, string>;
  xTitle: string;
  /** For those who do not see it. */
  alt: string;
  height?: number;
}

const MARGIN = { left: 48, right: 14, top: 10, bottom: 42 };
/** Pixels from the first and last place to the sides. */
const ROOM = 14;

/** Pixels that the name of a place needs. */
const NAME = 30;

type Place = (value: number) => number;

/** Places whose names do not run into those before them. */
function apart(xs: readonly number[], x: Place): Set<number> {
  let last = Number.NEGATIVE_INFINITY;
  return new Set(
    xs.filter((at) => {
      if (x(at) - last < NAME) return false;
      last = x(at);
      return true;
    }),
  );
}

/** Means with intervals by a number. */
export function CurvesChart(props: Props) {
  const { title, unit, difference, lines, marks, places, xTitle, height = 300 } = props;
  const xs = [...places.keys()];
  const area = useRef<HTMLDivElement>(null);
  const width = useWidth(area, 600);
  const axis = axisOf(unit, extent(lines, marks), 6, difference);
  const bottom = height - MARGIN.bottom;
  const ends = [MARGIN.left + ROOM, width - MARGIN.right - ROOM] as const;
  const least = marks.some((m) => m.kind === "line") ? 0 : Math.min(...xs);
  const x = along(...ends, least, Math.max(...xs));
  const y = along(bottom, MARGIN.top, axis.least, axis.most);
  const right = width - MARGIN.right;
  const told = (l: Drawn, s: Spot) =>
    `${l.label}, ${places.get(s.x)}: ${inWords(said(s.value, unit, difference))}`;
  const shown = apart(xs, x);
  // Places of lines lie a little beside each other, so that intervals do not cover each other.
  const shift = (i: number) => (i - (lines.length - 1) / 2) * 5;
  return (
    <figure class="chart">
      <figcaption class="chart-title">
        {title}
        {axis.scale.unit && ` (${inWords(axis.scale.unit)})`}
      </figcaption>
      <div class="chart-area" ref={area}>
        <svg role="img" aria-label={props.alt} width={width} height={height}>
          {axis.ticks.map((tick) => (
            <g key={tick}>
              <path class="chart-grid" d={`M${MARGIN.left} ${y(tick)}H${right}`} />
              <text x={MARGIN.left - 6} y={y(tick)} dy="0.32em" text-anchor="end">
                {axis.text(tick)}
              </text>
            </g>
          ))}
          {[...places].map(([at, name]) => (
            <g key={at}>
              <path class="chart-grid" d={`M${x(at)} ${bottom}v5`} />
              {shown.has(at) && (
                <text x={x(at)} y={bottom + 18} text-anchor="middle">
                  {name}
                </text>
              )}
            </g>
          ))}
          <text x={(MARGIN.left + right) / 2} y={height - 4} text-anchor="middle">
            {xTitle}
          </text>
          <Claims marks={marks} x={x} y={y} />
          {lines.map((l, i) => (
            <g key={l.name}>
              <Singles line={l} x={(v) => x(v) + shift(i)} y={y} />
              <path class="figure-before" d={path(l.before, (v) => x(v) + shift(i), y)} />
            </g>
          ))}
          {lines.map((l, i) => (
            <Line key={l.name} line={l} x={(v) => x(v) + shift(i)} y={y} told={told} />
          ))}
          <Stated marks={marks} x={x} y={y} />
        </svg>
      </div>
    </figure>
  );
}

function path(spots: readonly Spot[], x: Place, y: Place): string {
  return spots.map((s, i) => `${i === 0 ? "M" : "L"}${x(s.x)} ${y(s.value.mean)}`).join("");
}

interface LineProps {
  line: Drawn;
  x: Place;
  y: Place;
  /** What a tooltip says. */
  told: (line: Drawn, spot: Spot) => string;
}

function Line({ line, x, y, told }: LineProps) {
  const { color, dash } = paint(line.index);
  return (
    <g stroke={color} fill={color}>
      <path class="figure-line" d={path(line.spots, x, y)} stroke-dasharray={dash.join(" ")} />
      {line.spots.map((s) => (
        <Interval key={s.x} at={x(s.x)} spot={s} y={y} />
      ))}
      {line.spots.map((s) => (
        <path
          key={s.x}
          class="figure-mean"
          d={shape(line.index, x(s.x), y(s.value.mean), 4)}
          stroke="none"
        >
          <title>{told(line, s)}</title>
        </path>
      ))}
    </g>
  );
}

function Interval({ at, spot, y }: { at: number; spot: Spot; y: Place }) {
  const { mean, half } = spot.value;
  if (half === null) return null;
  const low = y(mean < 0 ? mean - half : Math.max(0, mean - half));
  const high = y(mean + half);
  return <path d={`M${at - 4} ${low}h8M${at - 4} ${high}h8M${at} ${low}V${high}`} />;
}

function Singles({ line, x, y }: { line: Drawn; x: Place; y: Place }) {
  const { color } = paint(line.index);
  return (
    <g fill={color} class="figure-singles">
      {line.spots.flatMap((s) =>
        (s.singles ?? []).map((v, i) => (
          <circle key={`${s.x} ${i}`} cx={x(s.x) + 7 * spread(i)} cy={y(v)} r={2} />
        )),
      )}
    </g>
  );
}

function Claims({ marks, x, y }: { marks: readonly Mark[]; x: Place; y: Place }) {
  const lines = marks.flatMap((m) => (m.kind === "line" ? [m] : []));
  return lines.map((m) => (
    <path
      key={m.name}
      class="figure-claim"
      d={`M${x(m.from[0])} ${y(m.from[1])}L${x(m.to[0])} ${y(m.to[1])}`}
    />
  ));
}

function Stated({ marks, x, y }: { marks: readonly Mark[]; x: Place; y: Place }) {
  const points = marks.flatMap((m) => (m.kind === "point" ? [m] : []));
  return points.map((m) => {
    const at = x(m.x);
    const half = m.half ?? 0;
    return (
      <g key={`${m.line} ${m.x}`} class="figure-stated" stroke="var(--ink)">
        {half > 0 && <path d={`M${at} ${y(m.y - half)}V${y(m.y + half)}`} />}
        <path class="figure-hollow" d={shape(3, at, y(m.y), 4.5)} />
      </g>
    );
  });
}
