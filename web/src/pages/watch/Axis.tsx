import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Recording } from "../../engine/api";
import { useTexts } from "../../texts";
import { Button } from "../../ui/Button";
import type { ChartGroup } from "../../ui/charts";
import { value } from "../../ui/format";
import type { Clock } from "./clock";
import { dropTimes, totalCurve } from "./curves";
import { timeInWords } from "./words";

interface Props {
  recordings: readonly Recording[];
  clock: Clock;
  group: ChartGroup;
  onStep: (by: number) => void;
}

const HEIGHT = 56;
const WIDTH = 1000;
/** Drops that are drawn; more are the same dense row. */
const MOST_DROPS = 1500;

/** The axis of time, with what waits in it: it shows where one is, and goes elsewhere. */
export function Axis({ recordings, clock, group, onStep }: Props) {
  const t = useTexts().watch;
  const end = clock.end.value;
  const [from, to] = group.zoom.value ?? [0, end];
  const head = useRef<HTMLDivElement>(null);
  const totals = useMemo(() => recordings.map((recording) => totalCurve(recording)), [recordings]);
  const drops = useMemo(() => recordings.map((recording) => dropTimes(recording)), [recordings]);
  const most = Math.max(1, ...totals.map((values) => Math.max(...values)));

  useEffect(() => {
    const place = (time: number) => {
      const part = (time - from) / Math.max(1e-12, to - from);
      if (head.current) {
        head.current.style.left = `${100 * part}%`;
        head.current.hidden = part < 0 || part > 1;
      }
    };
    place(clock.time);
    return clock.onShow(place);
  }, [clock, from, to]);

  const seekAt = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    clock.seek(from + ((event.clientX - box.left) / box.width) * (to - from));
  };
  const keys = (event: KeyboardEvent) => {
    const page = (to - from) / 10;
    const moves: Record<string, () => void> = {
      ArrowLeft: () => onStep(event.shiftKey ? -10 : -1),
      ArrowRight: () => onStep(event.shiftKey ? 10 : 1),
      PageUp: () => clock.seek(clock.time - page),
      PageDown: () => clock.seek(clock.time + page),
      Home: () => clock.seek(from),
      End: () => clock.seek(to),
    };
    const move = moves[event.key];
    if (move) {
      event.preventDefault();
      event.stopPropagation();
      move();
    }
  };
  const paths = useMemo(() => {
    const x = (time: number) => ((time - from) / Math.max(1e-12, to - from)) * WIDTH;
    return {
      totals: totals.map((values, at) => area(values, end, from, to, most, at === 0)),
      drops: drops.map((times, at) => dropMarks(times, x, at)),
    };
  }, [totals, drops, end, from, to, most]);
  return (
    <div class="watch-axis">
      <div
        class="watch-scrub"
        role="slider"
        tabIndex={0}
        aria-label={t.axis}
        aria-description={t.keys}
        aria-valuemin={0}
        aria-valuemax={end}
        aria-valuenow={clock.shown.value}
        aria-valuetext={timeInWords(clock.shown.value)}
        onKeyDown={keys}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          seekAt(event);
        }}
        onPointerMove={(event) => event.buttons === 1 && seekAt(event)}
      >
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden="true"
          focusable="false"
        >
          {paths.totals.map((path, at) => (
            <path key={at} class={`watch-total watch-total-${at}`} d={path} />
          ))}
          {paths.drops.map((path, at) => (
            <path key={at} class="watch-drops" d={path} />
          ))}
        </svg>
        <div class="watch-head" ref={head} />
      </div>
      <div class="watch-scale">
        <span>{from === 0 ? "0 s" : value(from, "s")}</span>
        <span class="watch-zoom">
          <Button
            kind="quiet"
            label={t.zoomOut}
            title={t.zoomOut}
            onClick={() => zoom(group, clock, 2)}
          >
            −
          </Button>
          <Button
            kind="quiet"
            label={t.zoomIn}
            title={t.zoomIn}
            onClick={() => zoom(group, clock, 0.5)}
          >
            +
          </Button>
          {group.zoom.value && (
            <Button
              kind="quiet"
              onClick={() => {
                group.zoom.value = null;
              }}
            >
              {t.whole}
            </Button>
          )}
        </span>
        <span>{value(to, "s")}</span>
      </div>
    </div>
  );
}

/** Zooms the axis and the charts about the present time. */
export function zoom(group: ChartGroup, clock: Clock, by: number): void {
  const end = clock.end.value;
  const [from, to] = group.zoom.value ?? [0, end];
  const width = Math.min(end, Math.max(1e-4, (to - from) * by));
  if (width >= end) {
    group.zoom.value = null;
    return;
  }
  const begin = Math.max(0, Math.min(end - width, clock.time - width / 2));
  group.zoom.value = [begin, begin + width];
}

function tenths(x: number): number {
  return Math.round(x * 10) / 10;
}

/** The backlog as an area (of the first side) or a line, in the part of time that is shown. */
function area(
  values: Float64Array,
  end: number,
  from: number,
  to: number,
  most: number,
  closed: boolean,
): string {
  if (end <= 0) {
    return "";
  }
  const step = end / values.length;
  const first = Math.max(0, Math.floor(from / step));
  const last = Math.min(values.length - 1, Math.ceil(to / step));
  const points: string[] = [];
  for (let at = first; at <= last; at++) {
    const x = ((at * step - from) / Math.max(1e-12, to - from)) * WIDTH;
    const y = HEIGHT - 2 - ((values[at] ?? 0) / most) * (HEIGHT - 12);
    points.push(`${tenths(x)},${tenths(y)}`);
  }
  const line = `M${points.join("L")}`;
  return closed ? `${line}V${HEIGHT}H0Z` : line;
}

function dropMarks(times: readonly number[], x: (time: number) => number, side: number): string {
  const every = Math.max(1, Math.ceil(times.length / MOST_DROPS));
  const shown = times.filter((_, at) => at % every === 0).map(x);
  return shown
    .filter((at) => at >= 0 && at <= WIDTH)
    .map((at) => `M${tenths(at)},${side * 5}v4`)
    .join("");
}
