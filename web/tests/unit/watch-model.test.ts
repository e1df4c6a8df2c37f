import { describe, expect, it } from "vitest";
import type { Recording } from "../../src/engine/api";
import { ARRIVES, DROPPED, LEAVES, MARKED, NONE, Replay } from "../../src/pages/watch/model";
import { type Port, random, recordingOf } from "../recordings";

/** The state after an event, by going through all events before it. */
function naive(recording: Recording, event: number) {
  const waiting = recording.queues.map(() => [] as number[]);
  const counts = recording.classes.map(() => ({ arrived: 0, left: 0, dropped: 0, marked: 0 }));
  const average = recording.queues.map(() => Number.NaN);
  for (let i = 0; i <= event; i++) {
    const count = counts[recording.cls[i] as number] as (typeof counts)[0];
    const queue = recording.queue[i] as number;
    const packet = recording.packet[i] as number;
    const row = waiting[queue] as number[];
    if (recording.kind[i] === ARRIVES) {
      row.push(packet);
      count.arrived += 1;
    } else if (recording.kind[i] === MARKED) {
      count.marked += 1;
    } else {
      row.splice(row.indexOf(packet), 1);
      count[recording.kind[i] === LEAVES ? "left" : "dropped"] += 1;
    }
    if (!Number.isNaN(recording.average[i])) {
      average[queue] = recording.average[i] as number;
    }
  }
  return { waiting, counts, average };
}

function stateOf(replay: Replay) {
  const queues = replay.recording.queues.map((_, queue) => queue);
  return {
    waiting: queues.map((queue) => replay.waiting(queue)),
    counts: replay.recording.classes.map((_, cls) => replay.countsOf(cls)),
    average: queues.map((queue) => replay.average(queue)),
  };
}

const PORTS: Port[] = [
  { order: "fifo", limit: 20, end: 1 },
  { order: "priority", early: 0.3, end: 1, seed: 2 },
  { order: "turns", limit: 5, early: 0.1, end: 1, seed: 3 },
];

describe("a replay", () => {
  it.each(PORTS)("has the state of a naive one wherever it goes: %o", (port) => {
    const recording = recordingOf(port);
    const replay = new Replay(recording, 16);
    const draw = random(7);
    for (let jump = 0; jump < 200; jump++) {
      const far = draw() < 0.3;
      const to = far
        ? Math.floor(draw() * (recording.count + 1)) - 1
        : replay.event + Math.floor(draw() * 9) - 4;
      replay.goTo(to);
      expect(replay.event).toBe(Math.max(-1, Math.min(to, recording.count - 1)));
      expect(stateOf(replay)).toEqual(naive(recording, replay.event));
    }
  });

  it.each(PORTS)("loses no packet: %o", (port) => {
    const replay = new Replay(recordingOf(port));
    for (let time = 0; time <= 1; time += 0.05) {
      replay.seek(time);
      const { arrived, left, dropped } = replay.totals();
      expect(arrived).toBe(left + dropped + replay.waitingAll);
      const lengths = replay.recording.queues.map((_, queue) => replay.waiting(queue).length);
      expect(lengths).toEqual(lengths.map((_, queue) => replay.waitingPackets(queue)));
    }
    replay.goTo(replay.recording.count - 1);
    expect(replay.totals().left).toBe(replay.leaves.length);
    expect(replay.totals().dropped).toBe(replay.drops.length);
  });

  it("finds the event of a time on both sides of it", () => {
    const replay = new Replay(recordingOf());
    expect(replay.eventAt(-1)).toBe(NONE);
    for (const event of [0, 17, 100]) {
      const time = replay.timeOf(event);
      expect(replay.timeOf(replay.eventAt(time))).toBe(time);
      expect(replay.timeOf(replay.eventAt(time - 1e-12))).toBeLessThan(time);
    }
    expect(replay.eventAt(1e9)).toBe(replay.recording.count - 1);
  });

  it("steps by packet, there and back", () => {
    const replay = new Replay(recordingOf({ early: 0.5 }));
    replay.goTo(50);
    const next = replay.neighbor(1);
    expect(replay.recording.kind[next]).not.toBe(MARKED);
    replay.goTo(next);
    const back = replay.neighbor(-1);
    expect(back).toBeLessThanOrEqual(50);
    replay.goTo(NONE);
    expect(replay.neighbor(-1)).toBe(NONE);
    replay.goTo(replay.recording.count - 1);
    expect(replay.neighbor(1)).toBe(NONE);
    expect(replay.recording.kind[replay.neighbor(-1, [DROPPED])]).toBe(DROPPED);
  });

  it("tells which packet is sent, and how much of it", () => {
    const replay = new Replay(recordingOf());
    const event = replay.leaves[10] as number;
    const begin = replay.timeOf(event);
    const until = replay.recording.until[event] as number;
    expect(replay.transmission((begin + until) / 2)?.event).toBe(event);
    expect(replay.transmission((begin + until) / 2)?.fraction).toBeCloseTo(0.5, 9);
    const busy = replay.transmission(until);
    expect(busy === null || busy.event !== event).toBe(true);
    expect(replay.transmission(-1)).toBeNull();
  });

  it("knows what becomes of a packet", () => {
    const replay = new Replay(recordingOf({ limit: 5, early: 0.2 }));
    const { recording } = replay;
    for (const event of replay.drops.slice(0, 20)) {
      const packet = replay.packet(recording.packet[event] as number);
      expect(packet.dropped).toBe(replay.timeOf(event));
      expect(packet.reason).toBe(recording.reason[event]);
      expect(packet.left).toBeNaN();
    }
    for (const event of replay.leaves.slice(0, 20)) {
      const packet = replay.packet(recording.packet[event] as number);
      expect(packet.left - packet.arrived).toBeCloseTo(recording.wait[event] as number, 12);
      expect(packet.until).toBe(recording.until[event]);
    }
  });

  it("takes an empty recording", () => {
    const replay = new Replay({ ...recordingOf({ end: 1e-6 }), count: 0 });
    replay.seek(1);
    expect(replay.event).toBe(NONE);
    expect(replay.totals()).toEqual({ arrived: 0, left: 0, dropped: 0, marked: 0 });
    expect(replay.transmission(1)).toBeNull();
  });

  it("seeks in a long recording within a frame", () => {
    const replay = new Replay(recordingOf({ end: 300, limit: 1000, rate: 1e6 }));
    expect(replay.recording.count).toBeGreaterThan(100_000);
    const draw = random(3);
    // Time of the processor: others may use it meanwhile.
    const begin = process.cpuUsage();
    for (let jump = 0; jump < 100; jump++) {
      replay.seek(draw() * 300);
    }
    expect(process.cpuUsage(begin).user / 1000 / 100).toBeLessThan(8);
  });
});
