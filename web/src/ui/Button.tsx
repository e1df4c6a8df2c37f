import "./ui.css";
import type { ComponentChildren, JSX } from "preact";

interface Props {
  children: ComponentChildren;
  onClick: (event: JSX.TargetedMouseEvent<HTMLButtonElement>) => void;
  /** `main`: what is most probably wanted; `plain`; `quiet`: without a frame. */
  kind?: "main" | "plain" | "quiet";
  /** What a tooltip says. */
  title?: string;
  /** The name for screen readers, where the content is a sign. */
  label?: string;
  /** Of a button that stays pressed. */
  pressed?: boolean;
  disabled?: boolean;
  class?: string;
}

export function Button(props: Props) {
  const { children, onClick, kind = "plain", title, label, pressed, disabled = false } = props;
  return (
    <button
      type="button"
      class={`button button-${kind} ${props.class ?? ""}`}
      title={title}
      aria-label={label}
      aria-pressed={pressed}
      disabled={disabled}
      onClick={onClick}
    >
      {children}
    </button>
  );
}
