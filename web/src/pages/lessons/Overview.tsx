import { useState } from "preact/hooks";
import { go } from "../../app/router";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/Field";
import { FileDrop } from "../../ui/FileDrop";
import { handOut } from "./file";
import type { Lesson } from "./lesson";
import { NOBODY, readNumber } from "./number";
import { placeOf } from "./place";
import { lessons } from "./set";
import { useWork } from "./state";
import { useLessonTexts, wordsOf } from "./words";
import { forgetWork, keepNumber, keepWork, readWork, type Work, written } from "./work";

/** All lessons, the student's number, and what to do with the work. */
export function Overview({ number }: { number: string }) {
  const t = useLessonTexts();
  const { work, replace } = useWork(number);
  return (
    <div class="lessons">
      <h1>{t.title}</h1>
      <p class="lessons-intro">{t.intro}</p>
      <ol class="lessons-list">
        {lessons.map((l, i) => (
          <Entry key={l.name} lesson={l} place={i + 1} number={number} work={work} />
        ))}
      </ol>
      <YourNumber key={number} number={number} />
      <Keeping number={number} work={work} onReplace={replace} />
      <p>
        <a href={placeOf("answers", NOBODY)}>{t.forTeachers}</a>
      </p>
    </div>
  );
}

function Entry(props: { lesson: Lesson; place: number; number: string; work: Work }) {
  const { lesson, place, number, work } = props;
  const t = useLessonTexts();
  const words = wordsOf(t, lesson);
  const answered = Object.keys(work[lesson.name]?.given ?? {}).length;
  return (
    <li>
      <a href={placeOf(lesson.name, number)}>
        <span class="lessons-place">{place}</span>
        <span class="lessons-title">{words.title}</span>
      </a>
      <span class="lessons-facts">
        {t.minutes(words.minutes)}
        {answered > 0 && ` · ${t.answered(answered, lesson.questions.length)}`}
      </span>
    </li>
  );
}

function YourNumber({ number }: { number: string }) {
  const t = useLessonTexts();
  const [text, setText] = useState(number === NOBODY ? "" : number);
  const read = readNumber(text);
  const enter = (next: string) => {
    setText(next);
    const found = readNumber(next);
    if (found !== undefined) keepNumber(found);
  };
  const leave = () => {
    if (read !== undefined && read !== number) go(`lessons?n=${read}`);
  };
  return (
    <form
      class="lessons-number"
      onSubmit={(e) => {
        e.preventDefault();
        leave();
      }}
      onFocusOut={leave}
    >
      <TextField
        label={t.number}
        hint={t.numberHint}
        error={read === undefined ? t.numberBad : undefined}
        mode="numeric"
        value={text}
        onInput={enter}
      />
    </form>
  );
}

function Keeping(props: { number: string; work: Work; onReplace: (work: Work) => void }) {
  const { number, work, onReplace } = props;
  const t = useLessonTexts();
  const [said, setSaid] = useState("");
  const [sure, setSure] = useState(false);
  const open = async ([file]: File[]) => {
    const found = file && file.size < 1e6 ? readWork(await file.text()) : undefined;
    if (!found) return setSaid(t.notLoaded);
    setSaid(t.loaded(found.number));
    if (found.number === number) return onReplace(found.work);
    keepWork(found.number, found.work);
    keepNumber(found.number);
    go(`lessons?n=${found.number}`);
  };
  const erase = () => {
    onReplace({});
    forgetWork(number);
    setSure(false);
    setSaid(t.erased(number));
  };
  return (
    <section class="lessons-keep" aria-label={t.sheet}>
      <a class="button button-main" href={placeOf("sheet", number)}>
        {t.sheet}
      </a>
      <Button
        onClick={() =>
          handOut(`spillgate-lessons-${number}.json`, written(number, work), "application/json")
        }
      >
        {t.save}
      </Button>
      <FileDrop accept=".json" onFiles={open} class="button lessons-open">
        {t.load}
      </FileDrop>
      <Button kind="quiet" onClick={() => setSure(true)}>
        {t.erase}
      </Button>
      <p role="status">{said}</p>
      <Dialog
        title={t.erase}
        open={sure}
        onClose={() => setSure(false)}
        actions={<Button onClick={erase}>{t.erase}</Button>}
      >
        <p>{t.sureErase(number)}</p>
      </Dialog>
    </section>
  );
}
