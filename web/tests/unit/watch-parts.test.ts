import { describe, expect, it } from "vitest";
import type { Outline } from "../../src/engine/api";
import { Clock } from "../../src/pages/watch/clock";
import {
  busiestKeys,
  delayCurves,
  outcomes,
  quantile,
  rateCurves,
  totalCurve,
  valueBetween,
  waitingCurves,
} from "../../src/pages/watch/curves";
import { knobOf, setsOf } from "../../src/pages/watch/knobs";
import { fillOf, grouped, lanesOf, mostWithin, usualGrouping } from "../../src/pages/watch/lanes";
import { Boxes, layoutOf, ROOMY } from "../../src/pages/watch/layout";
import { lettersOf, readable, textureOf } from "../../src/pages/watch/look";
import {
  nameOf,
  readAlternative,
  setsFor,
  withAlternative,
  writtenAlternative,
} from "../../src/pages/watch/mechanisms";
import { NONE, Replay } from "../../src/pages/watch/model";
import { Scaler, scaleFor, viewOf } from "../../src/pages/watch/views";
import { eventInWords, speedInWords, stateInWords, timeInWords } from "../../src/pages/watch/words";
import { en } from "../../src/texts/en";
import { numbersOf } from "../../src/ui/numbers";
import { schema } from "../fake/engine";
import { recordingOf } from "../recordings";

const OUTLINE = {
  kind: "class-based",
  limit: "",
  classes: [
    { name: "voice", limit: "10 packets", limit_packets: 10, limit_bytes: null, classes: [] },
    {
      name: "web",
      limit: "9 kB",
      limit_packets: null,
      limit_bytes: 9000,
      classes: [],
      parameters: { red: { min_th: 3, max_th: "6 packets", max_p: 0.1 } },
    },
  ],
} as unknown as Outline;

describe("lanes", () => {
  it("are the queues that packets came to, with limits and thresholds of their classes", () => {
    const lanes = lanesOf(recordingOf(), OUTLINE);
    expect(lanes.map(({ name }) => name)).toEqual(["voice", "web", "bulk"]);
    expect(lanes[0]?.limit).toBe("10 packets");
    expect(lanes[0]?.ticks).toEqual([{ name: "10 packets", bytes: 2000, limit: true }]);
    expect(lanes[1]?.ticks).toEqual([
      { name: "9 kB", bytes: 9000, limit: true },
      { name: "min_th", bytes: 3000, limit: false },
      { name: "max_th", bytes: 6000, limit: false },
    ]);
    expect(lanes[2]?.ticks).toEqual([]);
  });

  it("have the limit of the whole where there is one queue", () => {
    const fifo = { ...OUTLINE, limit: "30 packets", limit_packets: 30, classes: [] } as Outline;
    expect(lanesOf(recordingOf({ order: "fifo" }), fifo)[0]?.limit).toBe("30 packets");
  });

  it("share the last where there are too many", () => {
    const lanes = lanesOf(recordingOf(), null, 2);
    expect(lanes.map(({ queues }) => queues.length)).toEqual([1, 2]);
    expect(lanes[1]?.name).toBe("+ 2");
  });

  it("are by flow where one discipline keeps a queue for each", () => {
    const fair = { kind: "fq-codel", classes: [] } as unknown as Outline;
    const recording = recordingOf({ order: "fifo" });
    expect(usualGrouping(recording, fair)).toBe("flow");
    expect(usualGrouping(recording, null)).toBe("queue");
    expect(usualGrouping(recordingOf(), fair)).toBe("queue");
    const replay = new Replay(grouped(recording, "flow"));
    replay.seek(1);
    const whole = new Replay(recording);
    whole.seek(1);
    expect(replay.waitingAll).toBe(whole.waitingAll);
    expect(replay.waiting(1).every((packet) => replay.flowOf(packet) === 1)).toBe(true);
  });

  it("have packets whose arrival names no queue in the one that they left", () => {
    const recording = recordingOf();
    const unnamed = { ...recording, queue: recording.queue.slice() };
    recording.kind.forEach((kind, event) => {
      unnamed.queue[event] = kind === 0 ? 65535 : (recording.queue[event] as number);
    });
    const replay = new Replay(grouped(unnamed, "queue"));
    for (const event of replay.leaves) {
      const packet = recording.packet[event] as number;
      expect(replay.queueOf(packet)).toBe(recording.queue[event]);
    }
  });

  it("know how full they get", () => {
    const view = viewOf(recordingOf({ seed: 5 }), null);
    const { replay, fill, lanes } = view;
    for (const [from, to] of [
      [0, 0.3],
      [0.5, 0.9],
      [1.2, 2],
    ] as const) {
      let most = 0;
      for (let event = replay.eventAt(from); event <= replay.eventAt(to); event++) {
        replay.goTo(event);
        most = Math.max(most, ...lanes.map((_, queue) => replay.waitingBytes(queue)));
      }
      expect(mostWithin(fill, from, to)).toBeGreaterThanOrEqual(most);
      // A stretch reaches beyond the range at both ends.
      expect(mostWithin(fill, from + fill.step, to - fill.step)).toBeLessThanOrEqual(most);
    }
    expect(fillOf(view.recording, lanes, 4).most[0]).toHaveLength(4);
  });
});

describe("curves", () => {
  const recording = recordingOf({ seed: 9, limit: 8 });
  const keys = busiestKeys(recording, "class");

  it("have the most that waits of each class, and of all", () => {
    const curves = waitingCurves(recording, "class", keys);
    const replay = new Replay(recording);
    const most = keys.map(() => 0);
    for (let event = 0; event < recording.count; event++) {
      replay.goTo(event);
      replay.waitingByClass().forEach((count, cls) => {
        most[cls] = Math.max(most[cls] ?? 0, count);
      });
    }
    // The last packet that came waits for a moment even if it is dropped at once.
    expect(curves.map(({ values }) => Math.max(...values))).toEqual(most);
    expect(Math.max(...totalCurve(recording))).toBeLessThanOrEqual(most.reduce((a, b) => a + b));
  });

  it("carry in their rates what was sent", () => {
    const bits = rateCurves(recording, "class", keys).map(({ values, step }) =>
      values.reduce((sum, rate) => sum + rate * step, 0),
    );
    const sent = keys.map(() => 0);
    recording.kind.forEach((kind, event) => {
      if (kind === 1) {
        const cls = recording.cls[event] as number;
        sent[cls] = (sent[cls] ?? 0) + (recording.bytes[event] as number) * 8;
      }
    });
    bits.forEach((found, cls) => {
      expect(found).toBeCloseTo(sent[cls] ?? 0, 3);
    });
  });

  it("have delays from arrival to the end of transmission", () => {
    const [voice] = delayCurves(recording, "class", keys);
    const rows = outcomes(recording, "class", keys);
    const longest = Math.max(...(voice?.values ?? []).filter((x) => !Number.isNaN(x)));
    expect(longest).toBeGreaterThanOrEqual(rows[0]?.p99 ?? 0);
    // 200 B at 2 Mb/s is the least that it can take.
    expect(rows[0]?.meanDelay).toBeGreaterThan(0.0008);
    const drops = rows.reduce((sum, { dropped }) => sum + dropped, 0);
    expect(drops).toBe(new Replay(recording).drops.length);
  });

  it("read values between samples", () => {
    const curve = { start: 1, step: 0.5, values: Float64Array.of(0, 10, 20) };
    const whole = { ...curve, variant: "", run: 0, place: "", metric: "", unit: "" };
    expect([0, 1, 1.25, 2, 9].map((time) => valueBetween(whole, time))).toEqual([0, 0, 5, 20, 20]);
    expect(quantile([3, 1, 2], 0.5)).toBe(2);
    expect(quantile([], 0.5)).toBeNaN();
  });
});

describe("scale", () => {
  it("makes what waits fit, in steps of the square root of two", () => {
    expect(scaleFor(10, 500)).toBe(ROOMY);
    for (const bytes of [2e4, 1e5, 1.5e6]) {
      const scale = scaleFor(bytes, 500);
      expect(bytes * scale).toBeLessThanOrEqual(500 + 1e-6);
      expect(bytes * scale).toBeGreaterThan(500 / Math.SQRT2 - 1);
    }
  });

  it("goes gently while time runs, and at once where it leaps", () => {
    const fill = { step: 1, most: [Float64Array.of(0, 0, 1e6, 1e6)] };
    const scaler = new Scaler();
    const near = (elapsed: number, time: number) => scaler.at(time, elapsed, 0.1, 500, [fill]);
    expect(near(0, 0)).toBe(ROOMY);
    expect(near(0, 3)).toBeCloseTo(scaleFor(1e6, 500), 12);
    const back = near(0.016, 0.0016 + 3);
    expect(back).toBeCloseTo(scaleFor(1e6, 500), 12);
  });
});

describe("the clock", () => {
  it("goes on at its speed, stays a moment at the end and begins anew", () => {
    const clock = new Clock();
    clock.end.value = 10;
    clock.speed.value = 0.5;
    clock.advance(2);
    expect(clock.time).toBe(1);
    clock.seek(99);
    expect(clock.time).toBe(10);
    clock.advance(0.01);
    expect(clock.time).toBe(10);
    for (let frame = 0; frame < 60; frame++) {
      clock.advance(0.01);
    }
    expect(clock.time).toBeLessThan(1);
    clock.speed.value = Number.POSITIVE_INFINITY;
    expect(clock.pace).toBe(5);
  });

  it("tells those who show it", () => {
    const clock = new Clock();
    clock.end.value = 1;
    const seen: number[] = [];
    const stop = clock.onShow((time) => seen.push(time));
    clock.seek(0.25);
    stop();
    clock.seek(0.5);
    expect(seen).toEqual([0.25]);
  });
});

describe("looks", () => {
  it("give every name a letter of its own", () => {
    const letters = lettersOf(["voice", "video", "v", "web", "<script>", "", "ß", "voice"]);
    expect(letters.slice(0, 3)).toEqual(["V", "I", "1"]);
    expect(new Set(letters).size).toBe(letters.length);
  });

  it("give the first 64 classes pairs of color and texture of their own", () => {
    const pairs = Array.from({ length: 64 }, (_, key) => `${key % 8} ${textureOf(key)}`);
    expect(new Set(pairs).size).toBe(64);
  });

  it("write black on light and white on dark", () => {
    expect(readable("#f0e442")).toBe("#000000");
    expect(readable("#0072b2")).toBe("#ffffff");
  });

  it("leave room for lanes, line and buckets at every width", () => {
    for (const width of [300, 400, 1400, 2560]) {
      const layout = layoutOf(width, 8, 5);
      expect(layout.right - layout.left).toBeGreaterThan(width / 2);
      expect(layout.line).toBeLessThan(width - 40);
      expect(layout.height).toBeGreaterThan(layout.buckets);
    }
  });

  it("find the packet at a place", () => {
    const boxes = new Boxes();
    boxes.add(7, 10, 10, 20, 20);
    boxes.add(8, 28, 10, 20, 20);
    expect([15, 29, 51, 60].map((x) => boxes.at(x, 20))).toEqual([7, 8, 8, NONE]);
  });
});

describe("numbers and mechanisms", () => {
  it("become settings", () => {
    const numbers = numbersOf({ policies: { P: { fifo: { limit: "60 packets" } } } }, schema);
    const listed = knobOf("policies.P.fifo.limit", numbers);
    const own = knobOf(
      { path: "a.rate", also: ["b.rate"], label: "Rate", min: 1e6, max: 9e6, unit: "Mb/s" },
      numbers,
    );
    expect(listed?.value).toBe(60);
    expect(own?.value).toBe(1e6);
    const knobs = [listed, own].filter((knob) => knob !== undefined);
    expect(setsOf(knobs, new Map([["a.rate", 2.5e6]]))).toEqual([
      "a.rate=2.5 Mb/s",
      "b.rate=2.5 Mb/s",
    ]);
    expect(setsOf(knobs, new Map([["policies.P.fifo.limit", 7]]))).toEqual([
      "policies.P.fifo.limit=7 packets",
    ]);
    expect(knobOf("no.such.number", numbers)).toBeUndefined();
  });

  it("stand at a port after what is set", () => {
    const options = { set: ["a=1"], seed: 4 };
    const variants = `
variants:
  - {name: A, set: {topology.links.down.policy: X}}
  - {name: "B b", set: {topology.links.up.policy: X, runs.count: 2}}
`;
    const project = { path: "s.yaml", files: { "s.yaml": variants } };
    expect(withAlternative(project, options, "up", 4e6, { variant: "B" })).toEqual({
      ...options,
      variant: "B",
    });
    expect(setsFor("up", 4e6, { policy: "P" })).toEqual(['topology.links.up.policy="P"']);
    expect(withAlternative(project, options, "up", 4e6, { mechanism: "CAKE" }).set).toEqual([
      "a=1",
      'policies.STANDS-IN={"cake":{"bandwidth":"3960000 b/s"}}',
      'topology.links.up.policy="STANDS-IN"',
    ]);
    // A variant that says what stands at the port would have the last word.
    const other = { ...options, variant: "B b" };
    expect(withAlternative(project, other, "up", 4e6, { policy: "P" }).set).toEqual([
      "a=1",
      'variants.B b.set={"runs.count":2}',
      'topology.links.up.policy="P"',
    ]);
    expect(setsFor("up", 4e6, { mechanism: "constructor" })).toEqual([]);
    for (const each of [{ variant: "a:b" }, { policy: "P" }, { mechanism: "RED" }, null]) {
      expect(readAlternative(writtenAlternative(each))).toEqual(each);
    }
    expect(readAlternative("__proto__:x")).toBeNull();
    expect([null, { policy: "P" }, { set: ["x=1"] }].map((a) => nameOf(a, "none"))).toEqual([
      "none",
      "P",
      "x=1",
    ]);
  });
});

describe("words", () => {
  it("say what waits, what is sent and what happened", () => {
    const recording = recordingOf({ early: 0.3 });
    const replay = new Replay(recording);
    const { said } = en.watch;
    expect(stateInWords(replay, 0, said)).toContain("No packet waits.");
    replay.seek(1);
    const words = stateInWords(replay, 1, said);
    expect(words).toContain(`${replay.waitingAll} packets wait`);
    expect(words).toMatch(/Average of voice: [\d.]+ packets\./);
    const drop = replay.drops[0] as number;
    expect(eventInWords(replay, drop, said)).toMatch(/^Packet \d+ of \w+ is dropped: /);
    expect(eventInWords(replay, NONE, said)).toBe("");
    expect(timeInWords(1.25)).toBe("1.250000 s");
    expect([0.02, 1, 2.5, 10].map(speedInWords)).toEqual(["1/50", "1.0", "2.5", "10"]);
  });
});
