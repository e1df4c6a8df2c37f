import { ticks } from "../../ui/cdf";
import { fitting, number, ofDifference, plain, type Scale, withInterval } from "../../ui/format";
import { localized } from "../../ui/words";
import type { Mark } from "./figure";
import type { Estimate } from "./statistics";

/** What charts of means have in common. */

/** A mean at a place of a line. */
export interface Spot {
  x: number;
  value: Estimate;
  /** Single values behind it. */
  singles?: readonly number[] | undefined;
}

export interface Drawn {
  name: string;
  /** As shown. */
  label: string;
  index: number;
  spots: readonly Spot[];
  /** The same as the reproduction has it, where the settings are others. */
  before: readonly Spot[];
}

/** An axis of values; 0 is on it. */
export interface Axis {
  least: number;
  most: number;
  scale: Scale;
  ticks: readonly number[];
  text: (value: number) => string;
}

/** The least and the largest value that are drawn, intervals and marks included, and 0. */
export function extent(lines: readonly Drawn[], marks: readonly Mark[]): [number, number] {
  const ends = ({ value: { mean, half }, singles = [] }: Spot) => [
    mean - (half ?? 0),
    mean + (half ?? 0),
    ...singles,
  ];
  const ofMark = (m: Mark) =>
    m.kind === "point" ? [m.y - (m.half ?? 0), m.y + (m.half ?? 0)] : [m.from[1], m.to[1]];
  const spots = lines.flatMap((l) => [...l.spots, ...l.before]);
  // What is measured here is not below 0, but a difference of two is.
  const negative = spots.some((s) => s.value.mean < 0);
  const all = [...spots.flatMap(ends), ...marks.flatMap(ofMark)].filter(Number.isFinite);
  return [negative ? Math.min(...all) : 0, Math.max(0, ...all)];
}

/** From a little below to a little above what is drawn; a share ends at 100 %. */
export function axisOf(
  unit: string,
  [low, high]: readonly [number, number],
  room: number,
  difference = false,
): Axis {
  const air = (high - low || 1) * 0.05;
  const above = high + air;
  const most = unit === "1" && high <= 1 ? Math.min(1, above) : above;
  const least = low < 0 ? low - air : 0;
  const fits = fitting(unit, [most, least]);
  const scale = difference ? ofDifference(fits) : fits;
  const { factor } = scale;
  const round = ticks(least * factor, most * factor, room, false).map((t) => t / factor);
  const text = (v: number) => localized(plain(Number((v * factor).toPrecision(6))));
  return { least, most, scale, ticks: round, text };
}

/** A mean with its interval in a fitting unit. */
export function said({ mean, half }: Estimate, unit: string, difference = false): string {
  if (!difference) return withInterval(mean, half, unit);
  const scale = ofDifference(fitting(unit, [mean]));
  return `${number(mean, half, scale.factor, true)} ${scale.unit}`;
}

/** Where a value stands between two pixels. */
export function along(from: number, to: number, least: number, most: number) {
  return (value: number) => from + ((value - least) / (most - least || 1)) * (to - from);
}

/** The outline of a mark, which differs from line to line as its color does. */
export function shape(index: number, x: number, y: number, r: number): string {
  const kinds = [
    // A square, a circle, a triangle, a diamond.
    `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
    `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
    `M${x} ${y - 1.2 * r}L${x + 1.2 * r} ${y + r}H${x - 1.2 * r}z`,
    `M${x} ${y - 1.3 * r}L${x + 1.3 * r} ${y}L${x} ${y + 1.3 * r}L${x - 1.3 * r} ${y}z`,
  ];
  return kinds[index % kinds.length] ?? "";
}

/** Where single values stand beside each other: the same each time, from -1 to 1. */
export function spread(i: number): number {
  return 2 * ((i * 0.618034) % 1) - 1;
}
