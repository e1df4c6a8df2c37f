import { type Language, language, useTexts } from "../../texts";
import { unitWord } from "../../ui/words";
import type { Lesson, Numbers, Question } from "./lesson";

/** The words of a question. `{name}` stands for a number of the exercise. */
export interface QuestionWords {
  ask: string;
  hints: Readonly<Record<string, string>>;
  choices?: Readonly<Record<string, string>>;
  why: string;
}

/** The words of a lesson. `*so*` is stressed. */
export interface LessonWords {
  title: string;
  minutes: number;
  text: readonly string[];
  tries: readonly string[];
  controls: Readonly<Record<string, string>>;
  options: Readonly<Record<string, string>>;
  measures: Readonly<Record<string, string>>;
  curves: Readonly<Record<string, string>>;
  questions: Readonly<Record<string, QuestionWords>>;
}

export function useLessonTexts() {
  return useTexts().lessons;
}

type LessonTexts = ReturnType<typeof useLessonTexts>;

/** The words of a lesson; a test sees to it that there are some. */
export function wordsOf(t: LessonTexts, l: Lesson): LessonWords {
  return (t.set as Readonly<Record<string, LessonWords>>)[l.name] as LessonWords;
}

export function questionWords(t: LessonTexts, l: Lesson, q: Question): QuestionWords {
  return wordsOf(t, l).questions[q.name] as QuestionWords;
}

/** A number of up to so many significant digits, as people of the language write it. */
export function decimal(x: number, digits = 4, of: Language = language.value): string {
  const style = { maximumSignificantDigits: digits, useGrouping: false } as const;
  return new Intl.NumberFormat(of, style).format(x);
}

/** A number with its unit, which stay on one line. */
export function quantity(x: number, unit: string): string {
  const word = unitWord(unit);
  return word === "" ? decimal(x) : `${decimal(x)}\u00a0${word}`;
}

/** What a student wrote, with the unit that is asked for unless something stands there already. */
export function withUnit(given: string, unit: string): string {
  return /[\d.,]$/.test(given) ? `${given} ${unitWord(unit)}`.trimEnd() : given;
}

/** The numbers of an exercise as text, by name. */
export function parameterWords(l: Lesson, p: Numbers<string>): Record<string, string> {
  const entries = Object.entries(l.parameters);
  return Object.fromEntries(entries.map(([k, { unit }]) => [k, quantity(p[k] ?? 0, unit)]));
}

/** The numbers in a question's choices as text. */
export function choiceNumbers(q: Question, p: Numbers<string>): Record<string, string> {
  const shown = q.kind === "choice" ? (q.shown?.(p) ?? {}) : {};
  return Object.fromEntries(Object.entries(shown).map(([k, x]) => [k, decimal(x, 3)]));
}

/** A text with its numbers put in. A sign or a unit begins no line. */
export function filled(text: string, numbers: Readonly<Record<string, string>> = {}): string {
  const put = text.replace(/\{(\w+)\}/g, (all, name: string) =>
    Object.hasOwn(numbers, name) ? (numbers[name] ?? all) : all,
  );
  return put
    .replace(/ (?=[%=·←−])|(?<=−) /g, "\u00a0")
    .replace(/(?<=\d) (?=[kM]?[bB]\b|m?s\b)/g, "\u00a0");
}
