import { useMemo } from "preact/hooks";
import type { PointBounds, Recording } from "../../engine/api";
import { useTexts } from "../../texts";
import { ceiling, value } from "../../ui/format";
import { busiestKeys, type Key, type Outcome, outcomes } from "./curves";
import { queueBounds } from "./views";

interface Props {
  recordings: readonly Recording[];
  names: readonly string[];
  color: Key;
  /** What cannot be exceeded at the port, of each side. */
  bounds: readonly (PointBounds | null)[];
}

/** What became of each class (or flow) on each side, in a table. */
export function Outcomes({ recordings, names, color, bounds }: Props) {
  const t = useTexts().watch.outcome;
  const sides = useMemo(
    () => recordings.map((recording) => outcomes(recording, color, busiestKeys(recording, color))),
    [recordings, color],
  );
  const bounded = color === "class" && bounds.some((each) => each !== null);
  const heads = [t.rate, t.mean, t.p99, ...(bounded ? [t.bound] : []), t.loss, t.marked];
  // 0: nothing is proved.
  const boundOf = (side: number, name: string) =>
    queueBounds(bounds[side] ?? null, recordings[side]?.link ?? "")
      .filter(({ classes }) => classes.includes(name))
      .reduce((most, { delay }) => Math.max(most, delay), 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keys, too.
    <section class="watch-outcomes" aria-label={t.title} tabIndex={0}>
      <table class="watch-table">
        <caption>{t.title}</caption>
        <thead>
          <tr>
            {recordings.length > 1 && <th scope="col">{t.queue}</th>}
            <th scope="col">{color === "class" ? t.class : t.flow}</th>
            {heads.map((head) => (
              <th key={head} scope="col" class="number">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sides.map((rows, side) =>
            rows.map((row, at) => (
              <tr key={`${names[side]} ${row.key}`} class={at === 0 ? "watch-first" : undefined}>
                {recordings.length > 1 && (
                  <th scope="row" class="watch-queue">
                    {at === 0 ? names[side] : ""}
                  </th>
                )}
                <Cells row={row} {...(bounded ? { bound: boundOf(side, row.name) } : {})} />
              </tr>
            )),
          )}
        </tbody>
      </table>
    </section>
  );
}

function Cells({ row, bound }: { row: Outcome; bound?: number }) {
  return (
    <>
      <th scope="row" title={row.name}>
        <span class="watch-key" style={{ background: `var(--class-${row.key % 8})` }} />
        {row.name}
      </th>
      <td class="number">{value(row.rate, "b/s")}</td>
      <td class="number">{value(row.meanDelay, "s")}</td>
      <td class="number">{value(row.p99, "s")}</td>
      {bound !== undefined && <td class="number">{ceiling(bound || Number.NaN, "s")}</td>}
      <td class="number">{value(row.dropped / Math.max(1, row.arrived), "1")}</td>
      <td class="number">{value(row.marked / Math.max(1, row.arrived), "1")}</td>
    </>
  );
}
