import "./ui.css";
import type { Paint } from "./colors";

export interface LegendItem {
  name: string;
  paint: Paint;
  /** What it is at the moment, as text. */
  value?: string | undefined;
  hidden?: boolean | undefined;
}

interface Props {
  label: string;
  items: readonly LegendItem[];
  /** If given, a click hides and shows a curve. */
  onToggle?: (name: string) => void;
}

/** A short line in the color and the dashes of a curve. */
export function Swatch({ paint }: { paint: Paint }) {
  return (
    <svg class="swatch" width="24" height="10" aria-hidden="true" focusable="false">
      <line
        x1="0"
        x2="24"
        y1="5"
        y2="5"
        stroke={paint.color}
        stroke-width="2.5"
        stroke-dasharray={paint.dash.join(" ")}
      />
    </svg>
  );
}

function Entry({ item }: { item: LegendItem }) {
  return (
    <>
      <Swatch paint={item.paint} />
      <span class="legend-name" title={item.name}>
        {item.name}
      </span>
      {item.value !== undefined && <span class="legend-value">{item.value}</span>}
    </>
  );
}

/** What the curves of a chart are. */
export function Legend({ label, items, onToggle }: Props) {
  return (
    <ul class="legend" aria-label={label}>
      {items.map((item) => (
        <li key={item.name} class={item.hidden ? "legend-hidden" : undefined}>
          {onToggle ? (
            <button
              type="button"
              class="legend-entry"
              aria-pressed={!item.hidden}
              onClick={() => onToggle(item.name)}
            >
              <Entry item={item} />
            </button>
          ) : (
            <span class="legend-entry">
              <Entry item={item} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
