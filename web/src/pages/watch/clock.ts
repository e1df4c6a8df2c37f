/** The time that is shown, and how it runs. Several pictures share one. */

import { signal } from "@preact/signals";

/** Seconds of the scenario in a second of ours: slowest and fastest. */
export const SLOWEST = 1 / 1000;
export const FASTEST = 10;

/** Time between two pictures where motion is not wanted, s. */
const STEP_S = 0.5;

type Shower = (time: number, elapsed: number) => void;

export class Clock {
  /** Whether it runs. */
  readonly playing = signal(false);
  /** Seconds of the scenario in one of ours; infinite: all of it in about two seconds. */
  readonly speed = signal(0.02);
  /** When the recording ends, s. */
  readonly end = signal(0);
  /** The time, s, as often as words and tables need it. */
  readonly shown = signal(0);

  private now = 0;
  private last = Number.NaN;
  private lastShown = 0;
  private frame = 0;
  private held = 0;
  private readonly showers = new Set<Shower>();

  /** Whether things may glide; if not, the time goes on in steps of half a second. */
  constructor(private readonly glides: () => boolean = () => true) {}

  /** The time that is shown, s. */
  get time(): number {
    return this.now;
  }

  /** Seconds of the scenario in one of ours, as a number to count with. */
  get pace(): number {
    return Number.isFinite(this.speed.value) ? this.speed.value : this.end.value / 2;
  }

  /** Calls `shower` for each picture from now on, until the function that it gives is called. */
  onShow(shower: Shower): () => void {
    this.showers.add(shower);
    return () => {
      this.showers.delete(shower);
    };
  }

  play(): void {
    if (this.playing.value) {
      return;
    }
    if (this.now >= this.end.value) {
      this.now = 0;
    }
    this.playing.value = true;
    this.last = Number.NaN;
    this.request();
  }

  pause(): void {
    if (!this.playing.value) {
      return;
    }
    this.playing.value = false;
    this.show(0, true);
  }

  toggle(): void {
    if (this.playing.value) {
      this.pause();
    } else {
      this.play();
    }
  }

  /** Shows another time, s. */
  seek(time: number): void {
    this.now = Math.max(0, Math.min(time, this.end.value));
    this.show(0, true);
  }

  /** Shows the same time anew. */
  refresh(): void {
    this.show(0, true);
  }

  /** Stops for good. */
  dispose(): void {
    this.playing.value = false;
    globalThis.cancelAnimationFrame?.(this.frame);
    this.showers.clear();
  }

  /** Goes on by so many seconds of ours; begins anew after the end. */
  advance(elapsed: number): void {
    const { end } = this;
    this.now += elapsed * this.pace;
    if (this.now > end.value) {
      this.now = this.showsEnd() ? end.value : 0;
    }
  }

  // The end is seen for a moment before all begins anew.
  private showsEnd(): boolean {
    this.held += 1;
    const shows = this.held < 60;
    this.held = shows ? this.held : 0;
    return shows;
  }

  private request(): void {
    this.frame = requestAnimationFrame((at) => this.tick(at / 1000));
  }

  private tick(at: number): void {
    if (!this.playing.value) {
      return;
    }
    const elapsed = Number.isNaN(this.last) ? 0 : at - this.last;
    const glides = this.glides();
    if (glides || Number.isNaN(this.last) || elapsed >= STEP_S) {
      // A page that was in the background does not leap.
      const counted = Math.min(elapsed, glides ? 0.1 : STEP_S);
      this.advance(counted);
      this.last = at;
      this.show(counted, false);
    }
    this.request();
  }

  private show(elapsed: number, atOnce: boolean): void {
    const wall = performance.now();
    if (atOnce || wall - this.lastShown > 200) {
      this.lastShown = wall;
      this.shown.value = this.now;
    }
    for (const shower of this.showers) {
      shower(this.now, elapsed);
    }
  }
}
