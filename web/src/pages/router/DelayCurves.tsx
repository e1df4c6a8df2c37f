import { useId } from "preact/hooks";
import type { DelayCurve } from "../../engine/api";
import { useTexts } from "../../texts";
import type { Paint } from "../../ui/colors";
import { value } from "../../ui/format";
import { Legend } from "../../ui/Legend";

const WIDTH = 560;
const HEIGHT = 210;
const LEFT = 46;
const BOTTOM = 24;
const TOP = 8;
const RIGHT = 10;
/** The rarest share of packets that the chart shows. */
const RAREST = 1e-4;

/** Powers of ten and their doubles and fives within a range. */
function ticks(low: number, high: number): number[] {
  const found: number[] = [];
  for (let e = Math.floor(Math.log10(low)); 10 ** e <= high; e++)
    for (const m of [1, 2, 5]) {
      const x = m * 10 ** e;
      if (x >= low && x <= high) found.push(x);
    }
  return found.length > 8 ? found.filter((x) => /^1/.test(x.toExponential())) : found;
}

/** Which share of packets takes longer than a time, both on logarithmic axes. */
export function DelayCurves(props: {
  curves: readonly DelayCurve[];
  paints: ReadonlyMap<string, Paint>;
}) {
  const t = useTexts().router.results.charts;
  const id = useId();
  const { curves, paints } = props;
  const all = curves.flatMap((c) => c.owd).filter((x) => x > 0);
  if (all.length === 0) return null;
  const [low, high] = [Math.min(...all) * 0.95, Math.max(...all) * 1.05];
  const x = (d: number) =>
    LEFT + ((WIDTH - LEFT - RIGHT) * Math.log(d / low)) / Math.log(high / low);
  const y = (share: number) =>
    TOP + ((HEIGHT - TOP - BOTTOM) * Math.log(1 / Math.max(share, RAREST))) / Math.log(1 / RAREST);
  const path = (c: DelayCurve) =>
    c.q
      .map((q, i) => [c.owd[i] ?? 0, 1 - q] as const)
      .filter(([d, share]) => d > 0 && share >= RAREST)
      .map(([d, share], i) => `${i === 0 ? "M" : "L"}${x(d).toFixed(1)} ${y(share).toFixed(1)}`)
      .join("");
  const at = (c: DelayCurve, q: number) => c.owd[c.q.indexOf(q)];
  return (
    <figure class="chart" aria-labelledby={id}>
      <div class="chart-head">
        <figcaption class="chart-title" id={id}>
          {t.distribution}
        </figcaption>
      </div>
      <div class="chart-area">
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={t.distribution}>
          {[1, 0.1, 0.01, 0.001, RAREST].map((share) => (
            <g key={share}>
              <line class="chart-grid" x1={LEFT} x2={WIDTH - RIGHT} y1={y(share)} y2={y(share)} />
              <text x={LEFT - 5} y={y(share) + 4} text-anchor="end">
                {value(share, "1")}
              </text>
            </g>
          ))}
          {ticks(low, high).map((d) => (
            <g key={d}>
              <line class="chart-grid" x1={x(d)} x2={x(d)} y1={TOP} y2={HEIGHT - BOTTOM} />
              <text x={x(d)} y={HEIGHT - 8} text-anchor="middle">
                {value(d, "s")}
              </text>
            </g>
          ))}
          {curves.map((c) => (
            <path
              key={c.class}
              d={path(c)}
              fill="none"
              stroke-width="1.75"
              style={{ stroke: paints.get(c.class)?.color ?? "var(--ink)" }}
              stroke-dasharray={paints.get(c.class)?.dash.join(" ")}
            />
          ))}
        </svg>
      </div>
      <Legend
        label={t.distribution}
        items={curves.flatMap((c) => {
          const paint = paints.get(c.class);
          return paint ? [{ name: c.class, paint, value: t.median(value(at(c, 0.5), "s")) }] : [];
        })}
      />
      <ul class="unseen">
        {curves.map((c) => (
          <li key={c.class}>
            {t.summary(
              c.class,
              value(at(c, 0.5), "s"),
              value(at(c, 0.99), "s"),
              value(at(c, 1), "s"),
            )}
          </li>
        ))}
      </ul>
    </figure>
  );
}
