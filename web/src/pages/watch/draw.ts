/**
 * The picture of a port at one time. Everything follows from the time and the recording, so that it
 * is the same whichever way one comes there: packets come in from the left, wait in lanes whose
 * heads are at the right, and drain through the scheduler over the line at its rate.
 */

import { drawLabels, drawVessels } from "./labels";
import { Boxes } from "./layout";
import { colorOf, onColorOf } from "./look";
import { NONE } from "./model";
import type { Scene } from "./scene";

/** Seconds of ours that a packet takes to come to its queue, and to fall. */
const COMES_S = 0.45;
const FALLS_S = 0.9;
/** More than these at once are not shown to come or to fall. */
const MOST_MOVING = 80;

/** Rectangles by class, so that each fill is set once. */
class Batches {
  private readonly wide: number[][] = [];
  private readonly thin: number[][] = [];

  add(key: number, x: number, y: number, width: number, height: number): void {
    const rows = width >= 6 ? this.wide : this.thin;
    let row = rows[key];
    if (!row) {
      row = [];
      rows[key] = row;
    }
    row.push(x, y, width, height);
  }

  fill(context: CanvasRenderingContext2D, { look, fills }: Scene): void {
    this.wide.forEach((row, key) => {
      fillAll(context, row, fills.of(key));
    });
    this.thin.forEach((row, key) => {
      fillAll(context, row, colorOf(look, key));
    });
  }
}

function fillAll(
  context: CanvasRenderingContext2D,
  row: number[],
  style: CanvasPattern | string,
): void {
  if (row.length === 0) {
    return;
  }
  context.fillStyle = style;
  for (let i = 0; i < row.length; i += 4) {
    context.fillRect(row[i] ?? 0, row[i + 1] ?? 0, row[i + 2] ?? 0, row[i + 3] ?? 0);
  }
  row.length = 0;
}

/** A packet that is wide enough for its letter. */
type Lettered = [key: number, x: number, y: number];

export class Painter {
  readonly boxes = new Boxes();
  private readonly batches = new Batches();
  private lettered: Lettered[] = [];
  private notches: number[] = [];
  private scene!: Scene;
  private readonly laneOf: number[] = [];

  constructor(private readonly context: CanvasRenderingContext2D) {}

  /** Draws the picture of `scene`, whose replay must be at its time. */
  draw(scene: Scene): void {
    const { context } = this;
    const { width, height } = scene.layout;
    const { ratio, paper } = scene.look;
    this.scene = scene;
    this.boxes.clear();
    this.lettered.length = 0;
    this.notches.length = 0;
    scene.lanes.forEach((lane, at) => {
      for (const queue of lane.queues) {
        this.laneOf[queue] = at;
      }
    });
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.globalAlpha = 1;
    context.fillStyle = paper;
    context.fillRect(0, 0, width, height);
    const sending = scene.replay.transmission(scene.time);
    const chosen = sending ? this.lane(this.packetOf(sending.event)) : NONE;
    this.tracks(chosen);
    this.scheduler(chosen, sending?.event ?? NONE);
    this.line(sending === null);
    const hidden = scene.lanes.map((_, at) => this.waiting(at, at === chosen ? sending : null));
    this.sent();
    this.coming();
    this.batches.fill(context, scene);
    this.finish();
    this.falling();
    drawLabels(context, scene, hidden);
    drawVessels(context, scene);
    this.select();
  }

  private lane(packet: number): number {
    return this.laneOf[this.scene.replay.queueOf(packet)] ?? 0;
  }

  private packetOf(event: number): number {
    return this.scene.replay.recording.packet[event] ?? NONE;
  }

  private tracks(chosen: number): void {
    const { context, scene } = this;
    const { left, right, lanes } = scene.layout;
    lanes.forEach(({ top, height }, at) => {
      context.fillStyle = scene.look.sunk;
      context.fillRect(left, top, right - left, height);
      context.strokeStyle = at === chosen ? scene.look.accent : scene.look.line;
      context.lineWidth = at === chosen ? 2 : 1;
      context.beginPath();
      context.moveTo(left, top - 0.5);
      context.lineTo(right, top - 0.5);
      context.moveTo(left, top + height + 0.5);
      context.lineTo(right, top + height + 0.5);
      context.stroke();
    });
  }

  /** The ways from the lanes to the line: that of the packet that is sent in its color. */
  private scheduler(chosen: number, event: number): void {
    const { context, scene } = this;
    const { right, line, lanes, middle } = scene.layout;
    const way = (at: number) => {
      const y = (lanes[at]?.top ?? 0) + (lanes[at]?.height ?? 0) / 2;
      context.beginPath();
      context.moveTo(right, y);
      context.bezierCurveTo((right + line) / 2, y, (right + line) / 2, middle, line, middle);
      context.stroke();
    };
    context.lineWidth = 1.5;
    context.strokeStyle = scene.look.line;
    lanes.forEach((_, at) => {
      way(at);
    });
    if (chosen !== NONE) {
      context.lineWidth = 6;
      context.strokeStyle = colorOf(scene.look, scene.keyOf(this.packetOf(event)));
      way(chosen);
      context.lineWidth = 2;
      context.strokeStyle = scene.look.paper;
      context.setLineDash([3, 4]);
      context.lineDashOffset = scene.still ? 0 : -((scene.time / scene.pace) * 40) % 7;
      way(chosen);
      context.setLineDash([]);
    }
  }

  private line(idle: boolean): void {
    const { context, scene } = this;
    const { line, width, middle } = scene.layout;
    context.fillStyle = scene.look.sunk;
    context.fillRect(line, middle - 13, width - line, 26);
    context.fillStyle = scene.look.strong;
    context.fillRect(line, middle - 14, width - line, 1.5);
    context.fillRect(line, middle + 12.5, width - line, 1.5);
    context.fillStyle = scene.look.soft;
    context.font = `12px ${scene.look.font}`;
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    context.fillText(idle ? scene.words.idle : scene.words.rate, line + 2, middle - 19);
  }

  /**
   * The packets of a lane, oldest at the right, behind what is left of the one that is sent. Where
   * they are thinner than a pixel each pixel has the color of one of them. Returns how many have no
   * room.
   */
  private waiting(at: number, sending: { event: number; fraction: number } | null): number {
    const { replay, scale, layout, keyOf, lanes } = this.scene;
    const { top, height } = layout.lanes[at] ?? { top: 0, height: 0 };
    let x = layout.right;
    if (sending !== null) {
      const packet = this.packetOf(sending.event);
      const length = replay.bytesOf(packet) * scale;
      const rest = this.scene.still ? length : length * (1 - sending.fraction);
      this.packet(packet, x - rest, top, rest, height);
      x -= rest;
    }
    let [pixel, run, runEnd, hidden] = [Math.ceil(x), NONE, x, 0];
    for (const queue of lanes[at]?.queues ?? []) {
      let packet = replay.first(queue);
      for (; packet !== NONE; packet = replay.after(packet)) {
        const length = replay.bytesOf(packet) * scale;
        x -= length;
        if (x < layout.left) {
          hidden += 1;
        } else if (length >= 2) {
          this.packet(packet, x, top, length, height);
        } else if (Math.ceil(x) < pixel) {
          // Runs of one class are one rectangle.
          const key = keyOf(packet);
          if (key !== run) {
            this.stripe(run, pixel, runEnd, top, height);
            [run, runEnd] = [key, pixel];
          }
          pixel = Math.ceil(x);
          this.boxes.add(packet, pixel, top, 1, height);
        }
      }
    }
    this.stripe(run, pixel, runEnd, top, height);
    return hidden;
  }

  private stripe(key: number, from: number, to: number, top: number, height: number): void {
    if (key !== NONE && to > from) {
      this.batches.add(key, from, top + 2, to - from, height - 4);
    }
  }

  /** One packet, with a gap before the next, its letter if there is room, a notch if marked. */
  private packet(packet: number, x: number, top: number, length: number, height: number): void {
    const key = this.scene.keyOf(packet);
    const width = length - Math.min(1, length / 4);
    this.batches.add(key, x, top + 2, width, height - 4);
    this.boxes.add(packet, x, top, length, height);
    if (width >= 14) {
      this.lettered.push([key, x + width / 2, top + height / 2]);
    }
    if (width >= 2 && this.scene.replay.isMarked(packet)) {
      this.notches.push(x, top + 2, width);
    }
  }

  /** What was sent, on its way over the line as far as its rate carries it. */
  private sent(): void {
    const { replay, layout, lineScale, time } = this.scene;
    const { recording } = replay;
    const speed = (lineScale * recording.rate) / 8;
    const window = (layout.width - layout.line) / speed;
    const [, end] = replay.within(replay.leaves, time, time);
    for (let i = end - 1; i >= 0; i--) {
      const event = replay.leaves[i] ?? NONE;
      const until = recording.until[event] ?? 0;
      if (time - until > window) {
        break;
      }
      const from = layout.line + Math.max(0, time - until) * speed;
      const to = Math.min(layout.width, layout.line + (time - replay.timeOf(event)) * speed);
      if (to > from) {
        this.packet(this.packetOf(event), from, layout.middle - 13, to - from, 26);
      }
    }
  }

  /** What will arrive within a moment, on its way to the end of its queue. */
  private coming(): void {
    const { replay, layout, scale, time, pace, still, lanes } = this.scene;
    if (still) {
      return;
    }
    const window = COMES_S * pace;
    const [first, end] = replay.within(replay.arrivals, time, time + window);
    if (end - first > MOST_MOVING) {
      return;
    }
    for (let i = first; i < end; i++) {
      const event = replay.arrivals[i] ?? NONE;
      const packet = this.packetOf(event);
      const at = this.lane(packet);
      const lane = layout.lanes[at] ?? { top: 0, height: 0 };
      const length = replay.bytesOf(packet) * scale;
      const bytes = (lanes[at]?.queues ?? []).reduce((sum, q) => sum + replay.waitingBytes(q), 0);
      const tail = Math.max(layout.left, layout.right - bytes * scale) - length;
      const done = 1 - (replay.timeOf(event) - time) / window;
      const x = -length + (tail + length) * done;
      // It has found its lane when it comes to where lanes begin.
      const turned = Math.max(0, Math.min(1, (x + length / 2) / layout.left));
      const y = layout.middle + (lane.top + lane.height / 2 - layout.middle) * turned;
      this.packet(packet, x, y - lane.height / 2, Math.max(length, 1.5), lane.height);
    }
  }

  /** Letters and notches, over the packets. */
  private finish(): void {
    const { context, scene } = this;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.font = `600 11px ${scene.look.font}`;
    for (const [key, x, y] of this.lettered) {
      context.fillStyle = onColorOf(scene.look, key);
      context.fillText(scene.letters[key] ?? "", x, y + 0.5);
    }
    context.fillStyle = scene.look.ink;
    context.strokeStyle = scene.look.paper;
    context.lineWidth = 1;
    for (let i = 0; i < this.notches.length; i += 3) {
      const [x = 0, top = 0, width = 0] = this.notches.slice(i, i + 3);
      const half = Math.min(5, width / 2);
      context.beginPath();
      context.moveTo(x + width / 2 - half, top);
      context.lineTo(x + width / 2 + half, top);
      context.lineTo(x + width / 2, top + 7);
      context.closePath();
      context.fill();
      context.stroke();
    }
  }

  /** What was dropped a moment ago: it falls and fades, with a cross and, the last one, the reason. */
  private falling(): void {
    const { context, scene } = this;
    const { replay, time, pace, look, still } = scene;
    const window = FALLS_S * pace;
    const [begin, end] = replay.within(replay.drops, time - window, time);
    for (let i = Math.max(begin, end - MOST_MOVING); i < end; i++) {
      const event = replay.drops[i] ?? NONE;
      const packet = this.packetOf(event);
      const age = (time - replay.timeOf(event)) / window;
      const [x, y, width, height] = this.dropPlace(packet, event);
      const fallen = still ? 14 : 4 + 34 * age * age + 10 * age;
      context.globalAlpha = 1 - age * age;
      context.fillStyle = colorOf(look, scene.keyOf(packet));
      context.fillRect(x, y + fallen, width, height);
      context.strokeStyle = look.bad;
      context.lineWidth = 2;
      cross(context, x + width / 2, y + fallen + height / 2, 5);
      this.boxes.add(packet, x, y + fallen, width, height);
      if (i === end - 1) {
        this.reason(event, x, width);
      }
    }
    context.globalAlpha = 1;
  }

  /** Why a packet was dropped, under its lane and beside its cross. */
  private reason(event: number, x: number, width: number): void {
    const { context, scene } = this;
    const { recording } = scene.replay;
    const lane = scene.layout.lanes[this.lane(this.packetOf(event))];
    const y = (lane?.top ?? 0) + (lane?.height ?? 0) + 11;
    const text = scene.words.reason(recording.reasons[recording.reason[event] ?? 255] ?? "");
    context.font = `600 12px ${scene.look.font}`;
    const wide = context.measureText(text).width;
    const fits = x + width + 10 + wide < scene.layout.width;
    const left = fits ? x + width + 8 : x - 8 - wide;
    context.fillStyle = scene.look.paper;
    context.fillRect(left - 2, y - 8, wide + 4, 16);
    context.fillStyle = scene.look.bad;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillText(text, left, y);
  }

  /** Where a packet was when it was dropped: at the end of its lane if it had just come. */
  private dropPlace(packet: number, event: number): [number, number, number, number] {
    const { replay, layout, scale, lanes } = this.scene;
    const at = this.lane(packet);
    const lane = layout.lanes[at] ?? { top: 0, height: 0 };
    const queues = lanes[at]?.queues ?? [];
    const width = Math.max(3, replay.bytesOf(packet) * scale);
    const bytes = queues.reduce((sum, queue) => sum + replay.waitingBytes(queue), 0);
    const tail = Math.max(layout.left, layout.right - bytes * scale) - width;
    const came = replay.packet(packet).arrived === replay.timeOf(event);
    const head = replay.first(replay.queueOf(packet));
    const x = came ? tail : head === NONE || packet < head ? layout.right - width : tail;
    return [Math.max(2, x), lane.top + 2, width, lane.height - 4];
  }

  private select(): void {
    const { context, scene } = this;
    const place = scene.selected === NONE ? null : this.boxes.placeOf(scene.selected);
    if (place) {
      const [x = 0, y = 0, width = 0, height = 0] = place;
      context.strokeStyle = scene.look.ink;
      context.lineWidth = 2;
      context.strokeRect(x - 2, y - 1, Math.max(3, width) + 3, height + 2);
    }
  }
}

function cross(context: CanvasRenderingContext2D, x: number, y: number, half: number): void {
  context.beginPath();
  context.moveTo(x - half, y - half);
  context.lineTo(x + half, y + half);
  context.moveTo(x + half, y - half);
  context.lineTo(x - half, y + half);
  context.stroke();
}
