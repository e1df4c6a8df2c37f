import { useMemo, useRef } from "preact/hooks";
import type { Curve, Outcome } from "../../engine/api";
import { useChartGroup } from "../../ui/charts";
import { fitting, number } from "../../ui/format";
import { type Line, TimeChart } from "../../ui/TimeChart";
import { localized, unitWord } from "../../ui/words";
import type { Lesson, Measure, Numbers } from "./lesson";
import { measureRow, row } from "./outcome";
import type { Run } from "./state";
import { type Point, TheoryChart } from "./TheoryChart";
import { decimal, type LessonWords, useLessonTexts, wordsOf } from "./words";

interface Props {
  lesson: Lesson;
  parameters: Numbers<string>;
  run: Run;
}

/** A run, and where the sliders stood. */
interface Shown {
  lesson: Lesson;
  parameters: Numbers<string>;
  outcome: Outcome;
  controls: Numbers<string>;
}

/** What the run shows: curves, and a table with the formula beside it. */
export function Bench({ lesson, parameters, run }: Props) {
  const t = useLessonTexts();
  const { made, running, problem } = run;
  const shown = made && { lesson, parameters, ...made };
  return (
    <section class="lesson-bench" aria-label={t.measured} aria-busy={running}>
      {problem !== undefined && <p class="lesson-problem">{t.failed(problem)}</p>}
      {shown && (
        <>
          <Measured {...shown} />
          <Sweep {...shown} />
          <Charts {...shown} />
        </>
      )}
      {!shown && problem === undefined && <p class="lesson-waiting">{t.running}</p>}
    </section>
  );
}

/** The curves of the first run that one chart shows. */
interface Group {
  title: string;
  unit: string;
  lines: Line[];
}

function Charts({ lesson, parameters, outcome }: Shown) {
  const t = useLessonTexts();
  const together = useChartGroup();
  const groups = useMemo(() => groupsOf(lesson, outcome, t), [lesson, outcome, t]);
  const levels = useMemo(() => {
    const named = Object.entries(lesson.levels?.(parameters) ?? {});
    return named.map(([name, value]) => ({ name: t.names[name] ?? name, value }));
  }, [lesson, parameters, t]);
  const range = useMemo((): [number, number] | undefined => {
    const from = lesson.warmup(parameters);
    return lesson.shown === undefined ? undefined : [from, from + lesson.shown];
  }, [lesson, parameters]);
  return (
    <>
      {groups.map((g) => (
        <TimeChart
          key={g.title}
          title={g.title}
          unit={g.unit}
          lines={g.lines}
          levels={levels}
          {...(range ? { range } : {})}
          group={together}
          height={groups.length > 2 ? 110 : groups.length > 1 ? 140 : 190}
        />
      ))}
    </>
  );
}

/** One chart a unit; one a variant, too, where several places are compared. */
function groupsOf(lesson: Lesson, outcome: Outcome, t: ReturnType<typeof useLessonTexts>): Group[] {
  const places = new Set(lesson.drawn.map((d) => d.place)).size;
  const apart = places > 1 && outcome.description.variants.length > 1 && oneMetric(lesson);
  const found = new Map<string, Curve[]>();
  for (const { place, metric, packet } of lesson.drawn) {
    for (const curve of outcome.series) {
      if (curve.run !== 0 || curve.place !== place || curve.metric !== metric) continue;
      const shown = packet === undefined ? curve : inPackets(curve, packet);
      const key = JSON.stringify([shown.unit, apart ? shown.variant : ""]);
      found.set(key, [...(found.get(key) ?? []), shown]);
    }
  }
  return [...found.values()].map((curves) => groupOf(curves, wordsOf(t, lesson), apart, t.chart));
}

function inPackets(curve: Curve, bytes: number): Curve {
  return { ...curve, unit: "packets", values: curve.values.map((x) => x / bytes) };
}

function oneMetric(lesson: Lesson): boolean {
  return new Set(lesson.drawn.map((d) => d.metric)).size === 1;
}

/** A curve is named by what tells it from the others: its metric, its place or its variant. */
function groupOf(curves: Curve[], words: LessonWords, apart: boolean, otherwise: string): Group {
  const several = (of: (c: Curve) => string) => new Set(curves.map(of)).size > 1;
  const label = (c: Curve) => words.curves[c.metric] ?? c.metric;
  const metrics = several((c) => c.metric);
  const places = several((c) => c.place);
  const name = (c: Curve) => {
    if (metrics) return label(c);
    if (places) return placeName(c.place);
    return several((x) => x.variant) ? c.variant : label(c);
  };
  const [first] = curves as [Curve, ...Curve[]];
  const about = metrics ? otherwise : label(first);
  return {
    title: apart ? `${about}, ${first.variant}` : about,
    unit: first.unit,
    lines: curves.map((c) => ({ ...c, name: name(c) })),
  };
}

/** `class video`, `flow download` and `line/fifo` without what kind of thing it is. */
function placeName(place: string): string {
  return place.replace(/^(class|flow|link) /, "");
}

function Measured({ lesson, parameters, controls, outcome }: Shown) {
  const t = useLessonTexts();
  const { variants, runs } = outcome.description;
  const theory = lesson.measures.some((m) => m.theory);
  return (
    <div class="lesson-measured">
      <table>
        <caption>
          {t.measured}
          <span>{t.measuredIn(decimal(outcome.seconds, 2))}</span>
        </caption>
        <thead>
          <tr>
            <th scope="col">{t.quantity}</th>
            {variants.map((v) => (
              <th key={v} scope="col" class="numeric">
                {variants.length > 1 ? v : t.measured}
              </th>
            ))}
            {theory && (
              <th scope="col" class="numeric">
                {t.theory}
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {lesson.measures.map((m) => (
            <MeasuredRow
              key={m.name}
              label={wordsOf(t, lesson).measures[m.name] ?? m.name}
              measure={m}
              outcome={outcome}
              theory={theory ? m.theory?.(parameters, controls) : undefined}
              column={theory}
            />
          ))}
        </tbody>
      </table>
      {runs > 1 && <p class="lesson-note">{t.interval}</p>}
    </div>
  );
}

function MeasuredRow(props: {
  label: string;
  measure: Measure<string, string>;
  outcome: Outcome;
  theory: number | undefined;
  /** Whether there is a column for the formula. */
  column: boolean;
}) {
  const { label, measure, outcome, theory, column } = props;
  const { variants } = outcome.description;
  const rows = variants.map((v) => measureRow(outcome, v, measure));
  const unit = rows.find((r) => r)?.unit ?? "";
  const scale = fitting(unit, [...rows.map((r) => r?.mean), theory]);
  const half = (r: (typeof rows)[number]) =>
    r && r.low !== null && r.high !== null ? (r.high - r.low) / 2 : undefined;
  const shown = (mean: number | null | undefined, width?: number) =>
    localized(number(mean, width, scale.factor, true));
  return (
    <tr>
      <th scope="row">
        {label}
        {scale.unit && scale.unit !== "packets" && (
          <span class="lesson-unit"> {unitWord(scale.unit)}</span>
        )}
      </th>
      {rows.map((r, i) => (
        <td key={variants[i]} class="numeric">
          {shown(r?.mean, half(r))}
        </td>
      ))}
      {column && <td class="numeric">{theory === undefined ? "" : shown(theory)}</td>}
    </tr>
  );
}

/** The formula along a slider, with what was measured where it stood. */
function Sweep({ lesson, parameters, controls, outcome }: Shown) {
  const t = useLessonTexts();
  const words = wordsOf(t, lesson);
  const { control = "", measure = "" } = lesson.sweep ?? {};
  const m = lesson.measures.find((each) => each.name === measure);
  const points = usePoints(control, controls, outcome, m);
  const slider = lesson.controls[control];
  if (slider?.kind !== "range" || !m?.theory) return null;
  return (
    <TheoryChart
      title={words.measures[measure] ?? measure}
      unit={row(outcome, undefined, m.scope, m.of, m.metric)?.unit ?? ""}
      along={words.controls[control] ?? control}
      alongUnit={slider.unit}
      from={slider.min}
      to={slider.max}
      theory={(at) => m.theory?.(parameters, { ...controls, [control]: at })}
      points={points}
      now={controls[control] ?? 0}
    />
  );
}

/** What was measured at each place of a slider, as long as the other sliders stand still. */
function usePoints(
  control: string,
  controls: Numbers<string>,
  outcome: Outcome,
  m: Measure<string, string> | undefined,
): Point[] {
  const others = JSON.stringify({ ...controls, [control]: 0 });
  const kept = useRef({ others, points: new Map<number, Point>() });
  if (kept.current.others !== others) kept.current = { others, points: new Map() };
  const { points } = kept.current;
  const found = m && row(outcome, undefined, m.scope, m.of, m.metric);
  const at = controls[control];
  if (at !== undefined && typeof found?.mean === "number") {
    const { mean, low, high } = found;
    points.set(at, { at, mean, low: low ?? mean, high: high ?? mean });
  }
  return [...points.values()];
}
