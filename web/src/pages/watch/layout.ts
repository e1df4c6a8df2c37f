/** Where things stand on the picture, and which packet is at a place of it. */

import { NONE } from "./model";

/** Pixels of a byte where there is room: a full packet has 45. */
export const ROOMY = 0.03;

const HEADER = 17;
const TRACK = 26;
const FOOT = 13;
const TOP = 4;
/** Height of a row of token buckets. */
export const BUCKETS = 58;
export interface Layout {
  width: number;
  height: number;
  /** Where lanes begin, and where their heads are. */
  left: number;
  right: number;
  /** Where the line begins. */
  line: number;
  /** Middle of the line. */
  middle: number;
  lanes: { top: number; height: number }[];
  /** Where the row of token buckets begins; beyond the picture if there are none. */
  buckets: number;
}

export function layoutOf(width: number, lanes: number, buckets: number): Layout {
  const narrow = width < 560;
  const pitch = HEADER + TRACK + FOOT;
  const left = narrow ? 18 : 56;
  const line = Math.round(width * (narrow ? 0.72 : 0.78));
  const right = line - (narrow ? 26 : 54);
  const bottom = TOP + Math.max(1, lanes) * pitch;
  const rows = buckets === 0 ? 0 : Math.ceil(buckets / Math.max(1, Math.floor(width / 130)));
  return {
    width,
    height: bottom + rows * BUCKETS + 12,
    left,
    right,
    line,
    middle: TOP + HEADER + TRACK / 2 + ((Math.max(1, lanes) - 1) * pitch) / 2,
    lanes: Array.from({ length: lanes }, (_, at) => ({
      top: TOP + at * pitch + HEADER,
      height: TRACK,
    })),
    buckets: bottom,
  };
}

/** Where packets are on the picture, to tell which one is pointed at. */
export class Boxes {
  private readonly packets: number[] = [];
  private readonly places: number[] = [];

  clear(): void {
    this.packets.length = 0;
    this.places.length = 0;
  }

  add(packet: number, x: number, y: number, width: number, height: number): void {
    this.packets.push(packet);
    this.places.push(x, y, width, height);
  }

  /** The packet at a place, the topmost, or the next within 4 pixels; -1 if there is none. */
  at(x: number, y: number): number {
    let [found, nearest] = [NONE, 4];
    for (let i = this.packets.length - 1; i >= 0; i--) {
      const [left = 0, top = 0, width = 0, height = 0] = this.places.slice(i * 4, i * 4 + 4);
      const away = Math.max(left - x, x - left - width, top - y, y - top - height, 0);
      if (away < nearest) {
        [found, nearest] = [this.packets[i] ?? NONE, away];
      }
    }
    return found;
  }

  placeOf(packet: number): number[] | null {
    const at = this.packets.lastIndexOf(packet);
    return at < 0 ? null : this.places.slice(at * 4, at * 4 + 4);
  }
}
