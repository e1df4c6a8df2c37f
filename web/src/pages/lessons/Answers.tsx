import { useRef, useState } from "preact/hooks";
import { useEngine } from "../../engine/context";
import { Button } from "../../ui/Button";
import { type Column, DataTable } from "../../ui/DataTable";
import { Field, TextField } from "../../ui/Field";
import { readCode } from "./code";
import type { Exercise } from "./exercise";
import { answerKey, type Expected, expectedOf, MOST_NUMBERS, readNumbers } from "./expected";
import { handOut } from "./file";
import type { Lesson, Question } from "./lesson";
import { NOBODY, readNumber } from "./number";
import { placeOf } from "./place";
import { lessons } from "./set";
import { said } from "./state";
import {
  choiceNumbers,
  decimal,
  filled,
  quantity,
  questionWords,
  useLessonTexts,
  wordsOf,
} from "./words";

type Texts = ReturnType<typeof useLessonTexts>;

/** For teachers: the expected answers of a list of numbers, and what a check code says. */
export function Answers() {
  const t = useLessonTexts();
  const engine = useEngine();
  const [text, setText] = useState(`${NOBODY}\n1\n2\n3`);
  const [found, setFound] = useState<readonly Expected[]>([]);
  const [going, setGoing] = useState<{ done: number; all: number }>();
  const [problem, setProblem] = useState<string>();
  const stop = useRef(false);
  const { numbers, bad } = readNumbers(text);
  const error = wrongWith(numbers, bad, t);

  const compute = async () => {
    stop.current = false;
    setProblem(undefined);
    const made: Expected[] = [];
    try {
      for (const number of numbers) {
        setGoing({ done: made.length, all: numbers.length });
        made.push(await expectedOf(engine, number));
        setFound([...made]);
        if (stop.current) break;
      }
    } catch (e) {
      setProblem(t.failed(said(e)));
    }
    setGoing(undefined);
  };
  return (
    <article class="answers">
      <p class="lesson-trail">
        <a href={placeOf("", NOBODY)}>{t.back}</a>
      </p>
      <h1>{t.answersTitle}</h1>
      <p class="lessons-intro">{t.answersIntro}</p>
      <div class="answers-ask">
        <Field label={t.numbers} error={error}>
          {(ties) => (
            <textarea
              {...ties}
              class="input"
              rows={5}
              spellcheck={false}
              value={text}
              onInput={(e) => setText(e.currentTarget.value)}
            />
          )}
        </Field>
        <p>
          {going ? (
            <Button
              onClick={() => {
                stop.current = true;
              }}
            >
              {t.cancel}
            </Button>
          ) : (
            <Button kind="main" disabled={error !== undefined} onClick={compute}>
              {t.compute}
            </Button>
          )}
          <Button
            disabled={found.length === 0}
            onClick={() => handOut("spillgate-answers.csv", csv(found, t), "text/csv")}
          >
            {t.csv}
          </Button>
          <span role="status">{going ? t.computed(going.done, going.all) : problem}</span>
        </p>
      </div>
      <CodeField />
      {found.length > 0 && (
        <>
          <DataTable
            caption={t.fullCode}
            columns={[
              { key: "number", label: t.student, value: (r: Expected) => Number(r.number) },
              { key: "code", label: t.fullCode, value: (r: Expected) => r.code },
            ]}
            rows={found}
            rowKey={(r) => r.number}
          />
          {lessons.map((l) => (
            <OfLesson key={l.name} lesson={l} found={found} />
          ))}
        </>
      )}
    </article>
  );
}

function wrongWith(numbers: string[], bad: string[], t: Texts): string | undefined {
  if (bad.length > 0) return `${t.numberBad} (${bad[0]?.slice(0, 20)})`;
  if (numbers.length === 0) return t.noNumbers;
  return numbers.length > MOST_NUMBERS ? t.tooMany(MOST_NUMBERS) : undefined;
}

function OfLesson({ lesson, found }: { lesson: Lesson; found: readonly Expected[] }) {
  const t = useLessonTexts();
  const columns: Column<Expected>[] = [
    { key: "number", label: t.student, value: (r) => Number(r.number) },
    ...lesson.questions.map((q, i) => ({
      key: q.name,
      label: t.question(i + 1),
      title: questionWords(t, lesson, q).ask,
      value: (r: Expected) => r.answers.get(answerKey(lesson, q)),
      cell: (r: Expected) => answerWords(t, exerciseOf(r, lesson), q, r),
    })),
  ];
  return (
    <DataTable
      caption={wordsOf(t, lesson).title}
      columns={columns}
      rows={found}
      rowKey={(r) => r.number}
    />
  );
}

function exerciseOf(r: Expected, lesson: Lesson): Exercise {
  return r.exercises.find((e) => e.lesson.name === lesson.name) as Exercise;
}

/** A right answer: with a digit more than is asked for, so that rounding can be judged. */
function answerWords(t: Texts, e: Exercise, q: Question, r: Expected): string {
  const answer = r.answers.get(answerKey(e.lesson, q));
  if (typeof answer === "number") {
    return q.kind === "number" ? quantity(answer, q.unit) : decimal(answer);
  }
  const words = questionWords(t, e.lesson, q).choices?.[answer ?? ""] ?? "";
  return filled(words, choiceNumbers(q, e.parameters));
}

/** A line a number and question: parameters and answers, for a spreadsheet. */
export function csv(found: readonly Expected[], t: Texts): string {
  const cell = (x: string) => `"${x.replaceAll('"', '""')}"`;
  const head = [t.student, t.parameters, ...t.columns, t.expected];
  const lines = found.flatMap((r) =>
    r.exercises.flatMap((e) =>
      e.lesson.questions.map((q, i) => {
        const parameters = Object.entries(e.parameters).map(([k, x]) => `${k}=${x}`);
        const answer = answerWords(t, e, q, r);
        return [r.number, parameters.join(" "), e.lesson.name, String(i + 1), answer];
      }),
    ),
  );
  return [head, ...lines].map((line) => `${line.map(cell).join(",")}\r\n`).join("");
}

/** What a student's check code says. */
function CodeField() {
  const t = useLessonTexts();
  const [number, setNumber] = useState("");
  const [code, setCode] = useState("");
  const all = lessons.flatMap((l) => l.questions.map((q) => ({ l, q })));
  const read = readNumber(number);
  const right = read === undefined ? undefined : readCode(read, code, all.length);
  const wrong = lessons.flatMap((l, i) =>
    l.questions.flatMap((q, j) => {
      const at = all.findIndex((x) => x.l.name === l.name && x.q === q);
      return right && !right[at] ? [`${i + 1}.${j + 1}`] : [];
    }),
  );
  return (
    <section class="answers-code" aria-label={t.codeField}>
      <TextField
        label={t.student}
        mode="numeric"
        value={number}
        error={read === undefined ? t.numberBad : undefined}
        onInput={setNumber}
      />
      <TextField label={t.codeField} value={code} onInput={setCode} />
      <p role="status">
        {code !== "" &&
          (right
            ? `${t.codeRight(right.filter(Boolean).length, all.length)}${
                wrong.length > 0 ? ` (${t.marks.wrong} ${wrong.join(", ")})` : ""
              }`
            : t.codeBad)}
      </p>
    </section>
  );
}
