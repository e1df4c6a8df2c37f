import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isDark } from "../../app/theme";
import { useTexts } from "../../texts";
import { value } from "../../ui/format";
import type { Clock } from "./clock";
import { type Key, keysOf, namesOf, valueBetween } from "./curves";
import { Painter } from "./draw";
import { layoutOf } from "./layout";
import { Fills, lettersOf, lookOf } from "./look";
import { NONE } from "./model";
import { ROOMY_LINE } from "./scene";
import type { Scaler, View } from "./views";
import { stateInWords } from "./words";

interface Props {
  view: View;
  /** Views whose lanes have the same scale as this one's, itself among them. */
  together: readonly View[];
  clock: Clock;
  scaler: Scaler;
  color: Key;
  /** What stands at the port, for screen readers. */
  name: string;
  selected: number;
  onPick: (packet: number) => void;
  /** Whether nothing may glide. */
  still: boolean;
}

/** The picture of one port. */
export function Stage(props: Props) {
  const { view, together, clock, scaler, color, name, selected, onPick, still } = props;
  const t = useTexts().watch;
  const canvas = useRef<HTMLCanvasElement>(null);
  const painter = useRef<Painter | null>(null);
  const width = useWidth(canvas);
  const seen = useSeen(canvas, clock);
  const dark = isDark();
  const layout = useMemo(
    () => layoutOf(width, view.lanes.length, view.buckets.length),
    [width, view],
  );
  const letters = useMemo(() => lettersOf(namesOf(view.recording, color)), [view, color]);

  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d", { alpha: false });
    if (!element || !context || width === 0) {
      return;
    }
    const ratio = Math.min(3, globalThis.devicePixelRatio || 1);
    element.width = Math.round(layout.width * ratio);
    element.height = Math.round(layout.height * ratio);
    const look = lookOf(element, ratio);
    const fills = new Fills(look);
    const keys = keysOf(view.recording, color);
    const { replay } = view;
    painter.current = new Painter(context);
    const show = (time: number, elapsed: number) => {
      if (!seen.current) {
        return;
      }
      replay.seek(time);
      const room = layout.right - layout.left;
      const scale = scaler.at(
        time,
        elapsed,
        clock.pace,
        room,
        together.map(({ fill }) => fill),
      );
      painter.current?.draw({
        replay,
        lanes: view.lanes,
        layout,
        look,
        fills,
        time,
        pace: clock.pace,
        scale,
        lineScale: ROOMY_LINE,
        still,
        keyOf: (packet) => keys[replay.anyEventOf(packet)] ?? 0,
        letters,
        buckets: view.buckets.map((curve) => ({
          name: curve.place,
          level: valueBetween(curve, time),
          most: curve.most,
        })),
        selected,
        words: {
          ...t.drawn,
          rate: value(view.recording.rate, "b/s"),
          bytes: (count) => value(count, "B"),
        },
      });
    };
    show(clock.time, 0);
    return clock.onShow(show);
  }, [view, together, clock, scaler, color, layout, letters, selected, still, dark, t]);

  const packetAt = (event: MouseEvent) => {
    const box = canvas.current?.getBoundingClientRect();
    return box && painter.current
      ? painter.current.boxes.at(event.clientX - box.left, event.clientY - box.top)
      : NONE;
  };
  return (
    <div class="watch-stage">
      <canvas
        ref={canvas}
        class="watch-canvas"
        role="img"
        aria-label={t.picture(name)}
        style={{ height: `${layout.height}px` }}
        onClick={(event) => onPick(packetAt(event))}
        onPointerMove={(event) => {
          event.currentTarget.style.cursor = packetAt(event) === NONE ? "default" : "pointer";
        }}
      />
      <StateInWords view={view} clock={clock} name={name} />
    </div>
  );
}

/** The picture in words: at once when it stands, and every few seconds while it runs. */
function StateInWords({ view, clock, name }: { view: View; clock: Clock; name: string }) {
  const { said } = useTexts().watch;
  const playing = clock.playing.value;
  const [slow, setSlow] = useState(clock.time);
  useEffect(() => {
    if (!playing) {
      return;
    }
    const timer = setInterval(() => setSlow(clock.time), 5000);
    return () => clearInterval(timer);
  }, [playing, clock]);
  const time = playing ? slow : clock.shown.value;
  const words = useMemo(() => {
    const before = view.replay.event;
    view.replay.seek(time);
    const found = stateInWords(view.replay, time, said);
    view.replay.goTo(before);
    return found;
  }, [view, time, said]);
  return (
    <p class="unseen" role="status" aria-live="polite">
      {name}: {words}
    </p>
  );
}

/** Whether an element is in the window: nobody sees what is drawn elsewhere. */
function useSeen(element: { current: HTMLElement | null }, clock: Clock): { current: boolean } {
  const seen = useRef(true);
  useEffect(() => {
    const found = element.current;
    if (!found || !globalThis.IntersectionObserver) {
      return;
    }
    const observer = new IntersectionObserver((entries) => {
      const before = seen.current;
      seen.current = entries.at(-1)?.isIntersecting ?? true;
      if (seen.current && !before) {
        clock.refresh();
      }
    });
    observer.observe(found);
    return () => observer.disconnect();
  }, [element, clock]);
  return seen;
}

/** The width of an element in pixels, as it changes. */
function useWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const found = element.current?.parentElement;
    if (!found) {
      return;
    }
    const observer = new ResizeObserver(() => setWidth(Math.floor(found.clientWidth)));
    observer.observe(found);
    setWidth(Math.floor(found.clientWidth));
    return () => observer.disconnect();
  }, [element]);
  return width;
}
