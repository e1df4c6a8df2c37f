import { useEffect, useMemo, useState } from "preact/hooks";
import { useEngine } from "../../engine/context";
import { Button } from "../../ui/Button";
import { codeOf } from "./code";
import { Exercise } from "./exercise";
import type { Lesson, Question } from "./lesson";
import { placeOf } from "./place";
import { lessons } from "./set";
import { said } from "./state";
import {
  choiceNumbers,
  filled,
  parameterWords,
  questionWords,
  useLessonTexts,
  withUnit,
  wordsOf,
} from "./words";
import { recallWork, type Work } from "./work";

/** What stands in a row of the sheet. */
interface Marked {
  right: boolean;
  /** The fingerprint of the run that the answer was checked by. */
  digest?: string;
}

/** Marks of all questions, by lesson and question. */
type Marks = ReadonlyMap<string, Marked>;

const keyOf = (l: Lesson, q: Question) => `${l.name}.${q.name}`;

interface Marking {
  marks: Marks;
  done: boolean;
  problem?: string;
}

/** Marks every answer. Those that need runs come when these are done. */
function useMarks(exercises: readonly Exercise[], work: Work): Marking {
  const [state, setState] = useState<Marking>({ marks: new Map(), done: false });
  useEffect(() => {
    let current = true;
    const marks = new Map<string, Marked>();
    const mark = async () => {
      for (const exercise of exercises) {
        for (const q of exercise.lesson.questions) {
          const given = work[exercise.lesson.name]?.given[q.name];
          if (given === undefined || !current) continue;
          const { kind } = await exercise.judge(q, given);
          const [digest] = await exercise.digests(q);
          const right = kind === "right";
          marks.set(keyOf(exercise.lesson, q), { right, ...(digest && { digest }) });
        }
      }
    };
    mark().then(
      () => current && setState({ marks, done: true }),
      (error) => current && setState({ marks, done: false, problem: said(error) }),
    );
    return () => {
      current = false;
    };
  }, [exercises, work]);
  return state;
}

/** The answers of a student, to print. */
export function Sheet({ number }: { number: string }) {
  const t = useLessonTexts();
  const engine = useEngine();
  const work = useMemo(() => recallWork(number), [number]);
  const exercises = useMemo(
    () => lessons.map((l) => new Exercise(l, number, engine)),
    [number, engine],
  );
  const { marks, done, problem } = useMarks(exercises, work);
  const all = lessons.flatMap((l) =>
    l.questions.map((q) => marks.get(keyOf(l, q))?.right ?? false),
  );
  return (
    <article class="sheet" aria-busy={!done}>
      <header>
        <h1>{t.sheetTitle}</h1>
        <p class="sheet-tools">
          <Button kind="main" disabled={!done} onClick={() => print()}>
            {t.print}
          </Button>
          <a href={placeOf("", number)}>{t.back}</a>
        </p>
        {problem !== undefined && <p class="lesson-problem">{t.failed(problem)}</p>}
        <dl class="sheet-who">
          <div>
            <dt>{t.student}</dt>
            <dd>{number}</dd>
          </div>
          <div class="sheet-line">
            <dt>{t.name}</dt>
            <dd />
          </div>
          <div class="sheet-line">
            <dt>{t.date}</dt>
            <dd />
          </div>
          <div>
            <dt>{t.code}</dt>
            <dd class="sheet-code">{done ? codeOf(number, all) : t.checking}</dd>
          </div>
          <div>
            <dt>{t.mark}</dt>
            <dd>{done ? t.progress(all.filter(Boolean).length, all.length) : t.checking}</dd>
          </div>
        </dl>
      </header>
      {exercises.map((e) => (
        <Part key={e.lesson.name} exercise={e} work={work} marks={marks} />
      ))}
      <footer class="lesson-note">
        <p>{t.codeHint}</p>
        <p>{t.digestHint}</p>
      </footer>
    </article>
  );
}

function Part({ exercise, work, marks }: { exercise: Exercise; work: Work; marks: Marks }) {
  const { lesson, parameters } = exercise;
  const t = useLessonTexts();
  const numbers = parameterWords(lesson, parameters);
  const place = lessons.findIndex((l) => l.name === lesson.name) + 1;
  const given = work[lesson.name]?.given ?? {};
  return (
    <section class="sheet-part">
      <h2>
        {place} {wordsOf(t, lesson).title}
      </h2>
      <p class="sheet-parameters">
        {Object.entries(numbers)
          .map(([name, text]) => `${t.names[name]} ${text}`)
          .join(" · ")}
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">{t.questions}</th>
            <th scope="col">{t.given}</th>
            <th scope="col">{t.mark}</th>
            <th scope="col">{t.digest}</th>
          </tr>
        </thead>
        <tbody>
          {lesson.questions.map((q) => (
            <tr key={q.name}>
              <td>{filled(questionWords(t, lesson, q).ask, numbers)}</td>
              <td class="sheet-given">{givenWords(t, exercise, q, given[q.name])}</td>
              <td class="sheet-mark">{markWords(t, given[q.name], marks.get(keyOf(lesson, q)))}</td>
              <td class="sheet-digest">{marks.get(keyOf(lesson, q))?.digest?.slice(0, 8)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

type Texts = ReturnType<typeof useLessonTexts>;

function givenWords(t: Texts, e: Exercise, q: Question, given: string | undefined): string {
  if (given === undefined) return "";
  if (q.kind === "number") return withUnit(given, q.unit);
  const choice = questionWords(t, e.lesson, q).choices?.[given] ?? given;
  return filled(choice, choiceNumbers(q, e.parameters));
}

function markWords(t: Texts, given: string | undefined, mark: Marked | undefined): string {
  if (given === undefined) return t.marks.none;
  if (!mark) return t.checking;
  return mark.right ? t.marks.right : t.marks.wrong;
}
