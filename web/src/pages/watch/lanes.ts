/** Which lanes a port is drawn in, and how full each is over time. */

import type { Outline, Recording } from "../../engine/api";
import { ARRIVES, MARKED } from "./model";

/** What a lane stands for: a queue of the port, or what waits of one flow or one class. */
export type Grouping = "queue" | "flow" | "class";

/** A place on a lane with a name: a limit, or a threshold of the AQM. */
export interface Tick {
  name: string;
  /** Bytes that wait when it is reached; of packets by their mean length. */
  bytes: number;
  limit: boolean;
}

export interface Lane {
  name: string;
  /** Which queues of the recording it shows; several where there are more than are drawn. */
  queues: number[];
  ticks: Tick[];
  /** How its limit is stated: `64 packets`; empty if it has none. */
  limit: string;
  /** Mean length of the packets that come, bytes. */
  meanBytes: number;
}

/** Lanes that are drawn at most; the rest share the last. */
export const MOST_LANES = 8;

/** Disciplines that keep a queue for each flow. */
const BY_FLOW = ["fq-codel", "fq-pie", "fq", "sfq", "cake", "fair", "flow-wfq", "drr", "fan"];

/** How a port is best drawn: by flow where one discipline keeps a queue for each. */
export function usualGrouping(recording: Recording, outline: Outline | null): Grouping {
  const fair = outline !== null && BY_FLOW.includes(outline.kind ?? outline.queue ?? "");
  return fair && recording.queues.length <= 1 ? "flow" : "queue";
}

/**
 * The recording with flows or classes in place of its queues. Where it stays with its queues, all
 * events of a packet have the one that it left or was dropped from: what arrives may be in none yet.
 */
export function grouped(recording: Recording, by: Grouping): Recording {
  if (by !== "queue") {
    const queue = Uint16Array.from(by === "flow" ? recording.flow : recording.cls);
    return { ...recording, queue, queues: by === "flow" ? recording.flows : recording.classes };
  }
  const { count, packet, kind, queues } = recording;
  const last = new Map<number, number>();
  const queue = recording.queue.slice();
  for (let event = count - 1; event >= 0; event--) {
    const number = packet[event] ?? 0;
    const known = last.get(number);
    const own = queue[event] ?? 0;
    if (known !== undefined) {
      queue[event] = known;
    } else if (own < queues.length && kind[event] !== MARKED) {
      last.set(number, own);
    } else {
      queue[event] = Math.min(own, Math.max(0, queues.length - 1));
    }
  }
  return { ...recording, queue };
}

/** The lanes of a port, in the order of its queues. Queues that nothing came to have none. */
export function lanesOf(recording: Recording, outline: Outline | null, most = MOST_LANES): Lane[] {
  const came = new Float64Array(recording.queues.length);
  const bytes = new Float64Array(recording.queues.length);
  for (let event = 0; event < recording.count; event++) {
    const queue = recording.queue[event] ?? 0;
    if (recording.kind[event] === ARRIVES && queue < came.length) {
      came[queue] = (came[queue] ?? 0) + 1;
      bytes[queue] = (bytes[queue] ?? 0) + (recording.bytes[event] ?? 0);
    }
  }
  const used = recording.queues.map((_, queue) => queue).filter((queue) => came[queue]);
  const kept = used.length > most ? busiest(used, came, most - 1) : used;
  const rest = used.filter((queue) => !kept.includes(queue));
  const lane = (queues: number[], name: string): Lane => {
    const sum = (of: Float64Array) => queues.reduce((all, queue) => all + (of[queue] ?? 0), 0);
    const meanBytes = sum(bytes) / Math.max(1, sum(came)) || 1;
    const asked = queues.length === 1 ? outlineOf(outline, name, kept.length) : null;
    return {
      name,
      queues,
      meanBytes,
      ticks: ticksOf(asked, meanBytes),
      limit: asked?.limit ?? "",
    };
  };
  const lanes = kept.map((queue) => lane([queue], recording.queues[queue] ?? ""));
  return rest.length ? [...lanes, lane(rest, `+ ${rest.length}`)] : lanes;
}

function busiest(used: number[], came: Float64Array, most: number): number[] {
  const sorted = [...used].sort((a, b) => (came[b] ?? 0) - (came[a] ?? 0));
  return sorted.slice(0, most).sort((a, b) => a - b);
}

/** What the policy says of a queue: of the class of that name, or of the whole if it is the only one. */
function outlineOf(outline: Outline | null, name: string, queues: number): Outline | null {
  if (outline === null) {
    return null;
  }
  const named = byName(outline, name.split("/").at(-1) ?? name);
  return named ?? (queues === 1 && outline.classes.length === 0 ? outline : null);
}

function byName(outline: Outline, name: string): Outline | null {
  for (const child of outline.classes) {
    const found = child.name === name ? child : byName(child, name);
    if (found) {
      return found;
    }
  }
  return null;
}

function ticksOf(outline: Outline | null, meanBytes: number): Tick[] {
  if (outline === null) {
    return [];
  }
  const packets = (outline.limit_packets ?? 0) * meanBytes;
  const bytes = outline.limit_bytes ?? packets;
  const ticks: Tick[] = bytes > 0 ? [{ name: outline.limit, bytes, limit: true }] : [];
  for (const { name, packets: at } of thresholdsOf(outline)) {
    ticks.push({ name, bytes: at * meanBytes, limit: false });
  }
  return ticks;
}

/** Thresholds of an AQM in packets, of its parameters (`min_th`, `max_th`). */
function thresholdsOf(outline: Outline): { name: string; packets: number }[] {
  const parameters = (outline as { parameters?: Record<string, unknown> }).parameters ?? {};
  const found: { name: string; packets: number }[] = [];
  for (const values of Object.values(parameters)) {
    for (const [key, value] of Object.entries((values ?? {}) as Record<string, unknown>)) {
      const packets = /^(min_th|max_th|threshold)$/.test(key) ? packetsIn(value) : Number.NaN;
      if (packets > 0) {
        found.push({ name: key, packets });
      }
    }
  }
  return found;
}

function packetsIn(value: unknown): number {
  if (typeof value === "number") {
    return value;
  }
  const found = typeof value === "string" ? /^([\d.]+)( packets)?$/.exec(value) : null;
  return found ? Number(found[1]) : Number.NaN;
}

/** The most bytes that wait in each lane within equal stretches of time. */
export interface Fill {
  /** s */
  step: number;
  /** One row a lane. */
  most: Float64Array[];
}

export function fillOf(recording: Recording, lanes: Lane[], stretches = 1024): Fill {
  const step = Math.max(recording.end, 1e-9) / stretches;
  const laneOf = new Int32Array(recording.queues.length).fill(-1);
  lanes.forEach((lane, at) => {
    for (const queue of lane.queues) {
      laneOf[queue] = at;
    }
  });
  const now = new Float64Array(lanes.length);
  const most = lanes.map(() => new Float64Array(stretches));
  let reached = 0;
  const to = (stretch: number) => {
    for (; reached < stretch; reached++) {
      for (let lane = 0; lane < lanes.length; lane++) {
        (most[lane] as Float64Array)[reached + 1] = now[lane] ?? 0;
      }
    }
  };
  for (let event = 0; event < recording.count; event++) {
    const kind = recording.kind[event] ?? MARKED;
    const lane = laneOf[recording.queue[event] ?? 0] ?? -1;
    if (kind === MARKED || lane < 0) {
      continue;
    }
    to(Math.min(stretches - 1, Math.floor((recording.time[event] ?? 0) / step)));
    const bytes = recording.bytes[event] ?? 0;
    now[lane] = (now[lane] ?? 0) + (kind === ARRIVES ? bytes : -bytes);
    const row = most[lane] as Float64Array;
    row[reached] = Math.max(row[reached] ?? 0, now[lane] ?? 0);
  }
  to(stretches - 1);
  return { step, most };
}

/** The most bytes that wait in any lane within [from, to] (s). */
export function mostWithin(fill: Fill, from: number, to: number): number {
  let found = 0;
  for (const row of fill.most) {
    const first = Math.max(0, Math.floor(from / fill.step));
    const last = Math.min(row.length - 1, Math.floor(to / fill.step));
    for (let at = first; at <= last; at++) {
      found = Math.max(found, row[at] ?? 0);
    }
  }
  return found;
}
