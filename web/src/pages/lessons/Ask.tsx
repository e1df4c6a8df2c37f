import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { unitWord } from "../../ui/words";
import type { Exercise } from "./exercise";
import type { Verdict } from "./judge";
import type { ChoiceQuestion, Question } from "./lesson";
import { shuffled } from "./number";
import { useVerdict } from "./state";
import {
  choiceNumbers,
  filled,
  parameterWords,
  type QuestionWords,
  questionWords,
  useLessonTexts,
} from "./words";
import { keptAnswer } from "./work";

interface Props {
  exercise: Exercise;
  question: Question;
  /** Its place in the lesson, from 1. */
  place: number;
  given: string | undefined;
  tries: number;
  onAnswer: (given: string) => void;
}

/** A question, the answer to it, and what is said to that. */
export function Ask(props: Props) {
  const { exercise, question, place, given, tries, onAnswer } = props;
  const t = useLessonTexts();
  const words = questionWords(t, exercise.lesson, question);
  const numbers = parameterWords(exercise.lesson, exercise.parameters);
  const [draft, setDraft] = useState(given ?? "");
  const { verdict, problem } = useVerdict(exercise, question, given);
  const id = useId();
  const submit = (event: JSX.TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const answer = keptAnswer(draft.trim());
    if (answer !== "") onAnswer(answer);
  };
  const settled = verdict !== undefined && draft.trim() === given;
  const right = settled && verdict.kind === "right";
  return (
    <form class="ask" onSubmit={submit} aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}>{t.question(place)}</h3>
      <p id={`${id}-ask`}>{filled(words.ask, numbers)}</p>
      {question.kind === "number" ? (
        <div class="ask-number">
          <label class="unseen" for={`${id}-answer`}>
            {t.answerIn(unitWord(question.unit))}
          </label>
          <input
            id={`${id}-answer`}
            class="input"
            type="text"
            inputMode="decimal"
            autocomplete="off"
            spellcheck={false}
            aria-describedby={`${id}-ask ${id}-how`}
            aria-invalid={settled && !right ? true : undefined}
            value={draft}
            onInput={(e) => setDraft(e.currentTarget.value)}
          />
          {question.unit !== "" && <span aria-hidden="true">{unitWord(question.unit)}</span>}
          <Submit disabled={draft.trim() === ""} />
        </div>
      ) : (
        <Choices
          exercise={exercise}
          question={question}
          words={words}
          chosen={draft}
          about={`${id}-ask`}
          onChoose={setDraft}
        />
      )}
      <p id={`${id}-how`} class="ask-how">
        {how(question, t)}
        {tries > 0 && ` ${t.tries(tries)}.`}
      </p>
      <div class="ask-said" role="status">
        {given !== undefined && draft.trim() === given && !verdict && !problem && t.checking}
        {problem !== undefined && t.failed(problem)}
        {settled && (
          <p class={right ? "ask-right" : "ask-wrong"}>
            <span aria-hidden="true">{right ? "✓ " : "✗ "}</span>
            <strong>{right ? t.right : t.wrong}</strong>{" "}
            {filled(feedback(verdict, question, words, t), numbers)}
          </p>
        )}
        {right && (
          <p class="ask-why">
            <strong>{t.why}: </strong>
            {filled(words.why, numbers)}
          </p>
        )}
      </div>
    </form>
  );
}

function Submit({ disabled }: { disabled: boolean }) {
  return (
    <button type="submit" class="button" disabled={disabled}>
      {useLessonTexts().check}
    </button>
  );
}

function Choices(props: {
  exercise: Exercise;
  question: ChoiceQuestion<string>;
  words: QuestionWords;
  chosen: string;
  /** What is asked, by its id. */
  about: string;
  onChoose: (name: string) => void;
}) {
  const { exercise, question, words, chosen, about, onChoose } = props;
  const { lesson, number, parameters } = exercise;
  const shown = choiceNumbers(question, parameters);
  const group = useId();
  const order = shuffled(number, `${lesson.name}.${question.name}`, question.choices);
  return (
    <div class="ask-choices" role="radiogroup" aria-labelledby={about}>
      {order.map((name) => (
        <label key={name} class="check">
          <input
            type="radio"
            name={group}
            value={name}
            checked={chosen === name}
            onChange={() => onChoose(name)}
          />
          <span>{filled(words.choices?.[name] ?? name, shown)}</span>
        </label>
      ))}
      <Submit disabled={chosen === ""} />
    </div>
  );
}

type Texts = ReturnType<typeof useLessonTexts>;

/** How an answer is checked. */
function how(q: Question, t: Texts): string {
  if (q.kind === "choice") return q.runs ? t.choiceByRun : t.choiceByFormula;
  if (q.digits === 0) return t.whole;
  return q.runs ? t.byRun(q.digits) : t.byFormula(q.digits);
}

/** What may be off; nothing of a right answer. */
function feedback(v: Verdict, q: Question, words: QuestionWords, t: Texts): string {
  switch (v.kind) {
    case "right":
      return "";
    case "slip":
      return words.hints[v.slip] || t.said.wrong;
    case "factor":
      return t.said[v.factor];
    case "unit":
      return t.said.unit(unitWord(q.kind === "number" ? q.unit : ""));
    default:
      return t.said[v.kind];
  }
}
