import { useRef } from "preact/hooks";
import { paint } from "../../ui/colors";
import { useWidth } from "../../ui/useWidth";
import { inWords } from "../../ui/words";
import { along, axisOf, type Drawn, extent, type Spot, said, shape } from "./draw";
import type { Mark } from "./figure";

interface Props {
  title: string;
  unit: string;
  lines: readonly Drawn[];
  marks: readonly Mark[];
  rows: readonly string[];
  alt: string;
}

const ROW = 38;
const MARGIN = { top: 4, bottom: 28, right: 16 };

/** Means with intervals in rows: for places that have long names. */
export function RowsChart({ title, unit, lines, marks, rows, alt }: Props) {
  const area = useRef<HTMLDivElement>(null);
  const width = useWidth(area, 600);
  const left = width < 480 ? 150 : 168;
  const axis = axisOf(unit, extent(lines, marks), width < 480 ? 4 : 8);
  const height = MARGIN.top + rows.length * ROW + MARGIN.bottom;
  const bottom = height - MARGIN.bottom;
  const x = along(left + 10, width - MARGIN.right, 0, axis.most);
  // The lines of a row lie below each other.
  const y = (row: number, line: number) =>
    MARGIN.top + ROW * row + (ROW * (line + 1)) / (lines.length + 1);
  return (
    <figure class="chart">
      <figcaption class="chart-title">
        {title}
        {axis.scale.unit && ` (${inWords(axis.scale.unit)})`}
      </figcaption>
      <div class="chart-area" ref={area}>
        <svg role="img" aria-label={alt} width={width} height={height}>
          {axis.ticks.map((tick) => (
            <g key={tick}>
              <path class="chart-grid" d={`M${x(tick)} ${MARGIN.top}V${bottom}`} />
              <text x={x(tick)} y={bottom + 18} text-anchor="middle">
                {axis.text(tick)}
              </text>
            </g>
          ))}
          {rows.map((name, row) => (
            <g key={name}>
              {row > 0 && (
                <path
                  class="chart-grid"
                  d={`M0 ${MARGIN.top + ROW * row}H${width - MARGIN.right}`}
                />
              )}
              <text x={0} y={MARGIN.top + ROW * (row + 0.5)} dy="0.32em">
                {name}
              </text>
            </g>
          ))}
          <g class="figure-stated">
            {marks.map(
              (m) =>
                m.kind === "point" && (
                  <path
                    key={`${m.line} ${m.x}`}
                    class="figure-hollow"
                    stroke="var(--ink)"
                    d={shape(3, x(m.y), y(m.x, order(lines, m.line)), 7)}
                  />
                ),
            )}
          </g>
          {lines.map((l, i) => (
            <g key={l.name}>
              {l.before.map((s) => (
                <path
                  key={s.x}
                  class="figure-before"
                  d={`M${x(s.value.mean)} ${y(s.x, i) - 7}v14`}
                />
              ))}
              {l.spots.map((s) => (
                <Row
                  key={s.x}
                  line={l}
                  spot={s}
                  x={x}
                  y={y(s.x, i)}
                  told={`${l.label}, ${rows[s.x]}: ${said(s.value, unit)}`}
                />
              ))}
            </g>
          ))}
        </svg>
      </div>
    </figure>
  );
}

function order(lines: readonly Drawn[], name: string): number {
  return lines.findIndex((l) => l.name === name);
}

interface RowProps {
  line: Drawn;
  spot: Spot;
  x: (value: number) => number;
  y: number;
  /** What a tooltip says. */
  told: string;
}

function Row({ line, spot, x, y, told }: RowProps) {
  const { mean, half } = spot.value;
  const { color } = paint(line.index);
  const [low, high] = [x(Math.max(0, mean - (half ?? 0))), x(mean + (half ?? 0))];
  return (
    <g stroke={color} fill={color}>
      <path class="figure-stem" d={`M${x(0)} ${y}H${x(mean)}`} />
      {half !== null && <path d={`M${low} ${y - 4}v8M${high} ${y - 4}v8M${low} ${y}H${high}`} />}
      <path class="figure-mean" d={shape(line.index, x(mean), y, 4)} stroke="none">
        <title>{told}</title>
      </path>
    </g>
  );
}
