import { type Signal, signal } from "@preact/signals";
import { useMemo } from "preact/hooks";

/** Charts over time that belong together: they show the same part of it, and point at one time. */
export interface ChartGroup {
  /** What is shown, in s; all if null. */
  zoom: Signal<[number, number] | null>;
  /** What is pointed at, in s. */
  at: Signal<number | null>;
}

export function chartGroup(): ChartGroup {
  return { zoom: signal(null), at: signal(null) };
}

/** A group for the charts of a component. */
export function useChartGroup(): ChartGroup {
  return useMemo(chartGroup, []);
}

type View = [number, number];

function moved([a, b]: View, by: number, [least, most]: View): View {
  const shift = Math.max(least - a, Math.min(most - b, by));
  return [a + shift, b + shift];
}

function scaled([a, b]: View, about: number, by: number, [least, most]: View): View | null {
  const [x, y] = [about - (about - a) * by, about + (b - about) * by];
  if (x <= least && y >= most) return null;
  return [Math.max(least, x), Math.min(most, y)];
}

/** What a key does to a chart; nothing if it is another key. */
export function onKey(
  key: string,
  group: { zoom: View | null; at: number | null },
  all: View,
  wide: boolean,
): { zoom: View | null; at: number | null } | undefined {
  const view = group.zoom ?? all;
  const width = view[1] - view[0];
  const at = Math.min(view[1], Math.max(view[0], group.at ?? view[0] + width / 2));
  const point = (by: number) => {
    const to = Math.min(all[1], Math.max(all[0], at + by));
    const out = to < view[0] ? to - view[0] : to > view[1] ? to - view[1] : 0;
    return { zoom: group.zoom && moved(view, out, all), at: to };
  };
  const step = width * (wide ? 0.1 : 0.01);
  switch (key) {
    case "ArrowLeft":
      return point(-step);
    case "ArrowRight":
      return point(step);
    case "Home":
      return point(all[0] - at);
    case "End":
      return point(all[1] - at);
    case "PageUp":
      return { zoom: moved(view, -width / 2, all), at };
    case "PageDown":
      return { zoom: moved(view, width / 2, all), at };
    case "+":
    case "=":
      return { zoom: scaled(view, at, 0.5, all), at };
    case "-":
      return { zoom: scaled(view, at, 2, all), at };
    case "0":
    case "Escape":
      return { zoom: null, at };
    default:
      return undefined;
  }
}
