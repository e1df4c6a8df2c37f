/** The values that a slider stops at. */

export type Along = "linear" | "log";

export interface Range {
  min: number;
  max: number;
  along: Along;
  /** Whether only whole numbers count. */
  whole?: boolean;
}

/** The most stops of a linear slider. */
const MOST = 200;

/** 1, 2 or 5 times a power of ten: the least that is not below `x`. */
function round125(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x));
  const step = [1, 2, 5, 10].find((s) => s * power >= x * (1 - 1e-9)) ?? 10;
  return step * power;
}

/** Without the noise of binary fractions. */
function clean(x: number): number {
  return Number(x.toPrecision(12));
}

function linear({ min, max, whole }: Range): number[] {
  const step = Math.max(round125((max - min) / MOST), whole ? 1 : 0);
  const found = [min];
  const first = Math.floor(min / step) + 1;
  for (let k = first; clean(k * step) < max; k++) found.push(clean(k * step));
  found.push(max);
  return found;
}

/** Numbers of two digits, from 1.0 to 9.9, 100 stops a decade and fewer at its end. */
function logarithmic({ min, max, whole }: Range): number[] {
  const low = min > 0 ? min : max / 1e6;
  const found = min > 0 ? [min] : [min, low];
  for (let e = Math.floor(Math.log10(low)); 10 ** e <= max; e++) {
    for (let m = 100; m < 1000; m += m < 200 ? 2 : m < 500 ? 5 : 10) {
      const x = clean(m * 10 ** (e - 2));
      if (x > low && x < max && (!whole || Number.isInteger(x))) found.push(x);
    }
  }
  found.push(max);
  return found;
}

/** The stops from `min` to `max`, ascending, both among them. */
export function stops(range: Range): number[] {
  if (!(range.max > range.min)) return [range.min];
  const list = range.along === "log" && range.max > 0 ? logarithmic(range) : linear(range);
  // Where both ends are almost the same, rounding makes stops coincide or leave the range.
  const inside = list.filter((x, i) => i === 0 || (x > range.min && x < range.max));
  return [...new Set([...inside, range.max])];
}

/** The number of the stop that is nearest to `x`: in ratio on a logarithmic slider. */
export function nearest(list: readonly number[], x: number, along: Along): number {
  const place = (v: number) => (along === "log" ? Math.log(Math.max(v, Number.MIN_VALUE)) : v);
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  list.forEach((stop, i) => {
    const far = Math.abs(place(stop) - place(x));
    if (far < least) [best, least] = [i, far];
  });
  return best;
}
