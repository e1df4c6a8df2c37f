import type { Outcome } from "../../engine/api";
import { draw } from "./number";

export type Numbers<K extends string> = Readonly<Record<K, number>>;

/** A number of the exercise, drawn by the student's number; the first is the standard. */
export interface Parameter {
  values: readonly number[];
  unit: string;
}

/** A slider over whole numbers, `min` to `max`. Or one of several `options`, whose value is its index. */
export type Control<P extends string> = {
  /** Where it stands at first. */
  start(p: Numbers<P>): number;
} & (
  | { kind: "range"; min: number; max: number; unit: string }
  | { kind: "options"; options: readonly string[] }
);

/** A row of the table beside the sliders: a value of the run for each variant. */
export interface Measure<P extends string, C extends string> {
  name: string;
  scope: "class" | "flow" | "link" | "queue" | "meter";
  of: string;
  metric: string;
  /** Where no metric has it: the value of a run, in the unit of the metric's series. */
  computed?(o: Outcome): number;
  /** What theory says, in the base unit of the metric; undefined where it says nothing. */
  theory?(p: Numbers<P>, c: Numbers<C>): number | undefined;
}

/** A time series that is drawn: of one place, and of one variant or of all. */
export interface Drawn {
  place: string;
  metric: string;
  /** B that make a packet: values in bytes are shown in packets of so many. */
  packet?: number;
}

/** A measure that a formula gives for each place of a slider: a chart of its own. */
export interface Swept<C extends string> {
  control: NoInfer<C>;
  measure: string;
}

interface Asked<P extends string> {
  name: string;
  /** The runs that the answer needs: settings of each, beside those of the parameters. */
  runs?(p: Numbers<P>): string[][];
}

/** A question whose answer is a number in `unit`. */
export interface NumberQuestion<P extends string> extends Asked<P> {
  kind: "number";
  unit: string;
  /** Significant digits that are asked for; 0: a whole number, exactly. */
  digits: number;
  /** How far off an answer may be beside that, where the question says so. */
  allow?: number;
  expected(p: Numbers<P>, o: readonly Outcome[]): number;
  /** Typical wrong answers, by the name of the hint that they get. */
  slips(p: Numbers<P>, o: readonly Outcome[]): Readonly<Record<string, number>>;
}

/** A question with choices, one of which is right. */
export interface ChoiceQuestion<P extends string> extends Asked<P> {
  kind: "choice";
  choices: readonly string[];
  right(p: Numbers<P>, o: readonly Outcome[]): string;
  /** Numbers that the words of a choice show. */
  shown?(p: Numbers<P>): Readonly<Record<string, number>>;
}

export type Question<P extends string = string> = NumberQuestion<P> | ChoiceQuestion<P>;

/** A lesson without its words, which are in `texts`. */
export interface Lesson<P extends string = string, C extends string = string> {
  name: string;
  /** The scenario, as it stands in the file. */
  scenario: string;
  parameters: Readonly<Record<P, Parameter>>;
  controls: Readonly<Record<C, Control<P>>>;
  /** The port that is watched. */
  link: string;
  /** When the measured period begins, s: the picture of the port begins there. */
  warmup(p: Numbers<P>): number;
  /** How long a part of the measured period the charts show, s; all if not given. */
  shown?: number;
  /** Seconds of the scenario in one of ours, in the picture; the picture's own choice if not given. */
  speed?: number;
  /** Settings that make the scenario the student's own. */
  own(p: Numbers<P>): string[];
  /** Settings by the sliders, which come after. */
  chosen(p: Numbers<P>, c: Numbers<C>): string[];
  measures: readonly Measure<P, C>[];
  drawn: readonly Drawn[];
  sweep?: Swept<C>;
  /** Variants whose port is animated: one or two; none where there is one variant. */
  watched: readonly string[];
  /** Lines across the charts: values, by the names of parameters. */
  levels?(p: Numbers<P>): Readonly<Record<string, number>>;
  questions: readonly Question<P>[];
}

/** Has the compiler find out the names of parameters and controls. */
export function lesson<P extends string, C extends string>(l: Lesson<P, C>): Lesson {
  return l;
}

function mapped<K extends string, A, B>(of: Readonly<Record<K, A>>, f: (a: A, k: K) => B) {
  const entries = (Object.keys(of) as K[]).map((k) => [k, f(of[k], k)] as const);
  return Object.fromEntries(entries) as Record<K, B>;
}

/** The parameters of a student. */
export function parametersOf(l: Lesson, number: string): Numbers<string> {
  return mapped(l.parameters, ({ values }, name) => {
    return values[draw(number, `${l.name}.${name}`, values.length)] ?? Number.NaN;
  });
}

/** Where the controls stand at first. */
export function startOf(l: Lesson, p: Numbers<string>): Numbers<string> {
  return mapped(l.controls, (control) => control.start(p));
}

/** Whether a control may stand there. */
export function allows(control: Control<string>, x: number): boolean {
  const most = control.kind === "options" ? control.options.length - 1 : control.max;
  const least = control.kind === "options" ? 0 : control.min;
  return Number.isInteger(x) && x >= least && x <= most;
}
