import "./ui.css";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Button } from "./Button";
import { useWords } from "./words";

interface Props {
  title: string;
  open: boolean;
  onClose: () => void;
  children: ComponentChildren;
  /** Buttons at its end. */
  actions?: ComponentChildren;
}

/** A window above the page; Escape closes it, and the focus goes back to where it was. */
export function Dialog({ title, open, onClose, children, actions }: Props) {
  const words = useWords();
  const id = useId();
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    if (open && dialog && !dialog.open) dialog.showModal();
    if (!open && dialog?.open) dialog.close();
  }, [open]);
  return (
    <dialog ref={element} class="dialog" aria-labelledby={id} onClose={onClose}>
      {open && (
        <>
          <header class="dialog-head">
            <h2 id={id}>{title}</h2>
            <Button kind="quiet" label={words.close} onClick={onClose}>
              ✕
            </Button>
          </header>
          <div class="dialog-body">{children}</div>
          {actions && <footer class="dialog-foot">{actions}</footer>}
        </>
      )}
    </dialog>
  );
}
