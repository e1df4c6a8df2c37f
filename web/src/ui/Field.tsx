import "./ui.css";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Shell {
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
  /** Whether the label is only for screen readers. */
  quiet?: boolean | undefined;
}

/** The names by which a control is tied to its label and hint. */
export interface Ties {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": boolean | undefined;
}

/** A control with its label above it, and a hint or an error below. */
export function Field(props: Shell & { children: (ties: Ties) => ComponentChildren }) {
  const id = useId();
  const { label, hint, error, quiet, children } = props;
  const below = error ?? hint;
  const ties = {
    id,
    "aria-describedby": below ? `${id}-below` : undefined,
    "aria-invalid": error ? true : undefined,
  };
  return (
    <div class="field">
      <label for={id} class={quiet ? "unseen" : "field-label"}>
        {label}
      </label>
      {children(ties)}
      {below && (
        <div id={`${id}-below`} class={error ? "field-error" : "field-hint"}>
          {error ? `✗ ${error}` : below}
        </div>
      )}
    </div>
  );
}

interface TextProps extends Shell {
  value: string;
  onInput: (text: string) => void;
  placeholder?: string;
  disabled?: boolean;
  /** Which keyboard a phone shows. */
  mode?: "text" | "numeric" | "decimal";
}

/** A line of text. */
export function TextField({ value, onInput, placeholder, disabled, mode, ...shell }: TextProps) {
  return (
    <Field {...shell}>
      {(ties) => (
        <input
          {...ties}
          class="input"
          type="text"
          inputMode={mode ?? "text"}
          autocomplete="off"
          spellcheck={false}
          value={value}
          placeholder={placeholder}
          disabled={disabled}
          onInput={(e) => onInput(e.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export interface Choice {
  value: string;
  label: string;
  /** Choices of the same group stand together. */
  group?: string;
}

interface SelectProps extends Shell {
  value: string;
  choices: readonly Choice[];
  onChange: (value: string) => void;
  disabled?: boolean;
}

/** One of several choices. */
export function Select({ value, choices, onChange, disabled, ...shell }: SelectProps) {
  const groups = new Map<string, Choice[]>();
  for (const c of choices) {
    const group = groups.get(c.group ?? "");
    if (group) group.push(c);
    else groups.set(c.group ?? "", [c]);
  }
  const options = (list: Choice[]) =>
    list.map((c) => (
      <option key={c.value} value={c.value}>
        {c.label}
      </option>
    ));
  return (
    <Field {...shell}>
      {(ties) => (
        <select
          {...ties}
          class="input select"
          value={value}
          disabled={disabled}
          onChange={(e) => onChange(e.currentTarget.value)}
        >
          {[...groups].map(([name, list]) =>
            name === "" ? (
              options(list)
            ) : (
              <optgroup key={name} label={name}>
                {options(list)}
              </optgroup>
            ),
          )}
        </select>
      )}
    </Field>
  );
}

interface CheckProps {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
}

/** Something that is on or off. */
export function Check({ label, checked, onChange, disabled }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(e) => onChange(e.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}
