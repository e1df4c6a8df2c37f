/** How long a slice shall take, in ms: a cancel that comes in between waits no longer. */
const SLICE = 20;

/** How many events a slice is given, by how long those before it took. */
export class Pace {
  events = 2000;

  /** `ms`: how long the last slice took */
  took(ms: number): void {
    // By a factor of four at most: a slice may have been stopped by the system, or have been short.
    const factor = ms > 0 ? SLICE / ms : 4;
    const next = this.events * Math.min(4, Math.max(0.25, factor));
    this.events = Math.round(Math.min(1e6, Math.max(100, next)));
  }
}

/** Seconds that are left when a fraction took so many; NaN while that says nothing. */
export function remaining(fraction: number, passed: number): number {
  return fraction > 0.005 && passed > 0.1 ? (passed * (1 - fraction)) / fraction : Number.NaN;
}
