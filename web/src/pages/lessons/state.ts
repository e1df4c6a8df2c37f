import { useEffect, useMemo, useState } from "preact/hooks";
import type { Outcome } from "../../engine/api";
import { useEngine } from "../../engine/context";
import { Exercise } from "./exercise";
import type { Verdict } from "./judge";
import type { Lesson, Numbers, Question } from "./lesson";
import { emptyWork, keepWork, type LessonWork, recallWork, type Work } from "./work";

/** The work of a student, kept in the browser with each change. */
export function useWork(number: string) {
  const [work, setWork] = useState(() => recallWork(number));
  const [kept, setKept] = useState(true);
  const replace = (next: Work) => {
    setWork(next);
    setKept(keepWork(number, next));
  };
  const change = (lesson: Lesson, f: (w: LessonWork) => LessonWork) => {
    // What another tab has kept meanwhile is not lost.
    const now = kept ? recallWork(number) : work;
    replace({ ...now, [lesson.name]: f(now[lesson.name] ?? emptyWork()) });
  };
  return { work, kept, change, replace };
}

/** One exercise of a student, which is made once. */
export function useExercise(lesson: Lesson, number: string): Exercise {
  const engine = useEngine();
  return useMemo(() => new Exercise(lesson, number, engine), [lesson, number, engine]);
}

export interface Run {
  /** The last one that was made, and where the sliders stood then. */
  made?: { outcome: Outcome; controls: Numbers<string> };
  /** Whether a newer one is being made. */
  running: boolean;
  problem?: string;
}

/** ms without a move of a slider before it runs. */
const REST = 60;

/** The run where the sliders stand. The one before is shown until it is there. */
export function useRun(exercise: Exercise, controls: Numbers<string>): Run {
  const [run, setRun] = useState<Run>({ running: true });
  const set = JSON.stringify(exercise.lesson.chosen(exercise.parameters, controls));
  useEffect(() => {
    const stop = new AbortController();
    setRun((before) => ({ ...before, running: true }));
    const timer = setTimeout(() => {
      exercise.run(JSON.parse(set) as string[], stop.signal).then(
        (outcome) => stop.signal.aborted || setRun({ made: { outcome, controls }, running: false }),
        (error) => stop.signal.aborted || setRun({ running: false, problem: said(error) }),
      );
    }, REST);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [exercise, set]);
  return run;
}

export function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What is said to a given answer; `undefined` while it is found out. */
export function useVerdict(
  exercise: Exercise,
  question: Question,
  given: string | undefined,
): { verdict?: Verdict; problem?: string } {
  const [found, setFound] = useState<{ of?: string; verdict?: Verdict; problem?: string }>({});
  useEffect(() => {
    if (given === undefined) return;
    let current = true;
    exercise.judge(question, given).then(
      (verdict) => current && setFound({ of: given, verdict }),
      (error) => current && setFound({ of: given, problem: said(error) }),
    );
    return () => {
      current = false;
    };
  }, [exercise, question, given]);
  return given !== undefined && found.of === given ? found : {};
}
