import { useEffect, useMemo, useRef } from "preact/hooks";
import type { PointBounds, Recording } from "../../engine/api";
import { useTexts } from "../../texts";
import type { ChartGroup } from "../../ui/charts";
import { paint } from "../../ui/colors";
import { gist } from "../../ui/outline";
import { type Level, type Line, TimeChart } from "../../ui/TimeChart";
import type { Clock } from "./clock";
import {
  busiestKeys,
  delayCurves,
  type Key,
  type KeyedCurve,
  rateCurves,
  waitingCurves,
  windowCurves,
} from "./curves";
import { emptied, useForgotten } from "./forgotten";
import { queueBounds } from "./views";

export const chartNames = ["queue", "delay", "rates", "cwnd"] as const;
export type ChartName = (typeof chartNames)[number];

interface Props {
  recordings: readonly Recording[];
  /** Names of the sides, where there are two. */
  names: readonly string[];
  charts: readonly ChartName[];
  clock: Clock;
  group: ChartGroup;
  color: Key;
  /** What cannot be exceeded at the port, of each side. */
  bounds: readonly (PointBounds | null)[];
  height?: number;
}

const UNITS: Readonly<Record<ChartName, string>> = {
  queue: "packets",
  delay: "s",
  rates: "b/s",
  cwnd: "B",
};

const CURVES = {
  queue: waitingCurves,
  delay: delayCurves,
  rates: rateCurves,
  cwnd: windowCurves,
};

/** Charts that go with the time of the pictures; a click on one goes to its time. */
export function Charts({ recordings, names, charts, clock, group, color, bounds, height }: Props) {
  const t = useTexts().watch.charts;
  const over = useRef(false);
  useEffect(
    () =>
      clock.onShow((time) => {
        if (!over.current) {
          group.at.value = time;
        }
        follow(group, time, clock.playing.peek());
      }),
    [clock, group],
  );
  const goes = () => {
    if (group.at.value !== null) {
      clock.seek(group.at.value);
    }
  };
  const range = [0, clock.end.value] as const;
  const sides = useMemo(
    () =>
      recordings.map((recording) => {
        const keys = busiestKeys(recording, color);
        return charts.map((chart) => linesOf(CURVES[chart](recording, color, keys)));
      }),
    [recordings, charts, color],
  );
  useForgotten(sides, (old) => {
    for (const lines of old.flat()) emptied(lines, { values: null });
  });
  const levels = useMemo(
    () =>
      recordings.map((recording, side) => {
        const delays = sides[side]?.[charts.indexOf("delay")] ?? [];
        const longest = Math.max(0, ...delays.map((line) => gist(line)?.most ?? 0));
        return levelsOf(bounds[side] ?? null, recording, longest, t.bound);
      }),
    [recordings, sides, charts, bounds, t],
  );
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the charts in it have the role and keys.
    <div
      class={`watch-charts watch-charts-${recordings.length}`}
      onPointerEnter={() => {
        over.current = true;
      }}
      onPointerLeave={() => {
        over.current = false;
        group.at.value = clock.time;
      }}
      onClick={(event) => {
        if ((event.target as Element).closest(".chart-area")) {
          goes();
        }
      }}
      onKeyUp={(event) => {
        if (/^(Arrow|Home|End)/.test(event.key)) {
          goes();
        }
      }}
    >
      {charts.map((chart, at) =>
        recordings.map((recording, side) => {
          const lines = sides[side]?.[at] ?? [];
          return lines.length === 0 ? null : (
            <TimeChart
              key={`${chart} ${names[side] ?? recording.variant}`}
              title={recordings.length > 1 ? t.of(names[side] ?? "", t.short[chart]) : t[chart]}
              unit={UNITS[chart]}
              lines={lines}
              levels={chart === "delay" ? (levels[side] ?? []) : []}
              group={group}
              range={range}
              {...(height === undefined ? {} : { height })}
            />
          );
        }),
      )}
    </div>
  );
}

function linesOf(curves: readonly KeyedCurve[]): Line[] {
  const colors = new Set(curves.map(({ key }) => key)).size;
  return curves.map(({ name, key, start, step, values }, at) => ({
    name,
    start,
    step,
    values,
    // Flows of one class share its color, and are told apart by their dashes.
    paint: colors < curves.length ? { ...paint(key), dash: paint(at).dash } : paint(key),
  }));
}

/** A bound that is so many times the longest delay would leave nothing to see of the curves. */
const TOO_FAR = 4;

function levelsOf(
  bounds: PointBounds | null,
  recording: Recording,
  longest: number,
  name: (classes: string) => string,
): Level[] {
  return queueBounds(bounds, recording.link)
    .filter(({ delay }) => delay <= TOO_FAR * longest)
    .map(({ classes, delay }) => ({ name: name(classes.join(", ")), value: delay }));
}

/** Keeps the time within what is shown, as it runs. */
function follow(group: ChartGroup, time: number, playing: boolean): void {
  const zoom = group.zoom.peek();
  if (!zoom || !playing) {
    return;
  }
  const [from, to] = zoom;
  if (time < from || time > to) {
    const begin = time < from ? time : from + Math.floor((time - from) / (to - from)) * (to - from);
    group.zoom.value = [begin, begin + to - from];
  }
}
