/** Distributions of delays as curves of what share of packets takes longer. */

export interface Quantiles {
  /** Levels, ascending from 0 to 1. */
  q: readonly number[];
  /** The quantiles in s; null where undefined. */
  owd: readonly (number | null)[];
}

export interface Point {
  /** s */
  delay: number;
  /** The share of packets that take longer. */
  share: number;
}

/** The points of a curve, by falling share. */
export function tail({ q, owd }: Quantiles): Point[] {
  return q.flatMap((level, i) => {
    const delay = owd[i];
    return typeof delay === "number" && Number.isFinite(delay) ? [{ delay, share: 1 - level }] : [];
  });
}

/** The share of packets that take longer than a delay, between quantiles in a straight line. */
export function longer(curve: Quantiles, delay: number): number {
  const points = tail(curve);
  const after = points.findIndex((p) => p.delay > delay);
  if (after < 0) return points.length > 0 ? 0 : Number.NaN;
  if (after === 0) return 1;
  const [a, b] = [points[after - 1] as Point, points[after] as Point];
  return a.share + ((b.share - a.share) * (delay - a.delay)) / (b.delay - a.delay);
}

/** The least share that is worth showing: below it, quantiles are the largest delay itself. */
export function floorOf(curves: readonly Quantiles[]): number {
  let least = 0.01;
  for (const curve of curves) {
    const points = tail(curve);
    const most = points.at(-1)?.delay ?? 0;
    for (const p of points) if (p.share > 1e-9 && p.delay < most) least = Math.min(least, p.share);
  }
  // A whole decade, with room for the largest delay below it.
  return Math.max(1e-6, Number(`1e${Math.floor(Math.log10(least) + 1e-9)}`));
}

/** From the least to the largest delay of curves and marks; none if there is nothing. */
export function reach(
  curves: readonly Quantiles[],
  marks: readonly number[],
): [number, number] | null {
  const all = [...curves.flatMap((c) => tail(c).map((p) => p.delay)), ...marks];
  const positive = all.filter((x) => x > 0);
  if (positive.length === 0) return null;
  const [low, high] = [Math.min(...positive), Math.max(...positive)];
  return low < high ? [low, high] : [low / 2, high * 2];
}

/** Round numbers for an axis from `a` to `b`, about `room` of them. */
export function ticks(a: number, b: number, room: number, log: boolean): number[] {
  if (log) return logTicks(a, b, room);
  const rough = (b - a) / Math.max(1, room);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((s) => s * power).find((s) => s >= rough * (1 - 1e-9)) ?? rough;
  const found: number[] = [];
  for (let k = Math.ceil(a / step - 1e-9); k * step <= b * (1 + 1e-9); k++) {
    found.push(Number((k * step).toPrecision(12)));
  }
  return found;
}

function logTicks(a: number, b: number, room: number): number[] {
  const decades = Math.log10(b / a);
  const factors = decades * 3 <= room ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(decades / Math.max(1, room)));
  const found: number[] = [];
  for (let e = Math.floor(Math.log10(a)); e <= Math.log10(b) + 1e-9; e++) {
    if (factors.length === 1 && ((e % every) + every) % every !== 0) continue;
    for (const f of factors) {
      const x = Number(`${f}e${e}`);
      if (x >= a * (1 - 1e-9) && x <= b * (1 + 1e-9)) found.push(x);
    }
  }
  return found;
}
