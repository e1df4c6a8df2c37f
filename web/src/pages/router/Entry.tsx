import { useState } from "preact/hooks";

interface Props<T> {
  /** The name for screen readers; the head of the column is what others see. */
  label: string;
  value: T;
  text: (value: T) => string;
  /** What a text means; none if it means none. */
  read: (text: string) => T | undefined;
  onChange: (value: T) => void;
  /** What is valid, where what was typed is not. */
  valid: string;
  disabled?: boolean;
}

/** A value to type: it is taken as soon as it means something, and shown in full when left. */
export function Entry<T>(props: Props<T>) {
  const { label, value, text, read, onChange, valid, disabled } = props;
  const [typed, setTyped] = useState<string>();
  const wrong = typed !== undefined && read(typed) === undefined;
  return (
    <input
      class="input entry"
      type="text"
      autocomplete="off"
      spellcheck={false}
      aria-label={wrong ? `${label}: ${valid}` : label}
      title={wrong ? valid : undefined}
      aria-invalid={wrong || undefined}
      disabled={disabled}
      value={typed ?? text(value)}
      onInput={(e) => {
        setTyped(e.currentTarget.value);
        const means = read(e.currentTarget.value);
        if (means !== undefined) onChange(means);
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}
