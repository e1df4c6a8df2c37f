import { describe, expect, it } from "vitest";
import { Painter } from "../../src/pages/watch/draw";
import { layoutOf } from "../../src/pages/watch/layout";
import { Fills, type Look, lettersOf } from "../../src/pages/watch/look";
import { NONE } from "../../src/pages/watch/model";
import { ROOMY_LINE, type Scene } from "../../src/pages/watch/scene";
import { scaleFor, viewOf } from "../../src/pages/watch/views";
import { en } from "../../src/texts/en";
import { type Port, recordingOf } from "../recordings";

const COLORS = Array.from({ length: 8 }, (_, at) => `#0000${at}0`);
const LOOK: Look = {
  ink: "#111111",
  soft: "#222222",
  paper: "#ffffff",
  sunk: "#eeeeee",
  line: "#cccccc",
  strong: "#888888",
  accent: "#0b5cad",
  bad: "#b3261e",
  unsure: "#7a5200",
  colors: COLORS,
  onColors: COLORS.map(() => "#ffffff"),
  font: "sans-serif",
  ratio: 1,
};

/** A context that keeps what is filled and written. */
function canvas() {
  const rects: { style: string; x: number; width: number }[] = [];
  const texts: string[] = [];
  const state: Record<string, unknown> = {};
  const context = new Proxy(state, {
    get(target, name: string) {
      if (name === "fillRect") {
        return (x: number, _: number, width: number) =>
          rects.push({ style: String(target.fillStyle), x, width });
      }
      if (name === "fillText") return (text: string) => texts.push(text);
      if (name === "measureText") return (text: string) => ({ width: text.length * 7 });
      return name in target ? target[name] : () => {};
    },
    set(target, name: string, value) {
      target[name] = value;
      return true;
    },
  });
  return { context: context as unknown as CanvasRenderingContext2D, rects, texts };
}

function drawn(port: Port, time: number, change: Partial<Scene> = {}) {
  const view = viewOf(recordingOf(port), null);
  const { replay, lanes, recording } = view;
  replay.seek(time);
  const layout = layoutOf(1000, lanes.length, change.buckets?.length ?? 0);
  const most = Math.max(...lanes.map((_, queue) => replay.waitingBytes(queue)), 1);
  const { context, rects, texts } = canvas();
  const painter = new Painter(context);
  const scene: Scene = {
    replay,
    lanes,
    layout,
    look: LOOK,
    fills: new Fills(LOOK),
    time,
    pace: 0.02,
    scale: scaleFor(most, layout.right - layout.left),
    lineScale: ROOMY_LINE,
    still: false,
    keyOf: (packet) => replay.classOf(packet),
    letters: lettersOf(recording.classes),
    buckets: [],
    selected: NONE,
    words: { ...en.watch.drawn, rate: "2 Mb/s", bytes: (count) => `${count} B` },
    ...change,
  };
  painter.draw(scene);
  return { painter, rects, texts, replay, layout, scene };
}

describe("the picture", () => {
  it("has every packet that waits where it can be pointed at", () => {
    const { painter, replay, layout, texts } = drawn({ seed: 4 }, 1);
    const waiting = replay.recording.queues.flatMap((_, queue) => replay.waiting(queue));
    expect(waiting.length).toBeGreaterThan(5);
    for (const packet of waiting) {
      const [x = 0, y = 0, width = 0, height = 0] = painter.boxes.placeOf(packet) ?? [];
      expect(x).toBeGreaterThanOrEqual(layout.left);
      expect(x + width).toBeLessThanOrEqual(layout.right + 1e-6);
      expect(painter.boxes.at(x + width / 2, y + height / 2)).toBe(packet);
    }
    expect(texts).toContain("voice");
    expect(texts).toContain(`${replay.waitingPackets(2)} packets`);
  });

  it("lets the packet that is sent drain from its lane onto the line", () => {
    const at = (part: number) => {
      const { replay } = drawn({ seed: 4 }, 1);
      const event = replay.leaves[20] as number;
      const until = replay.recording.until[event] as number;
      const begin = replay.timeOf(event);
      const time = begin + part * (until - begin);
      const { painter, layout } = drawn({ seed: 4 }, time);
      const packet = replay.recording.packet[event] as number;
      const [x = 0, , width = 0] = painter.boxes.placeOf(packet) ?? [];
      return { onLine: x >= layout.line, width };
    };
    const [early, late] = [at(0.2), at(0.9)];
    expect(early.onLine && late.onLine).toBe(true);
    expect(late.width / early.width).toBeCloseTo(4.5, 6);
  });

  it("tells why something was dropped a moment ago", () => {
    const view = viewOf(recordingOf({ limit: 3 }), null);
    const time = view.replay.timeOf(view.replay.drops[3] as number);
    expect(drawn({ limit: 3 }, time + 1e-6).texts).toContain("dropped: queue full");
  });

  it("merges thin packets, so that a crowd costs what a picture is wide", () => {
    const crowd: Port = { order: "fifo", limit: 20_000, rate: 2e5, end: 60 };
    const { replay, rects, layout } = drawn(crowd, 60);
    expect(replay.waitingAll).toBeGreaterThan(10_000);
    const inLane = rects.filter(({ style }) => COLORS.includes(style));
    expect(inLane.length).toBeLessThan(layout.width + 200);
    const covered = inLane
      .filter(({ x }) => x >= layout.left && x < layout.right)
      .reduce((sum, { width }) => sum + width, 0);
    expect(covered).toBeGreaterThan((layout.right - layout.left) / 2);
  });

  it("says how many have no room, and shows buckets with their level", () => {
    const buckets = [{ name: "wan/voice", level: 1200, most: 4000 }];
    const { texts } = drawn({ order: "fifo", limit: 500 }, 2, { scale: 0.1, buckets });
    expect(texts.some((text) => /^\+ \d+ more$/.test(text))).toBe(true);
    expect(texts).toContain("1200 B");
  });

  it("stands still where nothing may glide", () => {
    const gliding = drawn({ seed: 4 }, 1);
    const still = drawn({ seed: 4 }, 1, { still: true });
    const coming = gliding.replay.recording.packet[
      gliding.replay.arrivals.find((event) => gliding.replay.timeOf(event) > 1) as number
    ] as number;
    expect(gliding.painter.boxes.placeOf(coming)).not.toBeNull();
    expect(still.painter.boxes.placeOf(coming)).toBeNull();
  });
});
