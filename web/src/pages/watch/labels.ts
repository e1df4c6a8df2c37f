/** What is written at the lanes, and the token buckets under them. */

import type { Lane } from "./lanes";
import { BUCKETS } from "./layout";
import type { Scene } from "./scene";

type Context = CanvasRenderingContext2D;

/** Name, backlog and AQM of each lane, its ticks, and how many packets have no room. */
export function drawLabels(context: Context, scene: Scene, hidden: number[]): void {
  const { layout, words } = scene;
  scene.lanes.forEach((lane, at) => {
    const { top, height } = layout.lanes[at] ?? { top: 0, height: 0 };
    context.textBaseline = "alphabetic";
    ticks(context, scene, lane, top, height);
    needle(context, scene, lane, top, height);
    header(context, scene, lane, at, top);
    if (hidden[at]) {
      overflow(context, scene, words.more(hidden[at] ?? 0), top, height);
    }
  });
}

/** Name and limit of a lane at the left, what waits and its AQM at the right, as there is room. */
function header(context: Context, scene: Scene, lane: Lane, at: number, top: number): void {
  const { layout, look, words } = scene;
  const waiting = lane.queues.reduce((sum, q) => sum + scene.replay.waitingPackets(q), 0);
  const told = [...aqm(context, scene, lane, at), words.packets(waiting)];
  const room = layout.right - layout.left - 12;
  context.textAlign = "left";
  context.font = `600 12px ${look.font}`;
  const name = cut(context, lane.name, room * 0.6);
  const nameWidth = context.measureText(name).width + 8;
  context.fillStyle = look.ink;
  context.fillText(name, layout.left, top - 5);
  context.font = `12px ${look.font}`;
  while (told.length > 1 && context.measureText(told.join("  ·  ")).width > room - nameWidth) {
    told.shift();
  }
  const right = told.join("  ·  ");
  const left = room - nameWidth - context.measureText(right).width;
  context.textAlign = "right";
  context.fillText(right, layout.right, top - 5);
  const limit = lane.limit ? words.limit(lane.limit) : "";
  if (limit && context.measureText(limit).width < left) {
    context.textAlign = "left";
    context.fillStyle = look.soft;
    context.fillText(limit, layout.left + nameWidth, top - 5);
  }
}

function overflow(context: Context, scene: Scene, text: string, top: number, height: number): void {
  const { left } = scene.layout;
  context.font = `600 11px ${scene.look.font}`;
  const width = context.measureText(text).width + 8;
  context.fillStyle = scene.look.paper;
  context.fillRect(left, top + 4, width, height - 8);
  context.fillStyle = scene.look.ink;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(text, left + 4, top + height / 2);
}

function ticks(context: Context, scene: Scene, lane: Lane, top: number, height: number): void {
  const { layout, look } = scene;
  context.font = `11px ${look.font}`;
  context.textAlign = "center";
  for (const { name, bytes, limit } of lane.ticks) {
    const x = layout.right - bytes * scene.scale;
    if (x < layout.left - 1) {
      continue;
    }
    context.fillStyle = limit ? look.ink : look.unsure;
    context.fillRect(x - 1, top - 3, 2, height + 6);
    if (!limit) {
      context.fillText(name, Math.max(x, layout.left + 24), top + height + 13);
    }
  }
}

/** The average that the AQM keeps, as a needle under the lane at the place of so many packets. */
function needle(context: Context, scene: Scene, lane: Lane, top: number, height: number): void {
  const average = averageOf(scene, lane);
  if (Number.isNaN(average)) {
    return;
  }
  const bytes = average * lane.meanBytes * scene.scale;
  const x = Math.max(scene.layout.left, scene.layout.right - bytes);
  context.fillStyle = scene.look.accent;
  context.beginPath();
  context.moveTo(x, top + height - 4);
  context.lineTo(x - 5, top + height + 6);
  context.lineTo(x + 5, top + height + 6);
  context.closePath();
  context.fill();
}

function averageOf(scene: Scene, lane: Lane): number {
  return lane.queues.length === 1 ? scene.replay.average(lane.queues[0] ?? 0) : Number.NaN;
}

/** The AQM in words, and its probability as a bar before them. */
function aqm(context: Context, scene: Scene, lane: Lane, at: number): string[] {
  const average = averageOf(scene, lane);
  const queue = lane.queues[0] ?? 0;
  const probability = lane.queues.length === 1 ? scene.replay.probability(queue) : Number.NaN;
  const told: string[] = [];
  if (!Number.isNaN(probability)) {
    told.push(scene.words.probability(percent(probability)));
    gauge(context, scene, at, probability);
  }
  if (!Number.isNaN(average)) {
    told.push(scene.words.average(average.toFixed(1)));
  }
  return told;
}

/** The probability as a bar at the entrance of the lane, upwards from 0 to 1 by its square root. */
function gauge(context: Context, scene: Scene, at: number, probability: number): void {
  const place = scene.layout.lanes[at] ?? { top: 0, height: 0 };
  const x = scene.layout.left - 8;
  const filled = place.height * Math.sqrt(Math.max(0, Math.min(1, probability)));
  context.fillStyle = scene.look.line;
  context.fillRect(x, place.top, 5, place.height);
  context.fillStyle = scene.look.bad;
  context.fillRect(x, place.top + place.height - filled, 5, filled);
}

/** Token buckets as vessels, in rows under the lanes. */
export function drawVessels(context: Context, scene: Scene): void {
  const { look, layout } = scene;
  const columns = Math.max(1, Math.floor(layout.width / 130));
  scene.buckets.forEach(({ name, level, most }, at) => {
    const x = 8 + (at % columns) * 130;
    const top = layout.buckets + 8 + Math.floor(at / columns) * BUCKETS;
    const filled = Math.max(0, Math.min(1, level / most)) * 40;
    context.fillStyle = look.accent;
    context.fillRect(x + 1, top + 40 - filled, 22, filled);
    context.strokeStyle = look.strong;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x, top);
    context.lineTo(x, top + 41);
    context.lineTo(x + 24, top + 41);
    context.lineTo(x + 24, top);
    context.stroke();
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    context.fillStyle = look.ink;
    context.font = `600 12px ${look.font}`;
    context.fillText(cut(context, name, 94), x + 31, top + 16);
    context.font = `12px ${look.font}`;
    context.fillStyle = look.soft;
    context.fillText(scene.words.bytes(level), x + 31, top + 33);
  });
}

/** A ratio in percent with two digits that count. */
function percent(ratio: number): string {
  const value = ratio * 100;
  return `${value >= 10 || value === 0 ? value.toFixed(0) : value.toPrecision(2)} %`;
}

/** `text`, or as much of it as has room, with an ellipsis. */
function cut(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) {
    return text;
  }
  let kept = text.length - 1;
  while (kept > 0 && context.measureText(`${text.slice(0, kept)}…`).width > room) {
    kept -= 1;
  }
  return `${text.slice(0, kept)}…`;
}
