import type { Details, Outcome, Project } from "../../engine/api";
import type { Range } from "../../ui/stops";
import type { Line } from "../../ui/TimeChart";

/** A figure of a paper that is computed in the page. */

export type PaperName = "mitroi" | "domzal" | "shrivastav" | "chien" | "zheng";

export interface SliderControl {
  kind: "slider";
  key: string;
  range: Range;
  start: number;
  /** Behind the number: `packets`, `Mb/s`; empty for a plain number. */
  unit: string;
}

export interface ChoiceControl {
  kind: "choice";
  key: string;
  /** The first is what the reproduction has. */
  options: readonly string[];
}

export type Control = SliderControl | ChoiceControl;

/** What controls are set to, by key. */
export type Settings = Readonly<Record<string, number | string>>;

/** Something that is run at one place of the figure. */
export interface Point {
  /** What it is called in the scenario. */
  variant: string;
  line: string;
  /** Where it stands: a number of the axis, or of the list of categories. */
  x: number;
  /** Values of the scenario that are others, for this point. */
  set: readonly string[];
}

/** What is kept of the runs at a point. */
export interface Measured {
  /** By quantity: a value of each run. */
  values: Readonly<Record<string, readonly number[]>>;
  /** Single values of all runs, shown behind the mean. */
  singles?: readonly number[];
  /** Curves of the first run. */
  curves?: readonly Line[];
}

/** Finds a quantity at a point of the figure; none where it has not been run. */
export type Lookup = (line: string, x: number, quantity: string) => readonly number[] | undefined;

/** What the paper itself states, drawn into the figure. */
export type Mark =
  | { kind: "point"; line: string; x: number; y: number; half?: number }
  /** A straight line of the paper's, by two points; its name is among the texts. */
  | { kind: "line"; name: string; from: readonly [number, number]; to: readonly [number, number] };

/** A chart of the figure. */
export interface Panel {
  /** Its name among the texts. */
  name: string;
  quantity: string;
  /** Base unit: `1`, `s`, `packets`. */
  unit: string;
  /** Not the lines themselves, but how much more the first is than the second, run by run. */
  more?: readonly [line: string, than: string];
}

/** What the page measures beside a claim of the paper. */
export interface Reading {
  claim: string;
  unit: string;
  values: (of: Lookup, settings: Settings) => readonly number[] | undefined;
}

interface Common {
  name: PaperName;
  /** The scenario's text, and files beside it. */
  scenario: string;
  files?: Readonly<Record<string, string>>;
  controls: readonly Control[];
  /** Names of the lines; not in words, by which texts may call them otherwise. */
  lines: (s: Settings) => readonly string[];
  /** In the order in which they are run. */
  points: (s: Settings) => readonly Point[];
  /** Values of the scenario that are others, for all of it. */
  set: (s: Settings) => readonly string[];
  details: Details;
  /** Settings that show what the texts tell, by name; others are as at the start. */
  tries: Readonly<Record<string, Settings>>;
  measure: (o: Outcome) => Measured;
  readings: readonly Reading[];
}

/** Means with intervals by a number. */
export interface Curves extends Common {
  kind: "curves";
  panels: readonly Panel[];
  xs: readonly number[];
  /** The base unit of the axis: `s`, or empty. */
  xUnit: string;
  marks: (s: Settings) => readonly Mark[];
}

/** Means with intervals in rows. */
export interface Rows extends Common {
  kind: "rows";
  panels: readonly [Panel];
  rows: readonly string[];
  marks: (s: Settings) => readonly Mark[];
}

/** A chart over time for each line. */
export interface Times extends Common {
  kind: "times";
  unit: string;
  /** What the paper states as the most of a line. */
  levels: Readonly<Record<string, number>>;
}

export type Figure = Curves | Rows | Times;

/** The project that a figure runs. */
export function projectOf(figure: Figure): Project {
  const path = `paper-${figure.name}.yaml`;
  return { path, files: { [path]: figure.scenario, ...figure.files } };
}

/** What the reproduction has. */
export function startOf(figure: Figure): Settings {
  return Object.fromEntries(
    figure.controls.map((c) => [c.key, c.kind === "slider" ? c.start : (c.options[0] ?? "")]),
  );
}

export function isStart(figure: Figure, s: Settings): boolean {
  return Object.entries(startOf(figure)).every(([key, value]) => s[key] === value);
}

/** Settings that anybody may have written into a link; what means nothing is as at the start. */
export function readSettings(figure: Figure, query: URLSearchParams): Settings {
  const start = startOf(figure);
  const read = (c: Control): number | string | undefined => {
    const text = query.get(c.key);
    if (text === null || text.trim() === "") return start[c.key];
    if (c.kind === "choice") return c.options.includes(text) ? text : start[c.key];
    const x = Number(text);
    return Number.isFinite(x) ? allowed(c, x) : start[c.key];
  };
  return Object.fromEntries(figure.controls.map((c) => [c.key, read(c) ?? ""]));
}

/** The nearest number that a slider may have. */
export function allowed({ range }: SliderControl, x: number): number {
  const within = Math.min(range.max, Math.max(range.min, x));
  return range.whole ? Math.round(within) : within;
}

/** The settings that differ from the start, as a link has them. */
export function writeSettings(figure: Figure, s: Settings): string {
  const start = startOf(figure);
  const changed = Object.entries(s).filter(([key, value]) => value !== start[key]);
  return new URLSearchParams(changed.map(([key, value]) => [key, String(value)])).toString();
}

/** A number that is set. */
export function numberOf(s: Settings, key: string): number {
  const value = s[key];
  if (typeof value !== "number") throw new Error(`${key} is no slider`);
  return value;
}

/** Assignments of what differs from the start, as the command line's `--set` has them. */
export function changes(
  s: Settings,
  start: Settings,
  set: Readonly<Record<string, (value: number) => readonly string[]>>,
): string[] {
  return Object.entries(set).flatMap(([key, write]) =>
    s[key] === start[key] ? [] : write(numberOf(s, key)),
  );
}

/** By what a point's runs are known again. */
export function keyOf(point: Point): string {
  return JSON.stringify([point.variant, point.set]);
}
