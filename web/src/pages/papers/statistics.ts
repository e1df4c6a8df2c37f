/** Means over independent runs, and what chance may have made of them. */

export interface Estimate {
  mean: number;
  /** Half of the 95 % interval; none of a single run. */
  half: number | null;
  runs: number;
}

/** 97.5 % quantiles of Student's t by degrees of freedom, from 1. */
const T = [
  12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.306, 2.26216, 2.22814, 2.20099,
  2.17881, 2.16037, 2.14479, 2.13145, 2.11991, 2.10982, 2.10092, 2.09302,
];

/** The most runs of which there is an interval. */
export const MOST_RUNS = T.length + 1;

/** The mean of a value over runs; none if a run has none. */
export function estimate(values: readonly number[]): Estimate | undefined {
  const n = values.length;
  if (n === 0 || !values.every(Number.isFinite)) return undefined;
  const mean = meanOf(values);
  const t = T[n - 2];
  if (t === undefined) return { mean, half: null, runs: n };
  const squares = values.reduce((sum, x) => sum + (x - mean) ** 2, 0);
  return { mean, half: t * Math.sqrt(squares / (n - 1) / n), runs: n };
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, x) => sum + x, 0) / values.length;
}

/** What a function makes of two values of each run: runs of one number have the same seeds. */
export function paired(
  a: readonly number[] | undefined,
  b: readonly number[] | undefined,
  f: (a: number, b: number) => number,
): number[] | undefined {
  if (!a || !b || a.length !== b.length) return undefined;
  return a.map((x, i) => f(x, b[i] ?? Number.NaN));
}

/** The slope of the line of least squares through points. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const [x, y] = [meanOf(points.map((p) => p[0])), meanOf(points.map((p) => p[1]))];
  const across = points.reduce((sum, p) => sum + (p[0] - x) * (p[1] - y), 0);
  return across / points.reduce((sum, p) => sum + (p[0] - x) ** 2, 0);
}
