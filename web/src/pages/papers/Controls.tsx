import { Button } from "../../ui/Button";
import { Select } from "../../ui/Field";
import { plain } from "../../ui/format";
import { Slider } from "../../ui/Slider";
import { inWords, localized } from "../../ui/words";
import {
  allowed,
  type ChoiceControl,
  type Figure,
  isStart,
  type Settings,
  type SliderControl,
  startOf,
} from "./figure";
import type { FigureWords, PapersWords } from "./words";

interface Props {
  figure: Figure;
  settings: Settings;
  words: FigureWords;
  t: PapersWords;
  onChange: (settings: Settings) => void;
}

/** The controls of a figure, and back to the start. */
export function Controls({ figure, settings, words, t, onChange }: Props) {
  const start = startOf(figure);
  const set = (key: string, value: number | string) => onChange({ ...settings, [key]: value });
  return (
    <>
      {figure.controls.map((c) =>
        c.kind === "slider" ? (
          <OfNumber key={c.key} control={c} settings={settings} words={words} set={set} />
        ) : (
          <OfChoice key={c.key} control={c} settings={settings} words={words} set={set} />
        ),
      )}
      <Button disabled={isStart(figure, settings)} onClick={() => onChange(start)}>
        {t.reset}
      </Button>
      <fieldset class="figure-tries">
        <legend>{t.tries}</legend>
        {Object.entries(figure.tries).map(([key, tried]) => (
          <Button
            key={key}
            kind="quiet"
            pressed={Object.entries({ ...start, ...tried }).every(([k, v]) => settings[k] === v)}
            onClick={() => onChange({ ...start, ...tried })}
          >
            {words.tries[key] ?? key}
          </Button>
        ))}
      </fieldset>
    </>
  );
}

interface One<C> {
  control: C;
  settings: Settings;
  words: FigureWords;
  set: (key: string, value: number | string) => void;
}

function OfNumber({ control, settings, words, set }: One<SliderControl>) {
  const { key, range } = control;
  const unit = inWords(control.unit);
  const text = (x: number) => `${localized(plain(x))} ${unit}`.trimEnd();
  const parse = (typed: string) => {
    const digits = typed.replace(unit, "").trim().replace(",", ".");
    const x = Number(digits);
    return digits !== "" && Number.isFinite(x) ? allowed(control, x) : undefined;
  };
  return (
    <Slider
      label={words.controls[key] ?? key}
      value={Number(settings[key])}
      range={range}
      text={text}
      parse={parse}
      onInput={(x) => set(key, x)}
    />
  );
}

function OfChoice({ control, settings, words, set }: One<ChoiceControl>) {
  const { key, options } = control;
  return (
    <Select
      label={words.controls[key] ?? key}
      value={String(settings[key])}
      choices={options.map((o) => ({ value: o, label: words.options[o] ?? o }))}
      onChange={(chosen) => set(key, chosen)}
    />
  );
}
