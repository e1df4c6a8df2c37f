/** What is drawn of a port at one time. */

import type { Lane } from "./lanes";
import { type Layout, ROOMY } from "./layout";
import type { Fills, Look } from "./look";
import type { Replay } from "./model";

/** Pixels of a byte on the line. */
export const ROOMY_LINE = ROOMY;

/** A token bucket: how full it is, in bytes. */
export interface Bucket {
  name: string;
  level: number;
  most: number;
}

/** The words on the picture. */
export interface DrawnWords {
  packets(count: number): string;
  average(packets: string): string;
  probability(percent: string): string;
  more(count: number): string;
  limit(limit: string): string;
  reason(name: string): string;
  bytes(count: number): string;
  rate: string;
  idle: string;
}

export interface Scene {
  replay: Replay;
  lanes: readonly Lane[];
  layout: Layout;
  look: Look;
  fills: Fills;
  /** s */
  time: number;
  /** Seconds of the scenario in one of ours. */
  pace: number;
  /** Pixels of a byte that waits, and on the line. */
  scale: number;
  lineScale: number;
  /** Nothing glides. */
  still: boolean;
  /** Color, texture and letter of a packet: index of its class or flow. */
  keyOf: (packet: number) => number;
  letters: readonly string[];
  buckets: readonly Bucket[];
  /** A packet that is pointed out; -1 for none. */
  selected: number;
  words: DrawnWords;
}
