/** Where in the columns of a recording things are. */

import type { Recording } from "../../engine/api";

/** What an event is, as `Recording.kind` has it. */
export const ARRIVES = 0;
export const LEAVES = 1;
export const DROPPED = 2;
export const MARKED = 3;

/** No event, no packet, no queue. */
export const NONE = -1;

/** The columns that say where each packet's events are, by its number. */
export interface Lives {
  first: Int32Array;
  last: Int32Array;
  mark: Int32Array;
  queue: Int32Array;
}

/** Time up to which a recording tells everything, s: all of it, or as far as there was room. */
export function endOf({ count, leftOut, time, end }: Recording): number {
  return leftOut > 0 && count > 0 ? Math.min(end, time[count - 1] ?? end) : end;
}

export function tells({ average, probability }: Recording, event: number): boolean {
  return !(
    Number.isNaN(average[event] ?? Number.NaN) && Number.isNaN(probability[event] ?? Number.NaN)
  );
}

export function packetsOf({ packet, count }: Recording): number {
  let most = -1;
  for (let event = 0; event < count; event++) {
    most = Math.max(most, packet[event] ?? 0);
  }
  return most + 1;
}

export function livesOf(recording: Recording, packets: number, queues: number): Lives {
  const empty = () => new Int32Array(packets).fill(NONE);
  const lives = { first: empty(), last: empty(), mark: empty(), queue: empty() };
  for (let event = 0; event < recording.count; event++) {
    const packet = recording.packet[event] ?? 0;
    const kind = recording.kind[event] ?? ARRIVES;
    const of = kind === ARRIVES ? lives.first : kind === MARKED ? lives.mark : lives.last;
    of[packet] = event;
    const queue = recording.queue[event] ?? 0;
    // What arrives may not yet be in a queue; the event that ends its wait says which it was.
    if (queue < queues && (kind === LEAVES || lives.queue[packet] === NONE)) {
      lives.queue[packet] = queue;
    }
  }
  for (let packet = 0; packet < packets; packet++) {
    if (lives.queue[packet] === NONE) {
      lives.queue[packet] = 0;
    }
  }
  return lives;
}

export function eventsOf({ kind, count }: Recording, wanted: number): Int32Array {
  const found = new Int32Array(count);
  let events = 0;
  for (let event = 0; event < count; event++) {
    if (kind[event] === wanted) {
      found[events++] = event;
    }
  }
  return found.slice(0, events);
}

export function toldBefore(recording: Recording, queueOf: Int32Array, queues: number): Int32Array {
  const found = new Int32Array(recording.count).fill(NONE);
  const last = new Int32Array(queues).fill(NONE);
  for (let event = 0; event < recording.count; event++) {
    const queue = queueOf[recording.packet[event] ?? 0] ?? 0;
    if (tells(recording, event)) {
      found[event] = last[queue] ?? NONE;
      last[queue] = event;
    }
  }
  return found;
}

/** How many of the first `count` values, which rise, are at most `limit`. */
export function upTo(values: Float64Array, count: number, limit: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? 0) <= limit) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** How many events of `list` have a time of at most `limit`. */
export function countUpTo(list: Int32Array, time: Float64Array, limit: number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((time[list[middle] ?? 0] ?? 0) <= limit) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
