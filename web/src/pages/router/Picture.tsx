import { useMemo, useRef } from "preact/hooks";
import type { Outline } from "../../engine/api";
import { useTexts } from "../../texts";
import { paint } from "../../ui/colors";
import { rough } from "../../ui/format";
import { useWidth } from "../../ui/useWidth";
import { AXIS, type Band, bandsOf, type Placed, type Picture as Placement, place } from "./picture";

interface Props {
  policy: Outline | null;
  /** b/s */
  line: number;
  name: string;
}

/** The policy as a picture, and in words for those who do not see it. */
export function Picture({ policy, line, name }: Props) {
  const t = useTexts().router.picture;
  const area = useRef<HTMLDivElement>(null);
  const width = useWidth(area, 900);
  const bands = useMemo(() => bandsOf(policy, line), [policy, line]);
  const picture = useMemo(() => place(bands, width), [bands, width]);
  if (bands.length === 0) return <p class="router-quiet">{t.none(rough(line, "b/s"))}</p>;
  const { axis, placed, height } = picture;
  return (
    <div class="router-picture" ref={area}>
      <svg
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={t.label(name, rough(line, "b/s"), bands.length)}
      >
        <defs>
          <pattern
            id="router-first"
            width="6"
            height="6"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <rect width="6" height="6" class="picture-stripe-ground" />
            <line x1="0" y1="0" x2="0" y2="6" class="picture-stripe" />
          </pattern>
        </defs>
        <Axis x={axis.x} width={axis.width} line={line} />
        <Grid picture={picture} />
        {placed.map((p, i) => (
          <One key={i} placed={p} />
        ))}
      </svg>
      <ul class="picture-key" aria-hidden="true">
        <li>
          <span class="picture-key-bar" /> {t.key.guaranteed}
        </li>
        <li>
          <span class="picture-key-bar picture-key-first" /> {t.key.first}
        </li>
        <li>
          <span class="picture-key-mark picture-key-shape" /> {t.key.shaped}
        </li>
        <li>
          <span class="picture-key-mark picture-key-police" /> {t.key.policed}
        </li>
      </ul>
      <details class="router-words">
        <summary>{t.words}</summary>
        <ul>
          {bands.map((b, i) => (
            <li key={i} class={`depth-${Math.min(4, b.depth)}`}>
              <strong>{b.name}</strong>
              {b.condition !== "" && <> {t.packets(b.condition)}</>}
              {b.notes.length > 0 && <>: {b.notes.join("; ")}</>}
            </li>
          ))}
        </ul>
      </details>
    </div>
  );
}

const marksOf = (width: number) => (width > 420 ? [0, 0.25, 0.5, 0.75, 1] : [0, 0.5, 1]);

function Axis({ x, width, line }: { x: number; width: number; line: number }) {
  return (
    <g>
      {marksOf(width).map((m) => (
        <text
          key={m}
          x={x + m * width}
          y={14}
          class="picture-axis"
          text-anchor={m === 0 ? "start" : m === 1 ? "end" : "middle"}
        >
          {m === 0 ? "0" : rough(m * line, "b/s")}
        </text>
      ))}
    </g>
  );
}

/** Lines at the marks of the axis: through all, or only at the bars where text stands between. */
function Grid({ picture }: { picture: Placement }) {
  const { axis, placed, height, wide } = picture;
  const spans = wide
    ? [[AXIS - 12, height - 4] as const]
    : placed.map(({ bar }) => [bar.y - 3, bar.y + 17] as const);
  return (
    <g>
      {marksOf(axis.width).flatMap((m) =>
        spans.map(([from, to]) => (
          <line
            key={`${m} ${from}`}
            x1={axis.x + m * axis.width}
            x2={axis.x + m * axis.width}
            y1={from}
            y2={to}
            class="picture-grid"
          />
        )),
      )}
    </g>
  );
}

function One({ placed }: { placed: Placed }) {
  const { band, x, y, bar, title, condition, notes, height } = placed;
  return (
    <g>
      <title>{[band.name, band.condition, ...band.notes].filter((s) => s !== "").join("\n")}</title>
      {band.depth > 0 && (
        <line x1={x - 8} x2={x - 8} y1={y - 6} y2={y + height - 6} class="picture-nest" />
      )}
      <text x={x} y={y + 13} class={band.holds ? "picture-name picture-holds" : "picture-name"}>
        {title}
      </text>
      {condition !== "" &&
        condition.split("\n").map((line, i) => (
          <text key={i} x={x} y={y + 29 + i * 16} class="picture-text">
            {line}
          </text>
        ))}
      <Bar band={band} {...bar} />
      {notes.map((n, i) => (
        <text
          key={i}
          x={n.x}
          y={n.y}
          class={i === 0 ? "picture-text picture-main" : "picture-text"}
        >
          {n.text}
        </text>
      ))}
    </g>
  );
}

function Bar(props: { band: Band; x: number; y: number; width: number }) {
  const { band, x, y, width } = props;
  const color = band.index < 0 ? "var(--line-strong)" : paint(band.index).color;
  const share = (band.guaranteed ?? 0) * width;
  const tall = band.holds ? 6 : 14;
  const mark = (at: number | null, kind: string) =>
    at !== null && (
      <line x1={x + at * width} x2={x + at * width} y1={y - 4} y2={y + tall + 4} class={kind} />
    );
  return (
    <g>
      <rect x={x} y={y} width={width} height={tall} class="picture-track" />
      {share > 0 && (
        <rect x={x} y={y} width={Math.max(1.5, share)} height={tall} style={{ fill: color }} />
      )}
      {share > 0 && band.level !== null && (
        <rect x={x} y={y} width={Math.max(1.5, share)} height={tall} fill="url(#router-first)" />
      )}
      {mark(band.shaped, "picture-shape")}
      {mark(band.policed, "picture-police")}
    </g>
  );
}
