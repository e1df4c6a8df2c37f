/** A recording as it is drawn: with its lanes, and the state at any time. */

import type { Description, Outline, PointBounds, Recording } from "../../engine/api";
import { type BucketCurve, bucketCurves } from "./curves";
import {
  type Fill,
  fillOf,
  type Grouping,
  grouped,
  type Lane,
  lanesOf,
  mostWithin,
  usualGrouping,
} from "./lanes";
import { ROOMY } from "./layout";
import { Replay } from "./model";

export interface View {
  recording: Recording;
  /** What stands at the port; `null` until it is known. */
  outline: Outline | null;
  replay: Replay;
  by: Grouping;
  lanes: Lane[];
  fill: Fill;
  buckets: BucketCurve[];
}

export function viewOf(recording: Recording, outline: Outline | null, by?: Grouping): View {
  const grouping = by ?? usualGrouping(recording, outline);
  const drawn = grouped(recording, grouping);
  const lanes = lanesOf(drawn, outline);
  return {
    recording,
    outline,
    replay: new Replay(drawn),
    by: grouping,
    lanes,
    fill: fillOf(drawn, lanes),
    buckets: bucketCurves(recording),
  };
}

/** The port that is worth watching: the slowest with a policy, or the slowest of all. */
export function usualPort(description: Description): string {
  const slowest = (links: Description["links"]) =>
    [...links].sort((a, b) => a.rate - b.rate)[0]?.name;
  const managed = description.links.filter(({ policy }) => policy !== "none");
  return slowest(managed) ?? slowest(description.links) ?? "";
}

/** The port whose link sends most of the time, in the run of a recording. */
export function busiestPort({ summary }: Recording): string | undefined {
  const used = summary.filter(({ scope, metric }) => scope === "link" && metric === "utilization");
  return used.sort((a, b) => (b.mean ?? 0) - (a.mean ?? 0))[0]?.name;
}

/** What stands at a link in a variant. */
export function outlineAt(
  description: Description,
  link: string,
  variant: string | undefined,
): Outline | null {
  const at = Math.max(0, description.variants.indexOf(variant ?? ""));
  const setting = description.settings[description.set[at] ?? 0];
  const place = description.links.findIndex(({ name }) => name === link);
  return setting?.outlines[place] ?? null;
}

/** What the queues of a port cannot make longer, whatever happens: the classes in them, and s. */
export function queueBounds(
  bounds: PointBounds | null,
  link: string,
): { classes: string[]; delay: number }[] {
  return (bounds?.bounds.queues ?? []).flatMap(({ link: at, queue, classes, delay }) =>
    at === link && typeof delay === "number"
      ? [{ classes: classes.length ? classes : [queue], delay }]
      : [],
  );
}

/** How long it takes to come to another scale, s. */
const EASE_S = 0.25;

/**
 * Pixels of a byte in all lanes: as many as there is room for at the fullest lane of a while, the
 * same in pictures side by side. It changes by powers of the square root of two, gently.
 */
export class Scaler {
  private scale = ROOMY;
  private last = Number.NaN;

  /** The scale at `time` (s), `elapsed` seconds of ours after the picture before. */
  at(time: number, elapsed: number, pace: number, room: number, fills: readonly Fill[]): number {
    if (time === this.last) {
      return this.scale;
    }
    const most = fills.map((fill) => mostWithin(fill, time - pace, time + 2 * pace));
    const wanted = scaleFor(Math.max(1, ...most), room);
    const leapt = elapsed === 0 || Math.abs(time - this.last) > 2 * pace * elapsed + 1e-9;
    const part = leapt ? 1 : 1 - Math.exp(-elapsed / EASE_S);
    this.scale *= (wanted / this.scale) ** part;
    this.last = time;
    return this.scale;
  }
}

/** Pixels of a byte so that `bytes` have room in `room` pixels. */
export function scaleFor(bytes: number, room: number): number {
  const halvings = Math.ceil(2 * Math.log2((bytes * ROOMY) / Math.max(1, room)) - 1e-9);
  return ROOMY / Math.SQRT2 ** Math.max(0, halvings);
}
