/**
 * The state of one port at any time, from the recording of what happened there.
 *
 * A recording is a list of events in order of time. `Replay` keeps the state after one of them and
 * goes to another by steps, from the nearest checkpoint if that is closer. A checkpoint stands at
 * every `spacing` events and holds what waits, so a seek costs O(log n) for the time and O(spacing)
 * steps. Both directions cost the same: each step can be undone.
 */

import type { Recording } from "../../engine/api";
import {
  ARRIVES,
  countUpTo,
  DROPPED,
  endOf,
  eventsOf,
  LEAVES,
  type Lives,
  livesOf,
  MARKED,
  NONE,
  packetsOf,
  tells,
  toldBefore,
  upTo,
} from "./columns";

export { ARRIVES, DROPPED, endOf, LEAVES, MARKED, NONE };

/** What has happened to the packets of one class (or flow) so far. */
export interface Counts {
  arrived: number;
  left: number;
  dropped: number;
  marked: number;
}

/** One packet, as of a time. */
export interface Packet {
  number: number;
  flow: number;
  cls: number;
  queue: number;
  bytes: number;
  /** s; NaN if it was there before the recording began. */
  arrived: number;
  /** When its transmission began and ended, s; NaN if it did not leave. */
  left: number;
  until: number;
  /** When it was dropped, s; NaN if it was not. */
  dropped: number;
  /** Index in `Recording.reasons`; -1 if it was not dropped. */
  reason: number;
  /** When it was marked, s; NaN if it was not. */
  marked: number;
}

interface Checkpoint {
  /** Packets that wait, of all queues, by number. */
  waiting: Int32Array;
  counts: Float64Array;
  /** Packets and bytes in each queue. */
  lengths: Float64Array;
  /** Last event of each queue that says its average or probability. */
  told: Int32Array;
}

const PER_CLASS = 4;

/** State of a port after any event of its recording. */
export class Replay {
  readonly recording: Recording;
  /** Packets of the recording: their numbers are below this. */
  readonly packets: number;
  readonly queues: number;
  readonly classes: number;
  /** Events between two checkpoints. */
  readonly spacing: number;
  /** Events that begin a transmission, in order. */
  readonly leaves: Int32Array;
  /** Events that drop a packet, in order. */
  readonly drops: Int32Array;
  /** Events with which packets arrive, in order. */
  readonly arrivals: Int32Array;

  private readonly lives: Lives;
  /** Event of the same queue before this one that says average or probability. */
  private readonly toldBefore: Int32Array;
  private readonly checkpoints: Checkpoint[] = [];

  private at = NONE;
  private readonly next: Int32Array;
  private readonly previous: Int32Array;
  private readonly head: Int32Array;
  private readonly tail: Int32Array;
  private counts: Float64Array;
  private lengths: Float64Array;
  private told: Int32Array;

  constructor(recording: Recording, spacing = 1024) {
    this.recording = recording;
    this.spacing = spacing;
    this.queues = Math.max(1, recording.queues.length);
    this.classes = Math.max(1, recording.classes.length);
    this.packets = packetsOf(recording);
    this.lives = livesOf(recording, this.packets, this.queues);
    this.leaves = eventsOf(recording, LEAVES);
    this.drops = eventsOf(recording, DROPPED);
    this.arrivals = eventsOf(recording, ARRIVES);
    this.toldBefore = toldBefore(recording, this.lives.queue, this.queues);
    this.next = new Int32Array(this.packets).fill(NONE);
    this.previous = new Int32Array(this.packets).fill(NONE);
    this.head = new Int32Array(this.queues).fill(NONE);
    this.tail = new Int32Array(this.queues).fill(NONE);
    this.counts = new Float64Array(this.classes * PER_CLASS);
    this.lengths = new Float64Array(this.queues * 2);
    this.told = new Int32Array(this.queues).fill(NONE);
    this.keepCheckpoint();
    for (let event = 0; event < recording.count; event++) {
      this.forward();
      if ((event + 1) % spacing === 0) {
        this.keepCheckpoint();
      }
    }
    this.goTo(NONE);
  }

  /** The last event that has happened; -1 before the first. */
  get event(): number {
    return this.at;
  }

  /** Time up to which the recording tells everything, s. */
  get end(): number {
    return endOf(this.recording);
  }

  /** The last event at or before `time`; -1 if there is none. */
  eventAt(time: number): number {
    return upTo(this.recording.time, this.recording.count, time) - 1;
  }

  /** Time of an event, s; that of the begin (0) before the first. */
  timeOf(event: number): number {
    return event < 0 ? 0 : (this.recording.time[event] ?? this.end);
  }

  /** Goes to the state at `time` (s). */
  seek(time: number): void {
    this.goTo(this.eventAt(time));
  }

  /** Goes to the state after `event`; -1 is the state before the first. */
  goTo(event: number): void {
    const wanted = Math.max(NONE, Math.min(event, this.recording.count - 1));
    const nearest = Math.round((wanted + 1) / this.spacing);
    const from = Math.min(nearest, this.checkpoints.length - 1);
    const away = Math.abs(from * this.spacing - 1 - wanted);
    if (Math.abs(wanted - this.at) > away) {
      this.restore(from);
    }
    while (this.at < wanted) {
      this.forward();
    }
    while (this.at > wanted) {
      this.backward();
    }
  }

  /** The event after (`by` = 1) or before (-1) the present one of the given kinds; -1 if none. */
  neighbor(by: 1 | -1, kinds: readonly number[] = [ARRIVES, LEAVES, DROPPED]): number {
    const { kind, count } = this.recording;
    let event = this.at + (by > 0 ? 1 : -1);
    while (event >= 0 && event < count && !kinds.includes(kind[event] ?? ARRIVES)) {
      event += by;
    }
    return event >= 0 && event < count ? event : NONE;
  }

  /** When something happens next after `time`, or last before it, s; the ends beyond. */
  timeBeside(time: number, onward: boolean): number {
    const { recording } = this;
    let event = this.eventAt(time);
    if (onward) {
      return event + 1 < recording.count ? this.timeOf(event + 1) : this.end;
    }
    // What happens at one time is one step.
    while (event >= 0 && this.timeOf(event) >= time) {
      event -= 1;
    }
    return this.timeOf(event);
  }

  /** Packets that wait in `queue`. */
  waitingPackets(queue: number): number {
    return this.lengths[queue * 2] ?? 0;
  }

  /** Bytes that wait in `queue`. */
  waitingBytes(queue: number): number {
    return this.lengths[queue * 2 + 1] ?? 0;
  }

  /** Packets that wait in all queues. */
  get waitingAll(): number {
    let sum = 0;
    for (let queue = 0; queue < this.queues; queue++) {
      sum += this.waitingPackets(queue);
    }
    return sum;
  }

  /** The packet of `queue` that came first of those that wait; -1 if none does. */
  first(queue: number): number {
    return this.head[queue] ?? NONE;
  }

  /** The packet of `queue` that came last; -1 if none waits. */
  lastOf(queue: number): number {
    return this.tail[queue] ?? NONE;
  }

  /** The packet that came to the same queue after this one and waits, too; -1 if none. */
  after(packet: number): number {
    return this.next[packet] ?? NONE;
  }

  /** The packets that wait in `queue`, oldest first. */
  waiting(queue: number): number[] {
    const found: number[] = [];
    for (let packet = this.first(queue); packet !== NONE; packet = this.after(packet)) {
      found.push(packet);
    }
    return found;
  }

  /** Packets that wait, by class. */
  waitingByClass(): number[] {
    const found = new Array<number>(this.classes).fill(0);
    for (let cls = 0; cls < this.classes; cls++) {
      const { arrived, left, dropped } = this.countsOf(cls);
      found[cls] = arrived - left - dropped;
    }
    return found;
  }

  /** What has happened to the packets of a class so far. */
  countsOf(cls: number): Counts {
    const at = cls * PER_CLASS;
    return {
      arrived: this.counts[at + ARRIVES] ?? 0,
      left: this.counts[at + LEAVES] ?? 0,
      dropped: this.counts[at + DROPPED] ?? 0,
      marked: this.counts[at + MARKED] ?? 0,
    };
  }

  /** What has happened to all packets so far. */
  totals(): Counts {
    const sum = { arrived: 0, left: 0, dropped: 0, marked: 0 };
    for (let cls = 0; cls < this.classes; cls++) {
      const one = this.countsOf(cls);
      sum.arrived += one.arrived;
      sum.left += one.left;
      sum.dropped += one.dropped;
      sum.marked += one.marked;
    }
    return sum;
  }

  /** The average that the AQM of `queue` keeps, in packets; NaN where there is none. */
  average(queue: number): number {
    return this.recording.average[this.told[queue] ?? NONE] ?? Number.NaN;
  }

  /** The drop or mark probability of the AQM of `queue`; NaN where there is none. */
  probability(queue: number): number {
    return this.recording.probability[this.told[queue] ?? NONE] ?? Number.NaN;
  }

  /** The event that began the transmission that goes on at `time`, and how much of it is done. */
  transmission(time: number): { event: number; fraction: number } | null {
    const event = this.lastLeave(time);
    if (event === NONE) {
      return null;
    }
    const begin = this.timeOf(event);
    const until = this.recording.until[event] ?? begin;
    return time < until ? { event, fraction: (time - begin) / (until - begin) } : null;
  }

  /** The last event at or before `time` that began a transmission; -1 if none. */
  lastLeave(time: number): number {
    const { time: times } = this.recording;
    return this.leaves[countUpTo(this.leaves, times, time) - 1] ?? NONE;
  }

  /** Events of `list` (`leaves`, `drops` or `arrivals`) within (from, to], as a range of it. */
  within(list: Int32Array, from: number, to: number): [number, number] {
    const { time } = this.recording;
    return [countUpTo(list, time, from), countUpTo(list, time, to)];
  }

  /** Everything about a packet. */
  packet(number: number): Packet {
    const { recording, lives } = this;
    const first = lives.first[number] ?? NONE;
    const last = lives.last[number] ?? NONE;
    const mark = lives.mark[number] ?? NONE;
    const any = first !== NONE ? first : last !== NONE ? last : mark;
    const leaves = last !== NONE && recording.kind[last] === LEAVES;
    const drops = last !== NONE && recording.kind[last] === DROPPED;
    return {
      number,
      flow: recording.flow[any] ?? 0,
      cls: recording.cls[any] ?? 0,
      queue: lives.queue[number] ?? 0,
      bytes: recording.bytes[any] ?? 0,
      arrived: first === NONE ? Number.NaN : this.timeOf(first),
      left: leaves ? this.timeOf(last) : Number.NaN,
      until: leaves ? (recording.until[last] ?? Number.NaN) : Number.NaN,
      dropped: drops ? this.timeOf(last) : Number.NaN,
      reason: drops ? (recording.reason[last] ?? 255) : NONE,
      marked: mark === NONE ? Number.NaN : this.timeOf(mark),
    };
  }

  /** Event with which a packet arrived. */
  arrivalOf(packet: number): number {
    return this.lives.first[packet] ?? NONE;
  }

  /** Event with which a packet left or was dropped; -1 if it waits to the end. */
  fateOf(packet: number): number {
    return this.lives.last[packet] ?? NONE;
  }

  /** Whether a packet has been marked by the present event. */
  isMarked(packet: number): boolean {
    const mark = this.lives.mark[packet] ?? NONE;
    return mark !== NONE && mark <= this.at;
  }

  /** The queue that a packet waits in, or would have. */
  queueOf(packet: number): number {
    return this.lives.queue[packet] ?? 0;
  }

  bytesOf(packet: number): number {
    return this.recording.bytes[this.anyEventOf(packet)] ?? 0;
  }

  classOf(packet: number): number {
    return this.recording.cls[this.anyEventOf(packet)] ?? 0;
  }

  flowOf(packet: number): number {
    return this.recording.flow[this.anyEventOf(packet)] ?? 0;
  }

  /** An event of a packet, its first if it is recorded. */
  anyEventOf(packet: number): number {
    const first = this.lives.first[packet] ?? NONE;
    return first !== NONE ? first : (this.lives.last[packet] ?? NONE);
  }

  private forward(): void {
    this.at += 1;
    const event = this.at;
    const kind = this.recording.kind[event] ?? ARRIVES;
    const packet = this.recording.packet[event] ?? 0;
    this.count(event, kind, 1);
    if (kind === ARRIVES) {
      this.insert(packet);
    } else if (kind !== MARKED && this.arrivalOf(packet) !== NONE) {
      this.remove(packet);
    }
    if (this.tells(event)) {
      this.told[this.queueOf(packet)] = event;
    }
  }

  private backward(): void {
    const event = this.at;
    const kind = this.recording.kind[event] ?? ARRIVES;
    const packet = this.recording.packet[event] ?? 0;
    this.count(event, kind, -1);
    if (kind === ARRIVES) {
      this.remove(packet);
    } else if (kind !== MARKED && this.arrivalOf(packet) !== NONE) {
      this.insert(packet);
    }
    if (this.tells(event)) {
      this.told[this.queueOf(packet)] = this.toldBefore[event] ?? NONE;
    }
    this.at -= 1;
  }

  private tells(event: number): boolean {
    return tells(this.recording, event);
  }

  private count(event: number, kind: number, by: number): void {
    const at = (this.recording.cls[event] ?? 0) * PER_CLASS + kind;
    this.counts[at] = (this.counts[at] ?? 0) + by;
  }

  /** Puts a packet into its queue, whose packets stand by number: from the end that is nearer. */
  private insert(packet: number): void {
    const queue = this.queueOf(packet);
    let before = this.tail[queue] ?? NONE;
    let behind = NONE;
    const head = this.head[queue] ?? NONE;
    if (head !== NONE && packet - head < before - packet) {
      behind = head;
      while (behind !== NONE && behind < packet) {
        behind = this.after(behind);
      }
      before = behind === NONE ? (this.tail[queue] ?? NONE) : (this.previous[behind] ?? NONE);
    } else {
      while (before > packet) {
        before = this.previous[before] ?? NONE;
      }
      behind = before === NONE ? head : this.after(before);
    }
    this.link(queue, before, packet);
    this.link(queue, packet, behind);
    this.lengthen(packet, 1);
  }

  private remove(packet: number): void {
    const before = this.previous[packet] ?? NONE;
    this.link(this.queueOf(packet), before, this.after(packet));
    this.lengthen(packet, -1);
  }

  private link(queue: number, before: number, behind: number): void {
    if (before === NONE) {
      this.head[queue] = behind;
    } else {
      this.next[before] = behind;
    }
    if (behind === NONE) {
      this.tail[queue] = before;
    } else {
      this.previous[behind] = before;
    }
  }

  private lengthen(packet: number, by: 1 | -1): void {
    const at = this.queueOf(packet) * 2;
    this.lengths[at] = (this.lengths[at] ?? 0) + by;
    this.lengths[at + 1] = (this.lengths[at + 1] ?? 0) + by * this.bytesOf(packet);
  }

  private keepCheckpoint(): void {
    const waiting = new Int32Array(this.waitingAll);
    let filled = 0;
    for (let queue = 0; queue < this.queues; queue++) {
      for (let packet = this.first(queue); packet !== NONE; packet = this.after(packet)) {
        waiting[filled++] = packet;
      }
    }
    this.checkpoints.push({
      waiting: waiting.sort(),
      counts: this.counts.slice(),
      lengths: this.lengths.slice(),
      told: this.told.slice(),
    });
  }

  private restore(index: number): void {
    const kept = this.checkpoints[index] as Checkpoint;
    this.head.fill(NONE);
    this.tail.fill(NONE);
    for (const packet of kept.waiting) {
      const queue = this.queueOf(packet);
      this.link(queue, this.tail[queue] ?? NONE, packet);
      this.link(queue, packet, NONE);
    }
    this.counts = kept.counts.slice();
    this.lengths = kept.lengths.slice();
    this.told = kept.told.slice();
    this.at = index * this.spacing - 1;
  }
}
