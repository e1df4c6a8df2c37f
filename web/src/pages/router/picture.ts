/** A policy as a picture: what is drawn where, before anything is drawn. */

import type { Outline } from "../../engine/api";

/** A class, or a policy that holds classes. Shares are of the line's rate, 0 to 1. */
export interface Band {
  depth: number;
  name: string;
  /** Whether classes stand inside. */
  holds: boolean;
  condition: string;
  /** Sent before all others; `level` says in which order. */
  level: number | null;
  guaranteed: number | null;
  /** Most that a shaper lets out, and that a policer lets in. */
  shaped: number | null;
  policed: number | null;
  /** Sentences about it. */
  notes: string[];
  /** Number of the class among those that hold packets; -1 of what holds classes. */
  index: number;
}

interface Bucket {
  rate?: number | null;
  words?: string;
}

const bucket = (x: unknown): Bucket | null => (typeof x === "object" && x !== null ? x : null);

/** Sentences about what a class gets, where its packets wait and who drops them. */
export function notesOf(o: Outline): string[] {
  const asked = o.asked === "" ? "" : ` (${o.asked})`;
  const queue = o.limit === "" ? "" : `queue limit ${o.limit}`;
  return [
    o.promise === "" ? o.asked : `${o.promise}${asked}`,
    bucket(o.shape)?.words ?? "",
    bucket(o.priority_policer)?.words ?? "",
    bucket(o.police)?.words ?? "",
    queue,
    typeof o.aqm === "string" ? `AQM ${o.aqm}` : "",
    o.flows === "" ? "" : `fair queue: ${o.flows}`,
  ].filter((note) => note !== "");
}

/** The bands of a policy from the top, each below what holds it. `line` in b/s. */
export function bandsOf(policy: Outline | null, line: number): Band[] {
  const bands: Band[] = [];
  const share = (rate: number | null | undefined) =>
    typeof rate === "number" && line > 0 ? Math.min(1, Math.max(0, rate / line)) : null;
  let leaves = 0;
  const visit = (o: Outline, depth: number) => {
    const holds = o.classes.length > 0;
    const policed = bucket(o.police)?.rate ?? bucket(o.priority_policer)?.rate;
    bands.push({
      depth,
      name: o.name,
      holds,
      condition: o.condition,
      level: o.level,
      guaranteed: share(o.guaranteed),
      shaped: share(bucket(o.shape)?.rate),
      policed: share(policed),
      notes: notesOf(o),
      index: holds ? -1 : leaves++,
    });
    for (const c of o.classes) visit(c, depth + 1);
  };
  if (policy === null) return [];
  // The policy itself is the heading, unless it is one queue.
  if (policy.classes.length === 0) visit(policy, 0);
  for (const c of policy.classes) visit(c, 0);
  return bands;
}

/** The most sentences of a class that are drawn; the text beside has all. */
const NOTES = 4;

export interface Placed {
  band: Band;
  x: number;
  y: number;
  height: number;
  /** Where the bar stands, and how wide the whole line is in it. */
  bar: { x: number; y: number; width: number };
  title: string;
  condition: string;
  notes: { x: number; y: number; text: string }[];
}

export interface Picture {
  width: number;
  height: number;
  /** Where the axis of the line's rate begins, and how wide it is. */
  axis: { x: number; width: number };
  placed: Placed[];
  wide: boolean;
}

const LINE = 16;
const BAR = 14;
export const AXIS = 34;

/** Characters of small type that fit in some pixels. */
export function fitted(text: string, pixels: number, each = 6.4): string {
  const room = Math.max(4, Math.floor(pixels / each));
  return text.length <= room ? text : `${text.slice(0, room - 1)}…`;
}

/** A text in lines that fit; what does not fit in `most` lines is cut. */
export function broken(text: string, pixels: number, most: number): string[] {
  const room = Math.max(8, Math.floor(pixels / 6.4));
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  lines.push(line);
  if (lines.length > most) lines[most - 1] = `${lines[most - 1]} …`;
  return lines.slice(0, most).map((l) => fitted(l, pixels));
}

/** Places bands in a width: names, bars and sentences side by side, or below each other. */
export function place(bands: readonly Band[], width: number): Picture {
  const wide = width >= 760;
  const deepest = Math.max(0, ...bands.map((b) => b.depth));
  const left = wide ? Math.min(260, width * 0.22) + deepest * 12 : 8 + deepest * 12;
  const barWidth = wide ? Math.round((width - left) * 0.42) : width - left - 8;
  const axis = { x: left, width: barWidth };
  let y = AXIS;
  const placed = bands.map((band) => {
    const x = 4 + band.depth * 12;
    const room = wide ? left - x - 20 : width - x - 8;
    const noteX = wide ? left + barWidth + 20 : x + 8;
    const noteRoom = width - noteX - 4;
    const texts = band.notes
      .slice(0, NOTES)
      .flatMap((n) => broken(n, noteRoom, 2))
      .slice(0, wide ? 5 : 6);
    const condition = band.condition === "" ? [] : broken(band.condition, room, 2);
    const names = LINE + condition.length * LINE;
    const barY = wide ? y + 4 : y + names + 2;
    const noteY = wide ? y : barY + BAR + 4;
    const notes = texts.map((text, i) => ({ x: noteX, y: noteY + 12 + i * LINE, text }));
    const bottom = Math.max(y + names, barY + BAR, noteY + texts.length * LINE);
    const one = {
      band,
      x,
      y,
      height: bottom - y + 8,
      bar: { x: left, y: barY, width: barWidth },
      title: fitted(band.name, room, 8.2),
      condition: condition.join("\n"),
      notes,
    };
    y = bottom + 12;
    return one;
  });
  return { width, height: y + 4, axis, placed, wide };
}
