import "./ui.css";
import { useId, useMemo, useState } from "preact/hooks";
import { plain } from "./format";
import { nearest, type Range, stops } from "./stops";

interface Props {
  label: string;
  value: number;
  range: Range;
  /** Fires while the slider moves, and when a number is typed. */
  onInput: (value: number) => void;
  /** A value as text with its unit; a plain number if not given. */
  text?: (value: number) => string;
  /** The value that a typed text means; none if it means none. */
  parse?: (text: string) => number | undefined;
  /** What the number is, for those who do not know it. */
  hint?: string;
  disabled?: boolean;
}

/** A plain number. */
function read(text: string): number | undefined {
  const x = Number(text.trim().replace(",", "."));
  return text.trim() !== "" && Number.isFinite(x) ? x : undefined;
}

/** A number by a slider and by a field to type in, which are of the same value. */
export function Slider(props: Props) {
  const { label, value, range, onInput, text = plain, parse = read, hint, disabled } = props;
  const id = useId();
  const { min, max, along, whole = false } = range;
  const list = useMemo(() => stops({ min, max, along, whole }), [min, max, along, whole]);
  // What is being typed, until it means something or the field is left.
  const [typed, setTyped] = useState<string>();
  const unread = typed !== undefined && parse(typed) === undefined;

  const type = (entered: string) => {
    setTyped(entered);
    const x = parse(entered);
    if (x !== undefined && x !== value) onInput(x);
  };
  const slide = (place: number) => {
    const x = list[place];
    setTyped(undefined);
    if (x !== undefined && x !== value) onInput(x);
  };
  return (
    <div class="slider">
      <label for={id} class="slider-label" title={hint}>
        {label}
      </label>
      <input
        class="slider-text input"
        type="text"
        aria-label={label}
        aria-invalid={unread || undefined}
        autocomplete="off"
        spellcheck={false}
        disabled={disabled}
        value={typed ?? text(value)}
        onInput={(e) => type(e.currentTarget.value)}
        onFocus={(e) => e.currentTarget.select()}
        onBlur={() => setTyped(undefined)}
      />
      <input
        id={id}
        class="slider-range"
        type="range"
        min={0}
        max={list.length - 1}
        step={1}
        disabled={disabled}
        value={nearest(list, value, along)}
        aria-valuetext={text(value)}
        onInput={(e) => slide(e.currentTarget.valueAsNumber)}
      />
    </div>
  );
}
