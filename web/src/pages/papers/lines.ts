import type { Drawn, Spot } from "./draw";
import {
  type Curves,
  isStart,
  type Measured,
  type Panel,
  type Point,
  type Rows,
  type Settings,
  startOf,
} from "./figure";
import { estimate, paired } from "./statistics";

/** What charts draw of what has been run. */

export type Of = (point: Point) => Measured | undefined;
type Figure = Curves | Rows;

/** Lines of a panel, and the same as the reproduction has them where the settings are others. */
export function linesOf(
  figure: Figure,
  panel: Panel,
  settings: Settings,
  of: Of,
  labels: Readonly<Record<string, string>>,
): Drawn[] {
  const start = startOf(figure);
  const changed = !isStart(figure, settings);
  const names = figure.lines(settings);
  if (panel.more) {
    const before = changed ? differences(figure, panel, start, of) : [];
    const spots = differences(figure, panel, settings, of);
    return [
      {
        name: panel.name,
        label: labels[panel.name] ?? panel.name,
        index: names.length,
        spots,
        before,
      },
    ];
  }
  return names.map((name, index) => ({
    name,
    label: labels[name] ?? name,
    index,
    spots: spotsOf(figure, panel, settings, of, name),
    before: changed ? spotsOf(figure, panel, start, of, name) : [],
  }));
}

function spotsOf(figure: Figure, panel: Panel, s: Settings, of: Of, line: string): Spot[] {
  // In rows, what a point measures has the names of the lines.
  const inRows = figure.kind === "rows";
  return figure.points(s).flatMap((p) => {
    const measured = inRows || p.line === line ? of(p) : undefined;
    const found = estimate(measured?.values[inRows ? line : panel.quantity] ?? []);
    return found ? [{ x: p.x, value: found, singles: measured?.singles }] : [];
  });
}

/** How much more one line is than another, run by run: their intervals hide it. */
function differences(figure: Figure, panel: Panel, s: Settings, of: Of): Spot[] {
  const [line = "", than = ""] = panel.more ?? [];
  const points = figure.points(s);
  const at = (x: number, name: string) => {
    const point = points.find((p) => p.x === x && p.line === name);
    return point && of(point)?.values[panel.quantity];
  };
  return [...new Set(points.map((p) => p.x))].flatMap((x) => {
    const found = estimate(paired(at(x, line), at(x, than), (a, b) => a - b) ?? []);
    return found ? [{ x, value: found }] : [];
  });
}
