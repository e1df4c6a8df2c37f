import { Button } from "../../ui/Button";
import { Select } from "../../ui/Field";
import { Slider } from "../../ui/Slider";
import { allows, type Control, type Lesson, type Numbers, startOf } from "./lesson";
import { decimal, type LessonWords, quantity, useLessonTexts, wordsOf } from "./words";

interface Props {
  lesson: Lesson;
  parameters: Numbers<string>;
  values: Numbers<string>;
  onChange: (values: Record<string, number>) => void;
}

/** The sliders of a lesson. */
export function Controls({ lesson, parameters, values, onChange }: Props) {
  const t = useLessonTexts();
  const words = wordsOf(t, lesson);
  const start = startOf(lesson, parameters);
  const moved = Object.keys(start).some((k) => values[k] !== start[k]);
  return (
    <section class="lesson-controls" aria-label={t.settings}>
      {Object.entries(lesson.controls).map(([name, control]) => (
        <OneControl
          key={name}
          label={words.controls[name] ?? name}
          control={control}
          words={words}
          value={values[name] ?? 0}
          onChange={(x) => onChange({ ...values, [name]: x })}
        />
      ))}
      <Button kind="quiet" disabled={!moved} onClick={() => onChange(start)}>
        {t.reset}
      </Button>
    </section>
  );
}

function OneControl(props: {
  label: string;
  control: Control<string>;
  words: LessonWords;
  value: number;
  onChange: (x: number) => void;
}) {
  const { label, control, words, value, onChange } = props;
  if (control.kind === "options") {
    const written = (o: string) => words.options[o] ?? decimal(Number(o));
    return (
      <Select
        label={label}
        value={String(value)}
        choices={control.options.map((o, i) => ({ value: String(i), label: written(o) }))}
        onChange={(chosen) => onChange(Number(chosen))}
      />
    );
  }
  const { min, max, unit } = control;
  const parse = (text: string) => {
    const x = Number.parseInt(text, 10);
    return allows(control, x) ? x : undefined;
  };
  return (
    <Slider
      label={label}
      value={value}
      range={{ min, max, along: "linear", whole: true }}
      text={(x) => quantity(x, unit)}
      parse={parse}
      onInput={onChange}
    />
  );
}
