import { forget, recall, remember } from "../../app/storage";
import { allows, type Lesson } from "./lesson";
import { NOBODY, readNumber } from "./number";
import { lessons } from "./set";

/**
 * What a student has done. Verdicts are not kept: they are computed again from what was given, so
 * nobody gains by changing what the browser holds.
 */
export interface LessonWork {
  /** The last answer to each question, as it was typed. */
  given: Record<string, string>;
  /** How often each question was answered. */
  tries: Record<string, number>;
  /** Where the sliders stand. */
  controls: Record<string, number>;
}

export type Work = Record<string, LessonWork>;

const FORMAT = "spillgate-lessons-1";
/** More is no work of these lessons. */
const LARGEST = 100_000;
const LONGEST_ANSWER = 60;
const MOST_TRIES = 9999;

export function emptyWork(): LessonWork {
  return { given: {}, tries: {}, controls: {} };
}

/** An answer as it is kept. */
export function keptAnswer(text: string): string {
  return text.slice(0, LONGEST_ANSWER);
}

/** The work as text, for the browser and for a file. */
export function written(number: string, work: Work): string {
  return `${JSON.stringify({ format: FORMAT, number, lessons: work }, null, 1)}\n`;
}

/**
 * Reads work, whoever wrote it. Only what these lessons have is taken; the rest is left out. None
 * if it is no work at all.
 */
export function readWork(text: string): { number: string; work: Work } | undefined {
  if (text.length > LARGEST) return undefined;
  const document = entries(parsed(text));
  if (document.get("format") !== FORMAT) return undefined;
  const said = document.get("number");
  const number = typeof said === "string" ? readNumber(said) : undefined;
  if (number === undefined) return undefined;
  const found = entries(document.get("lessons"));
  const work = lessons.map((l) => [l.name, lessonWork(l, entries(found.get(l.name)))] as const);
  return { number, work: Object.fromEntries(work) };
}

function lessonWork(l: Lesson, found: ReadonlyMap<string, unknown>): LessonWork {
  const given = entries(found.get("given"));
  const tries = entries(found.get("tries"));
  const controls = entries(found.get("controls"));
  const work = emptyWork();
  for (const { name } of l.questions) {
    const answer = given.get(name);
    const count = tries.get(name);
    if (typeof answer === "string" && answer !== "") work.given[name] = keptAnswer(answer);
    if (isCount(count)) work.tries[name] = Math.min(count, MOST_TRIES);
  }
  for (const [name, control] of Object.entries(l.controls)) {
    const x = controls.get(name);
    if (typeof x === "number" && allows(control, x)) work.controls[name] = x;
  }
  return work;
}

const isCount = (x: unknown): x is number => Number.isInteger(x) && (x as number) > 0;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The entries of what may be an object; none of anything else. */
function entries(x: unknown): ReadonlyMap<string, unknown> {
  return new Map(typeof x === "object" && x !== null ? Object.entries(x) : []);
}

const key = (number: string) => `lessons.work.${number}`;
const LAST = "lessons.number";

/** What the browser has kept of a number. */
export function recallWork(number: string): Work {
  const found = readWork(recall(key(number)) ?? "");
  return found?.number === number ? found.work : {};
}

/** Whether it was kept. */
export function keepWork(number: string, work: Work): boolean {
  return remember(key(number), written(number, work));
}

export function forgetWork(number: string): void {
  forget(key(number));
}

/** The number that was used last. */
export function recallNumber(): string {
  return readNumber(recall(LAST) ?? "") ?? NOBODY;
}

export function keepNumber(number: string): void {
  remember(LAST, number);
}
