import "./ui.css";
import type { ComponentChildren, JSX } from "preact";
import { useId, useRef } from "preact/hooks";

export interface Tab {
  id: string;
  label: ComponentChildren;
  /** What a tooltip says. */
  title?: string;
}

interface Props {
  /** What the tabs are, for screen readers. */
  label: string;
  tabs: readonly Tab[];
  active: string;
  onSelect: (id: string) => void;
  /** The panel of the active tab. */
  children: ComponentChildren;
  class?: string;
}

/** Where a key leads from a tab, in a list that is a ring. */
function target(key: string, at: number, size: number): number | undefined {
  switch (key) {
    case "ArrowRight":
      return (at + 1) % size;
    case "ArrowLeft":
      return (at + size - 1) % size;
    case "Home":
      return 0;
    case "End":
      return size - 1;
    default:
      return undefined;
  }
}

/** Tabs by the pattern of WAI-ARIA: one is in the order of focus, arrows go to the others. */
export function Tabs({ label, tabs, active, onSelect, children, ...rest }: Props) {
  const base = useId();
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: JSX.TargetedKeyboardEvent<HTMLDivElement>) => {
    const at = tabs.findIndex((t) => t.id === active);
    const to = target(event.key, at, tabs.length);
    const tab = to === undefined ? undefined : tabs[to];
    if (!tab || to === undefined) return;
    event.preventDefault();
    onSelect(tab.id);
    const buttons = list.current?.querySelectorAll<HTMLButtonElement>("[role=tab]");
    buttons?.[to]?.focus();
  };
  return (
    <div class={`tabs ${rest.class ?? ""}`}>
      <div role="tablist" aria-label={label} class="tabs-list" ref={list} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${base}-${tab.id}`}
            class="tab"
            title={tab.title}
            aria-selected={tab.id === active}
            aria-controls={`${base}-panel`}
            tabIndex={tab.id === active ? 0 : -1}
            onClick={() => onSelect(tab.id)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`${base}-panel`}
        class="tabs-panel"
        aria-labelledby={`${base}-${active}`}
      >
        {children}
      </div>
    </div>
  );
}
