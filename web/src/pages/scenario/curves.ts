/** Which curves stand in one chart. */

import type { Curve } from "../../engine/api";
import { paint, paints } from "../../ui/colors";
import type { Line } from "../../ui/TimeChart";

/** Curves of one chart. */
export interface Chart {
  title: string;
  unit: string;
  lines: Line[];
}

/** The most curves that can be told apart in one chart. */
const MOST = 12;

export function metricsOf(series: readonly Curve[]): string[] {
  return [...new Set(series.map((c) => c.metric))];
}

export function placesOf(series: readonly Curve[], metric: string): string[] {
  return [...new Set(series.filter((c) => c.metric === metric).map((c) => c.place))];
}

/** The runs of a variant that have series. */
export function runsOf(series: readonly Curve[]): number[] {
  return [...new Set(series.map((c) => c.run))].sort((a, b) => a - b);
}

/** `class voice` and `uplink/voice`: what is sampled, and where it belongs. */
export function partsOf(place: string): { group: string; name: string } {
  const scoped = /^(class|link|flow|node|switch) (.+)$/s.exec(place);
  if (scoped) return { group: scoped[1] ?? "", name: scoped[2] ?? "" };
  const at = place.lastIndexOf("/");
  return at < 0
    ? { group: "", name: place }
    : { group: place.slice(0, at), name: place.slice(at + 1) };
}

function nameOf(curve: Curve): string {
  return partsOf(curve.place).name;
}

function inParts<T>(list: readonly T[], size: number): T[][] {
  const parts: T[][] = [];
  for (let i = 0; i < list.length; i += size) parts.push(list.slice(i, i + size));
  return parts;
}

/**
 * The charts of one run of a variant: one a link, or one for all classes. What has the name of a
 * class has the class's color.
 */
export function chartsOfVariant(
  series: readonly Curve[],
  metric: string,
  variant: string,
  run: number,
  classes: readonly string[],
): Chart[] {
  const mine = series.filter((c) => c.metric === metric && c.variant === variant && c.run === run);
  const groups = new Map<string, Curve[]>();
  for (const curve of mine) {
    const { group } = partsOf(curve.place);
    const list = groups.get(group);
    if (list) list.push(curve);
    else groups.set(group, [curve]);
  }
  // Routers write the names of classes in capitals, scenarios do not.
  const colors = paints([...classes, ...mine.map(nameOf)].map((n) => n.toLowerCase()));
  return [...groups].flatMap(([group, curves]) =>
    inParts(curves, MOST).map((part) => ({
      title: group,
      unit: part[0]?.unit ?? "",
      lines: part.map((c) => lineOf(c, nameOf(c), colors.get(nameOf(c).toLowerCase()))),
    })),
  );
}

/** Whether a chart shows nothing but zeros. */
export function isEmpty({ lines }: Chart): boolean {
  return lines.every((l) => l.values.every((v) => v === 0 || Number.isNaN(v)));
}

/** One place in all variants. */
export function chartOfPlace(
  series: readonly Curve[],
  metric: string,
  place: string,
  run: number,
  variants: readonly string[],
): Chart {
  const mine = series.filter((c) => c.metric === metric && c.place === place && c.run === run);
  const order = (c: Curve) => variants.indexOf(c.variant);
  const sorted = [...mine].sort((a, b) => order(a) - order(b));
  return {
    title: place,
    unit: sorted[0]?.unit ?? "",
    lines: sorted.map((c) => lineOf(c, c.variant, paint(Math.max(0, order(c))))),
  };
}

function lineOf(curve: Curve, name: string, drawn = paint(0)): Line {
  const { start, step, values } = curve;
  return { name, start, step, values, paint: drawn, stepped: /per_second/.test(curve.metric) };
}
