import { go } from "../../app/router";
import { pack } from "../../share/fragment";
import { ShareButtons } from "../../share/ShareButtons";
import { Button } from "../../ui/Button";
import { Ask } from "./Ask";
import { Bench } from "./Bench";
import { Controls } from "./Controls";
import type { Exercise } from "./exercise";
import { type Lesson, startOf } from "./lesson";
import { Picture } from "./Picture";
import { placeOf } from "./place";
import { Rich } from "./Rich";
import { lessons } from "./set";
import { type Run, useExercise, useRun, useWork } from "./state";
import { filled, parameterWords, useLessonTexts, wordsOf } from "./words";
import { emptyWork } from "./work";

/** One lesson: what to read and to answer, and beside it what to move and to watch. */
export function LessonPage({ lesson, number }: { lesson: Lesson; number: string }) {
  const t = useLessonTexts();
  const words = wordsOf(t, lesson);
  const exercise = useExercise(lesson, number);
  const { work, kept, change } = useWork(number);
  const mine = work[lesson.name] ?? emptyWork();
  const controls = { ...startOf(lesson, exercise.parameters), ...mine.controls };
  const run = useRun(exercise, controls);
  return (
    <article class="lesson">
      <header class="lesson-head">
        <Trail lesson={lesson} number={number} />
        <h1>{words.title}</h1>
      </header>
      <div class="lesson-read">
        {words.text.map((text) => (
          <p key={text}>
            <Rich text={text} />
          </p>
        ))}
        <Yours lesson={lesson} number={number} />
        <h2>{t.tryThis}</h2>
        <ol>
          {words.tries.map((text) => (
            <li key={text}>{filled(text)}</li>
          ))}
        </ol>
      </div>
      <div class="lesson-work">
        <Controls
          lesson={lesson}
          parameters={exercise.parameters}
          values={controls}
          onChange={(values) => change(lesson, (w) => ({ ...w, controls: values }))}
        />
        <Picture exercise={exercise} controls={controls} />
        <Bench lesson={lesson} parameters={exercise.parameters} run={run} />
        <PassOn exercise={exercise} run={run} />
      </div>
      <section class="lesson-ask">
        <h2>{t.questions}</h2>
        {!kept && <p class="lesson-problem">{t.notKept}</p>}
        {lesson.questions.map((q, i) => (
          <Ask
            key={q.name}
            exercise={exercise}
            question={q}
            place={i + 1}
            given={mine.given[q.name]}
            tries={mine.tries[q.name] ?? 0}
            onAnswer={(given) =>
              change(lesson, (w) => ({
                ...w,
                given: { ...w.given, [q.name]: given },
                tries: { ...w.tries, [q.name]: (w.tries[q.name] ?? 0) + 1 },
              }))
            }
          />
        ))}
        <After lesson={lesson} number={number} />
      </section>
    </article>
  );
}

/** The run that is shown, as a link, a file or a command, and in the scenario page. */
function PassOn({ exercise, run }: { exercise: Exercise; run: Run }) {
  const t = useLessonTexts();
  if (!run.made) return null;
  const { controls, outcome } = run.made;
  const options = { set: exercise.settingsAt(controls) };
  const { project } = exercise;
  const open = async () => {
    const packed = await pack({ kind: "scenario", project, platform: "ios", options });
    if (packed !== null) go(`scenario?s=${packed}`);
  };
  return (
    <section class="lesson-pass" aria-label={t.passOn}>
      <ShareButtons project={project} options={options} digest={outcome.runs[0]?.digest} />
      <Button onClick={open}>{t.openScenario}</Button>
    </section>
  );
}

/** Where the lesson stands among the others. */
function Trail({ lesson, number }: { lesson: Lesson; number: string }) {
  const t = useLessonTexts();
  const place = lessons.findIndex((l) => l.name === lesson.name) + 1;
  return (
    <p class="lesson-trail">
      <a href={placeOf("", number)}>{t.all}</a>
      <span>
        {t.lesson(place)} · {t.minutes(wordsOf(t, lesson).minutes)}
      </span>
    </p>
  );
}

/** The student's parameters. */
function Yours({ lesson, number }: { lesson: Lesson; number: string }) {
  const t = useLessonTexts();
  const exercise = useExercise(lesson, number);
  const numbers = parameterWords(lesson, exercise.parameters);
  return (
    <section class="lesson-yours" aria-label={t.yours}>
      <h2>
        {t.yours} <span>{number === "0" ? t.nobody : t.numberIs(number)}</span>
      </h2>
      <dl>
        {Object.entries(numbers).map(([name, text]) => (
          <div key={name}>
            <dt>{t.names[name]}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Where to go on. */
function After({ lesson, number }: { lesson: Lesson; number: string }) {
  const t = useLessonTexts();
  const next = lessons[lessons.findIndex((l) => l.name === lesson.name) + 1];
  return (
    <p class="lesson-after">
      {next && (
        <a href={placeOf(next.name, number)}>
          {t.next}: {wordsOf(t, next).title}
        </a>
      )}
      <a href={placeOf("sheet", number)}>{t.sheet}</a>
      <a href={placeOf("", number)}>{t.all}</a>
    </p>
  );
}
