import "./watch.css";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Outline, PointBounds, Project, Recording } from "../../engine/api";
import { Crash, InputProblem, type Options } from "../../engine/api";
import { useEngine } from "../../engine/context";
import { useTexts } from "../../texts";
import { Button } from "../../ui/Button";
import { useChartGroup } from "../../ui/charts";
import { count, value } from "../../ui/format";
import { Problems, problemOfDiagnostic } from "../../ui/Problems";
import { Axis, zoom } from "./Axis";
import { type ChartName, Charts, chartNames } from "./Charts";
import { Choosers } from "./Choosers";
import { Clock } from "./clock";
import type { Key } from "./curves";
import { emptied, useForgotten } from "./forgotten";
import { Knobs, MoreNumbers } from "./Knobs";
import { knobOf, type Moved, type SliderSpec, setsOf, useNumbers } from "./knobs";
import type { Grouping } from "./lanes";
import { type Alternative, nameOf } from "./mechanisms";
import { endOf, NONE } from "./model";
import { Outcomes } from "./Outcomes";
import { PacketCard } from "./PacketCard";
import { Stage } from "./Stage";
import { Transport } from "./Transport";
import { type Made, useRecordings } from "./useRecordings";
import { outlineAt, Scaler, type View, viewOf } from "./views";
import { eventInWords } from "./words";

export type { Alternative, ChartName, SliderSpec };

/** What is seen now: the recordings of both sides and what they ran with. */
export interface Watched {
  recording: Recording;
  /** That beside it; `null` if there is none. */
  second: Recording | null;
  /** With which the first was made. */
  options: Options;
  link: string;
  /** What stands in the picture beside it. */
  beside: Alternative | null;
}

export interface BreathingProps {
  project: Project;
  /** What holds besides what the sliders set. */
  options?: Options;
  /** The port; the slowest one with a policy if not given. */
  link?: string;
  /** What stands at the port, and what in the picture beside it, which has the same arrivals. */
  first?: Alternative | null;
  second?: Alternative | null;
  /** Numbers with sliders: a range and a name, or the path of a number of the scenario. */
  sliders?: readonly (SliderSpec | string)[];
  /** So many numbers from the list of all have sliders, sizes of buffers first. */
  firstSliders?: number;
  /** All four if not given. */
  charts?: readonly ChartName[];
  /** Only picture, time and sliders, in little room. */
  compact?: boolean;
  /** Seconds of the scenario in one of ours. */
  speed?: number;
  /** Where it begins, s. */
  start?: number;
  color?: Key;
  lanes?: Grouping;
  /** Keys of the whole page play and step, not only those within. */
  wholePage?: boolean;
  /** Called when other recordings are seen. */
  onRecording?: (watched: Watched) => void;
  /** Buttons for what is seen. */
  actions?: (watched: Watched) => ComponentChildren;
}

/** In place of what a view holds, once it is seen no more. */
const NOTHING_SEEN = { recording: null, replay: null, lanes: null, fill: null, buckets: null };
const NO_OPTIONS: Options = {};
const NO_SLIDERS: readonly string[] = [];
const NO_RECORDINGS: readonly Recording[] = [];

/** A port that is watched as its queues fill and drain, with what changes it. */
export function Breathing(props: BreathingProps) {
  const {
    project,
    options = NO_OPTIONS,
    sliders = NO_SLIDERS,
    compact = false,
    firstSliders = 0,
  } = props;
  const t = useTexts().watch;
  const engine = useEngine();
  const numbers = useNumbers(engine, project);
  const [values, setValues] = useState<ReadonlyMap<string, number>>(new Map());
  const [sides, setSides] = useState([props.first ?? null, props.second ?? null]);
  const [link, setLink] = useState(props.link);
  const [color, setColor] = useState<Key>(props.color ?? "class");
  const [lanes, setLanes] = useState(props.lanes);
  const [picked, setPicked] = useState<{ side: number; packet: number } | null>(null);

  useChanged(JSON.stringify([props.first, props.second]), () =>
    setSides([props.first ?? null, props.second ?? null]),
  );
  useChanged(props.link, () => setLink(props.link));
  const scenario = project.files[project.path];
  useChanged(typeof scenario === "string" ? scenario : project.path, () => setValues(new Map()));

  const shown = useMemo(
    () =>
      [...sliders, ...numbers.slice(0, firstSliders).map(({ path }) => path)]
        .map((spec) => knobOf(spec, numbers))
        .filter((knob) => knob !== undefined),
    [sliders, firstSliders, numbers],
  );
  const all = useMemo(() => withMore(shown, numbers), [shown, numbers]);
  const set = [...(options.set ?? []), ...setsOf(all, values)];
  const [first = null, second = null] = sides;
  const alternatives = second ? [first, second] : [first];
  const making = useRecordings(engine, {
    project,
    options: { ...options, set },
    link,
    alternatives,
  });
  const { made } = making;

  const recordings = made?.recordings ?? NO_RECORDINGS;
  const views = useViews(made, lanes);
  useForgotten(recordings, emptied);
  useForgotten(views, (old) => emptied(old, NOTHING_SEEN));
  const clock = useClock(props.speed, props.start, recordings);
  const group = useChartGroup();
  const scaler = useMemo(() => new Scaler(), []);
  const still = useStill();
  // The picture is what a change is to be seen in first; charts and the table follow.
  const later = useLater(recordings);
  const bounds = useBounds(made, !compact && (props.charts ?? chartNames).includes("delay"));
  const names = views.map(({ outline }, side) =>
    nameOf(made?.asked.alternatives[side] ?? null, outline?.name ?? t.asItIs),
  );

  const watched = useMemo(() => watchedOf(made), [made]);
  useForgotten(watched, (old) => old && Object.assign(old, { recording: null, second: null }));
  useEffect(() => {
    if (watched) {
      props.onRecording?.(watched);
    }
    setPicked(null);
  }, [made?.recordings]);

  const step = (by: number) => {
    clock.pause();
    for (let left = Math.abs(by); left > 0; left--) {
      clock.seek(nextTime(views, clock.time, by > 0));
    }
  };
  const keys = (event: KeyboardEvent) => {
    const act = actionOf(event, {
      toggle: () => clock.toggle(),
      step,
      zoom: (by) => zoom(group, clock, by),
    });
    if (act) {
      event.preventDefault();
      act();
    }
  };
  usePageKeys(props.wholePage ?? false, keys);

  return (
    <div
      class={`watch ${compact ? "watch-compact" : ""}`}
      aria-busy={making.busy}
      {...(props.wholePage ? {} : { onKeyDown: keys })}
    >
      <Trouble problem={making.problem} />
      {views.length === 0 && making.busy && <p class="watch-note">{t.starting}</p>}
      <div class="watch-main">
        <div class="watch-stages">
          {views.map((view, side) => (
            <section key={`side ${side}`} class="watch-side">
              {views.length > 1 && <h3>{names[side]}</h3>}
              {view.recording.count === 0 && <p class="watch-note">{t.none}</p>}
              <Stage
                view={view}
                together={views}
                clock={clock}
                scaler={scaler}
                color={color}
                name={names[side] ?? ""}
                selected={picked?.side === side ? picked.packet : NONE}
                still={still}
                onPick={(packet) => {
                  clock.pause();
                  setPicked(packet === NONE ? null : { side, packet });
                }}
              />
              {picked?.side === side && (
                <PacketCard
                  replay={view.replay}
                  packet={picked.packet}
                  time={clock.shown.value}
                  onClose={() => setPicked(null)}
                />
              )}
            </section>
          ))}
        </div>
        {views.length > 0 && (
          <>
            <Axis recordings={recordings} clock={clock} group={group} onStep={step} />
            <Transport clock={clock} onStep={step} />
            <Happened views={views} clock={clock} />
          </>
        )}
        {!compact && (
          <Choosers
            project={project}
            made={made}
            sides={sides}
            onSides={setSides}
            onLink={setLink}
            color={color}
            onColor={setColor}
            lanes={lanes}
            onLanes={setLanes}
          />
        )}
        <Knobs knobs={shown} values={values} onChange={setValues} />
        {!compact && <MoreNumbers knobs={numbers} values={values} onChange={setValues} />}
        <div class="watch-foot">
          {values.size > 0 && (
            <Button kind="quiet" onClick={() => setValues(new Map())}>
              {t.reset}
            </Button>
          )}
          {watched && props.actions?.(watched)}
          {made && !compact && <span class="watch-note">{noteOf(made, t)}</span>}
        </div>
        {!compact && later.length > 0 && (
          <Outcomes recordings={later} names={names} color={color} bounds={bounds} />
        )}
      </div>
      {later.length > 0 && (
        <Charts
          recordings={later}
          names={names}
          charts={props.charts ?? (compact ? [] : chartNames)}
          clock={clock}
          group={group}
          color={color}
          bounds={bounds}
          height={later.length > 1 || compact ? 120 : 150}
        />
      )}
    </div>
  );
}

function watchedOf(made: Made | null): Watched | null {
  const [recording, second = null] = made?.recordings ?? [];
  const [options] = made?.options ?? [];
  if (!made || !recording || !options) {
    return null;
  }
  const [, beside = null] = made.asked.alternatives;
  return { recording, second, options, link: made.link, beside };
}

/** The sliders of the page, and all other numbers. */
function withMore(shown: readonly Moved[], numbers: ReturnType<typeof useNumbers>): Moved[] {
  const paths = new Set(shown.map(({ path }) => path));
  const rest = numbers.filter(({ path }) => !paths.has(path));
  return [...shown, ...rest.map((knob) => ({ ...knob, also: [] }))];
}

/**
 * The recordings as they are drawn. Until it is known what stands at the port now, they have the
 * limits of before.
 */
function useViews(made: Made | null, lanes: Grouping | undefined): View[] {
  const before = useRef<(Outline | null)[]>([]);
  const outlines = useMemo(() => {
    if (made && made.descriptions.length > 0) {
      before.current = made.recordings.map((recording, side) => {
        const description = made.descriptions[side];
        return description ? outlineAt(description, recording.link, recording.variant) : null;
      });
    }
    return before.current;
  }, [made]);
  return useMemo(
    () =>
      (made?.recordings ?? []).map((recording, side) =>
        viewOf(recording, outlines[side] ?? null, lanes),
      ),
    [made?.recordings, outlines, lanes],
  );
}

/** Calls `follow` where a text is another than before. */
function useChanged(text: string | undefined, follow: () => void): void {
  const before = useRef(text);
  useEffect(() => {
    if (before.current !== text) {
      before.current = text;
      follow();
    }
  }, [text]);
}

/** How long what follows a change waits for the next, and how long it waits at most, ms. */
const LATER = 40;
const LATEST = 250;

/** The same a moment later: once for several changes in a row, but not without end. */
function useLater<T>(value: T): T {
  const [later, setLater] = useState(value);
  const since = useRef(0);
  useEffect(() => {
    const waits = Math.max(0, Math.min(LATER, since.current + LATEST - performance.now()));
    const timer = setTimeout(() => {
      since.current = performance.now();
      setLater(value);
    }, waits);
    return () => clearTimeout(timer);
  }, [value]);
  return later;
}

/** A clock that begins to run with the first recording, and keeps its time with later ones. */
function useClock(
  speed: number | undefined,
  start: number | undefined,
  recordings: readonly Recording[],
): Clock {
  const glides = useRef(true);
  glides.current = !useStill();
  const clock = useMemo(() => new Clock(() => glides.current), []);
  const begun = useRef(false);
  useEffect(() => {
    const [recording] = recordings;
    if (!recording) {
      return;
    }
    clock.end.value = Math.max(...recordings.map(endOf));
    if (!begun.current) {
      begun.current = true;
      clock.speed.value = speed ?? usualSpeed(recording);
      clock.seek(start ?? 0);
      clock.play();
    } else {
      clock.seek(Math.min(clock.time, clock.end.value));
    }
  }, [recordings, clock, speed, start]);
  useEffect(() => () => clock.dispose(), [clock]);
  return clock;
}

/** So slow that a full packet takes 60 ms of ours to be sent: it can just be followed. */
function usualSpeed({ rate }: Recording): number {
  return Math.max(1e-3, Math.min(1, (1500 * 8) / Math.max(1, rate) / 0.06));
}

function useStill(): boolean {
  const [still, setStill] = useState(false);
  useEffect(() => {
    const asked = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)");
    const tell = () => setStill(asked?.matches ?? false);
    tell();
    asked?.addEventListener("change", tell);
    return () => asked?.removeEventListener("change", tell);
  }, []);
  return still;
}

/** Bounds of the port on each side, a while after the last change: they are only an addition. */
function useBounds(made: Made | null, wanted: boolean): (PointBounds | null)[] {
  const engine = useEngine();
  const [bounds, setBounds] = useState<(PointBounds | null)[]>([]);
  useEffect(() => {
    setBounds([]);
    if (!made || !wanted || made.descriptions.length < made.recordings.length) {
      return;
    }
    let asked = true;
    const timer = setTimeout(async () => {
      const found: (PointBounds | null)[] = [];
      for (const options of made.options) {
        const points = await engine.bounds(made.asked.project, options).catch(() => []);
        found.push(points.find(({ point }) => point === options.variant) ?? points[0] ?? null);
      }
      if (asked) {
        setBounds(found);
      }
    }, 300);
    return () => {
      asked = false;
      clearTimeout(timer);
    };
  }, [engine, made, wanted]);
  return bounds;
}

interface Actions {
  toggle: () => void;
  step: (by: number) => void;
  zoom: (by: number) => void;
}

/** What a key does; nothing where a control has the key for itself. */
function actionOf(event: KeyboardEvent, actions: Actions): (() => void) | undefined {
  const target = event.target as Element | null;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) {
    return undefined;
  }
  if (target?.closest("input, select, textarea, [contenteditable], [role=slider]")) {
    // Arrows and digits are theirs; a slider has no use for the space bar.
    const range = target.matches("input[type=range], [role=slider]");
    return event.key === " " && range ? actions.toggle : undefined;
  }
  const wide = event.shiftKey ? 10 : 1;
  const found: Record<string, () => void> = {
    ArrowLeft: () => actions.step(-wide),
    ArrowRight: () => actions.step(wide),
    "+": () => actions.zoom(0.5),
    "-": () => actions.zoom(2),
  };
  if (event.key === " " && !target?.closest("button, a, summary")) {
    return actions.toggle;
  }
  return found[event.key];
}

function usePageKeys(wanted: boolean, keys: (event: KeyboardEvent) => void): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    if (!wanted) {
      return;
    }
    const listen = (event: KeyboardEvent) => latest.current(event);
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, [wanted]);
}

/** When something happens next (or before) on either side, s. */
function nextTime(views: readonly View[], time: number, onward: boolean): number {
  const times = views.map(({ replay }) => replay.timeBeside(time, onward));
  return onward ? Math.min(...times) : Math.max(...times);
}

/** What happened last, in words, when the clock stands. */
function Happened({ views, clock }: { views: readonly View[]; clock: Clock }) {
  const { said } = useTexts().watch;
  const time = clock.shown.value;
  const words = clock.playing.value
    ? ""
    : views
        .map(({ replay }) => eventInWords(replay, replay.eventAt(time), said))
        .filter((each, at, every) => every.indexOf(each) === at)
        .join(" ");
  return <p class="watch-happened">{words || "\u00a0"}</p>;
}

function Trouble({ problem }: { problem: unknown }) {
  const t = useTexts().watch;
  if (!problem) {
    return null;
  }
  if (problem instanceof InputProblem) {
    return <Problems label={t.failed} problems={problem.diagnostics.map(problemOfDiagnostic)} />;
  }
  const why = problem instanceof Error ? problem.message : String(problem);
  return (
    <p class="watch-trouble" role="alert">
      {problem instanceof Crash ? t.crashed(why) : `${t.failed}: ${why}`}
    </p>
  );
}

function noteOf(made: Made, t: ReturnType<typeof useTexts>["watch"]): string {
  const events = made.recordings.reduce((sum, recording) => sum + recording.count, 0);
  const left = made.recordings.reduce((sum, recording) => sum + recording.leftOut, 0);
  const said = [t.events(count(events))];
  if (!Number.isNaN(made.seconds)) {
    said.unshift(t.took(value(made.seconds, "s")));
  }
  if (left > 0) {
    const [recording] = made.recordings;
    const end = recording?.time[recording.count - 1] ?? 0;
    said.push(t.leftOut(count(left), value(end, "s")));
  }
  return said.join(" · ");
}
