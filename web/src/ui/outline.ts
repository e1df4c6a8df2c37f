/** Curves with fewer points that look the same. */

/** Points at equal steps; NaN where there is none. */
export interface Samples {
  /** s, as `step` */
  start: number;
  step: number;
  values: Float64Array;
}

/** Times and the values of several curves at them, as uPlot takes them. */
export interface Table {
  times: number[];
  columns: (number | null)[][];
}

function sameGrid(curves: readonly Samples[]): boolean {
  const [first] = curves;
  return curves.every(
    (c) =>
      c.start === first?.start && c.step === first.step && c.values.length === first.values.length,
  );
}

const shown = (x: number | undefined): number | null =>
  x === undefined || Number.isNaN(x) ? null : x;

/** The time of a sample, without the noise of binary fractions. */
export function timeOf(curve: Samples, i: number): number {
  return Math.round((curve.start + i * curve.step) * 1e12) / 1e12;
}

/** The numbers of samples that lie in a range, with one more at each side. */
function within(curve: Samples, from: number, to: number): [number, number] {
  const last = curve.values.length - 1;
  const clamp = (i: number) => Math.min(last, Math.max(0, i));
  const step = curve.step || 1;
  return [
    clamp(Math.floor((from - curve.start) / step)),
    clamp(Math.ceil((to - curve.start) / step)),
  ];
}

/**
 * Least and largest value of samples from `a` up to and without `b`, in the order in which they
 * come; NaN twice if none is defined.
 */
export function extremes(values: Float64Array, a: number, b: number): [number, number] {
  let low = -1;
  let high = -1;
  for (let i = a; i < b; i++) {
    const v = values[i] as number;
    if (Number.isNaN(v)) continue;
    if (low < 0 || v < (values[low] as number)) low = i;
    if (high < 0 || v > (values[high] as number)) high = i;
  }
  if (low < 0) return [Number.NaN, Number.NaN];
  const [first, second] = low < high ? [low, high] : [high, low];
  return [values[first] as number, values[second] as number];
}

/** Curves on one grid; of many samples the least and the largest of each of `room` buckets. */
function onGrid(curves: readonly Samples[], from: number, to: number, room: number): Table {
  const [grid] = curves;
  if (!grid || grid.values.length === 0) return { times: [], columns: curves.map(() => []) };
  const [a, b] = within(grid, from, to);
  const columns: (number | null)[][] = curves.map(() => []);
  const times: number[] = [];
  if (b - a + 1 <= 2 * room) {
    for (let i = a; i <= b; i++) {
      times.push(timeOf(grid, i));
      curves.forEach((c, k) => {
        columns[k]?.push(shown(c.values[i]));
      });
    }
    return { times, columns };
  }
  for (let k = 0; k < room; k++) {
    const i = a + Math.floor(((b - a + 1) * k) / room);
    const j = a + Math.floor(((b - a + 1) * (k + 1)) / room);
    times.push(timeOf(grid, i), timeOf(grid, i + (j - i) / 2));
    curves.forEach((c, n) => {
      const [first, second] = extremes(c.values, i, j);
      columns[n]?.push(shown(first), shown(second));
    });
  }
  return { times, columns };
}

/** Curves of different grids: all their times, and gaps where a curve has no sample. */
function merged(tables: readonly Table[]): Table {
  const times = [...new Set(tables.flatMap((t) => t.times))].sort((x, y) => x - y);
  const places = new Map(times.map((t, i) => [t, i]));
  const columns = tables.map((t) => {
    // uPlot draws through `undefined` and breaks a line at `null`.
    const column: (number | null | undefined)[] = new Array(times.length).fill(undefined);
    t.times.forEach((time, i) => {
      column[places.get(time) as number] = t.columns[0]?.[i] ?? null;
    });
    return column as (number | null)[];
  });
  return { times, columns };
}

/**
 * What a chart of a width of `room` pixels shows of curves from one time to another.
 *
 * No peak is lost: of what falls on a pixel the least and the largest value are kept.
 */
export function outline(curves: readonly Samples[], from: number, to: number, room: number): Table {
  const least = Math.max(1, Math.floor(room));
  if (sameGrid(curves)) return onGrid(curves, from, to, least);
  return merged(curves.map((c) => onGrid([c], from, to, least)));
}

/** First and last time of curves; none if they have no samples. */
export function span(curves: readonly Samples[]): [number, number] | null {
  const used = curves.filter((c) => c.values.length > 0);
  if (used.length === 0) return null;
  const last = (c: Samples) => timeOf(c, c.values.length - 1);
  return [Math.min(...used.map((c) => c.start)), Math.max(...used.map(last))];
}

/** A curve in a few numbers; none if nothing is defined. */
export interface Gist {
  least: number;
  mean: number;
  most: number;
  /** When the largest value is first reached, in s. */
  when: number;
  last: number;
}

export function gist(curve: Samples): Gist | null {
  let [count, sum, least, most, at, last] = [0, 0, Infinity, -Infinity, 0, 0];
  curve.values.forEach((v, i) => {
    if (Number.isNaN(v)) return;
    count += 1;
    sum += v;
    least = Math.min(least, v);
    if (v > most) [most, at] = [v, i];
    last = v;
  });
  if (count === 0) return null;
  return { least, mean: sum / count, most, when: timeOf(curve, at), last };
}

/** The value at a time: the last sample at or before it; none before the first. */
export function valueAt(curve: Samples, time: number): number {
  const i = Math.floor((time - curve.start) / curve.step + 1e-9);
  return curve.values[Math.min(i, curve.values.length - 1)] ?? Number.NaN;
}
