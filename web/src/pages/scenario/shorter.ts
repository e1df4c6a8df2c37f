/** Runs that would take too long for a page, and shorter ones in their place. */

import type { Description, Estimate, Options } from "../../engine/api";
import { general, rounded, roundedUp } from "../../ui/format";

/** Seconds that one waits without being asked. */
export const PATIENCE = 20;
/** Seconds that a shorter run is to take. */
const AIM = 12;
/** What a tab has, in bytes. */
export const ROOM = 1e9;

export type Excess = "time" | "memory";

/** What of a run is too much for a page; null if nothing is. */
export function excess({ seconds, memoryBytes }: Estimate): Excess | null {
  if (memoryBytes > ROOM) return "memory";
  return seconds > PATIENCE ? "time" : null;
}

/** A shorter run: fewer runs while there are some, then a shorter measured period. */
export interface Shorter {
  runs: number;
  /** s */
  duration: number;
}

export function shorter(
  estimate: Estimate,
  { runs, measurement }: Pick<Description, "runs" | "measurement">,
): Shorter {
  const { warmup, duration } = measurement;
  const tooMuch = excess(estimate);
  // A run takes as long as the time that it simulates; the memory grows with that at most.
  const perSecond = estimate.seconds / (runs * (warmup + duration));
  const fewest = Math.min(2, runs);
  const affordable = Math.floor((runs * AIM) / estimate.seconds + 1e-9);
  const kept = Math.max(fewest, Math.min(runs, affordable));
  const room = tooMuch === "memory" ? (0.8 * ROOM) / estimate.memoryBytes : 1;
  const time = Math.min(AIM / (perSecond * kept), (warmup + duration) * room) - warmup;
  return { runs: kept, duration: Math.min(duration, Math.max(1, rounded(time, 1))) };
}

/** The options of a shorter run: what was chosen otherwise stays. */
export function shorterOptions(options: Options, { runs, duration }: Shorter): Options {
  const others = (options.set ?? []).filter((s) => !s.startsWith("measurement.duration="));
  return { ...options, runs, set: [...others, `measurement.duration=${general(duration, 6)} s`] };
}

/** A time that something takes, in words without false exactness: `13 s`, `2 min`, `1.5 h`. */
export function aboutTime(seconds: number): string {
  if (seconds < 90)
    return `${Math.max(1, roundedUp(seconds) < 10 ? Math.ceil(seconds) : roundedUp(seconds))} s`;
  if (seconds < 5400) return `${Math.ceil(seconds / 60)} min`;
  return `${general(roundedUp(seconds / 3600), 2)} h`;
}
