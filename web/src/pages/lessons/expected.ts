import type { Engine } from "../../engine/api";
import { codeOf } from "./code";
import { Exercise } from "./exercise";
import type { Lesson, Question } from "./lesson";
import { NOBODY, readNumber } from "./number";
import { lessons } from "./set";

/** More numbers than a class has, and as many as a browser computes in some minutes. */
export const MOST_NUMBERS = 200;

/** The numbers of a list, each once, and what in it is none. */
export function readNumbers(text: string): { numbers: string[]; bad: string[] } {
  const words = text.split(/[\s,;]+/).filter((w) => w !== "");
  const read = words.map((word) => ({ word, number: readNumber(word) }));
  const numbers = new Set(read.flatMap(({ number }) => (number === undefined ? [] : [number])));
  return { numbers: [...numbers], bad: read.filter((r) => !r.number).map((r) => r.word) };
}

/** The right answers of one student. */
export interface Expected {
  number: string;
  exercises: readonly Exercise[];
  /** By lesson and question. */
  answers: ReadonlyMap<string, number | string>;
  /** The check code of one who has everything right. */
  code: string;
}

export const answerKey = (l: Lesson, q: Question) => `${l.name}.${q.name}`;

/** Computes the right answers of a number. */
export async function expectedOf(
  engine: Pick<Engine, "run">,
  number: string = NOBODY,
): Promise<Expected> {
  const exercises = lessons.map((l) => new Exercise(l, number, engine));
  const answers = new Map<string, number | string>();
  for (const e of exercises) {
    for (const q of e.lesson.questions) answers.set(answerKey(e.lesson, q), await e.answer(q));
  }
  return {
    number,
    exercises,
    answers,
    code: codeOf(
      number,
      [...answers].map(() => true),
    ),
  };
}
