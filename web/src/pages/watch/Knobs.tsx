import { useState } from "preact/hooks";
import { useTexts } from "../../texts";
import { Button } from "../../ui/Button";
import { TextField } from "../../ui/Field";
import { parse, text } from "../../ui/numbers";
import { Slider } from "../../ui/Slider";
import type { Knob } from "./knobs";

interface Props {
  knobs: readonly Knob[];
  /** What has been moved, by path. */
  values: ReadonlyMap<string, number>;
  onChange: (values: ReadonlyMap<string, number>) => void;
}

/** Sliders for numbers of the scenario. */
export function Knobs({ knobs, values, onChange }: Props) {
  const t = useTexts().watch;
  return (
    <fieldset class="watch-knobs">
      <legend class="unseen">{t.sliders}</legend>
      {knobs.map((knob) => (
        <Slider
          key={knob.path}
          label={knob.label}
          value={values.get(knob.path) ?? knob.value}
          range={knob.range}
          text={(number) => text(knob, number)}
          parse={(typed) => parse(knob, typed)}
          hint={knob.hint}
          onInput={(number) => onChange(new Map(values).set(knob.path, number))}
        />
      ))}
    </fieldset>
  );
}

/** Sliders that are shown of a long list. */
const SHOWN = 24;

/** Every number of the scenario, with a field to search in them. */
export function MoreNumbers({ knobs, values, onChange }: Props) {
  const t = useTexts().watch;
  const [open, setOpen] = useState(false);
  const [wanted, setWanted] = useState("");
  const words = wanted.toLowerCase().split(/\s+/);
  const found = knobs.filter(({ label, path, hint }) => {
    const all = `${label} ${path} ${hint}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
  return (
    <div class="watch-more">
      <Button kind="quiet" pressed={open} onClick={() => setOpen(!open)}>
        {t.moreNumbers} ({knobs.length})
      </Button>
      {open && (
        <>
          <TextField label={t.search} value={wanted} onInput={setWanted} />
          <Knobs knobs={found.slice(0, SHOWN)} values={values} onChange={onChange} />
          {found.length > SHOWN && <p class="watch-note">{t.others(found.length - SHOWN)}</p>}
        </>
      )}
    </div>
  );
}
