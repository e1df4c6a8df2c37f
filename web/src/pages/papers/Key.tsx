import { paint } from "../../ui/colors";
import { type Drawn, shape } from "./draw";
import type { Mark } from "./figure";

/** What the signs of a chart mean. */
export function Key(props: {
  lines: readonly Drawn[];
  marks: readonly Mark[];
  words: { before: string; stated: string; marksOf: Readonly<Record<string, string>> };
}) {
  const { lines, marks, words } = props;
  const before = lines.some((l) => l.before.length > 0);
  const named = marks.flatMap((m) => (m.kind === "line" ? [m.name] : []));
  return (
    <ul class="legend">
      {lines.map((l) => (
        <li key={l.name} class="legend-entry">
          <Sign>
            <path class="figure-line" d="M0 6H26" stroke={paint(l.index).color} />
            <path d={shape(l.index, 13, 6, 4)} fill={paint(l.index).color} />
          </Sign>
          {l.label}
        </li>
      ))}
      {before && (
        <li class="legend-entry">
          <Sign>
            <path class="figure-before" d="M0 6H26" />
          </Sign>
          {words.before}
        </li>
      )}
      {marks.some((m) => m.kind === "point") && (
        <li class="legend-entry">
          <Sign>
            <path class="figure-stated" d={shape(3, 13, 6, 4)} stroke="var(--ink)" />
          </Sign>
          {words.stated}
        </li>
      )}
      {named.map((name) => (
        <li key={name} class="legend-entry">
          <Sign>
            <path class="figure-claim" d="M0 6H26" />
          </Sign>
          {words.marksOf[name] ?? name}
        </li>
      ))}
    </ul>
  );
}

function Sign(props: { children: preact.ComponentChildren }) {
  return (
    <svg class="swatch" width="26" height="12" aria-hidden="true" focusable="false">
      {props.children}
    </svg>
  );
}
