/** Recordings of one scenario with one or more alternatives at a port, made anew as it changes. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Description, Engine, Options, Project, Recording } from "../../engine/api";
import { type Alternative, withAlternative } from "./mechanisms";
import { busiestPort, usualPort } from "./views";

/** What is asked: one recording for each alternative, all with the same arrivals. */
export interface Asked {
  project: Project;
  options: Options;
  /** The port; chosen by `usualPort` if not given. */
  link: string | undefined;
  /** `null`: the scenario as it is. */
  alternatives: readonly (Alternative | null)[];
}

/** What was made of it, as of the last time that all went well. */
export interface Made {
  asked: Asked;
  link: string;
  /** Of the port, b/s. */
  rate: number;
  recordings: Recording[];
  /** With what each was made. */
  options: Options[];
  /** The scenario with each alternative: what stands at the port. */
  descriptions: Description[];
  /** From the change to the recordings, s; NaN of the first, for which the module is loaded. */
  seconds: number;
}

export interface Making {
  made: Made | null;
  busy: boolean;
  problem: unknown;
}

/** Runs younger than this are let finish, so that a slider that moves shows what it does, ms. */
const PATIENCE = 150;

/** Does one task at a time; of those that come meanwhile the last only. */
class Latest {
  private running: { controller: AbortController; since: number } | null = null;
  private pending: ((signal: AbortSignal) => Promise<void>) | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  do(task: (signal: AbortSignal) => Promise<void>): void {
    if (!this.running) {
      void this.start(task);
      return;
    }
    this.pending = task;
    const { controller, since } = this.running;
    clearTimeout(this.timer);
    this.timer = setTimeout(
      () => controller.abort(),
      Math.max(0, since + PATIENCE - performance.now()),
    );
  }

  stop(): void {
    this.pending = null;
    clearTimeout(this.timer);
    this.running?.controller.abort();
  }

  private async start(task: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    this.running = { controller, since: performance.now() };
    await task(controller.signal);
    clearTimeout(this.timer);
    this.running = null;
    const next = this.pending;
    this.pending = null;
    if (next) {
      void this.start(next);
    }
  }
}

export function useRecordings(engine: Engine, asked: Asked): Making {
  const [making, setMaking] = useState<Making>({ made: null, busy: true, problem: null });
  const latest = useRef<Latest | null>(null);
  const before = useRef<Made | null>(null);
  const { project, options, alternatives } = asked;
  const key = JSON.stringify([options, asked.link, alternatives]);
  useEffect(() => {
    latest.current ??= new Latest();
    const since = performance.now();
    setMaking((before) => ({ ...before, busy: true }));
    latest.current.do(async (signal) => {
      try {
        const made = await make(engine, asked, before.current, since, signal);
        if (!signal.aborted) {
          before.current = made;
          setMaking({ made, busy: false, problem: null });
          await describe(engine, made, setMaking);
        }
      } catch (problem) {
        if (!signal.aborted) {
          setMaking((before) => ({ ...before, busy: false, problem }));
        }
      }
    });
  }, [engine, project, key]);
  useEffect(() => () => latest.current?.stop(), []);
  return making;
}

async function make(
  engine: Engine,
  asked: Asked,
  before: Made | null,
  since: number,
  signal: AbortSignal,
): Promise<Made> {
  const { project, options, alternatives } = asked;
  const same = before !== null && before.asked.project === project;
  let { link, rate } = same ? before : { link: "", rate: 0 };
  if (link === "" || (asked.link !== undefined && asked.link !== link)) {
    const { description } = await engine.check(project, options);
    link = asked.link ?? usualPort(description);
    rate = description.links.find(({ name }) => name === link)?.rate ?? 0;
  }
  const optionsAt = (bps: number) =>
    alternatives.map((alternative) =>
      alternative ? withAlternative(project, options, link, bps, alternative) : options,
    );
  let used = optionsAt(rate);
  // Where only numbers are others, the picture is first and what it is called follows.
  const descriptions =
    same && standsOf(before) === standsOf({ asked, link })
      ? []
      : await described(engine, project, used);
  let recordings = await recorded(engine, project, used, link, signal);
  const [first] = recordings;
  if (first?.count === 0 && asked.link === undefined) {
    // Nothing crosses the port that seemed to be worth watching.
    const busiest = busiestPort(first);
    if (busiest !== undefined && busiest !== link) {
      const made = await make(engine, { ...asked, link: busiest }, before, since, signal);
      return { ...made, asked };
    }
  }
  if (first && first.rate !== rate && alternatives.some((other) => other && "mechanism" in other)) {
    // A slider has moved the rate of the line, for which mechanisms are made.
    used = optionsAt(first.rate);
    recordings = await recorded(engine, project, used, link, signal);
  }
  rate = first?.rate ?? rate;
  const seconds = before ? (performance.now() - since) / 1000 : Number.NaN;
  return { asked, link, rate, recordings, options: used, descriptions, seconds };
}

/** One recording for each; they are made at once where there is a worker for each. */
function recorded(
  engine: Engine,
  project: Project,
  used: readonly Options[],
  link: string,
  signal: AbortSignal,
): Promise<Recording[]> {
  return Promise.all(
    used.map((options) => engine.watch(project, { ...options, link }, { signal })),
  );
}

/** Which queues are compared at which port, as a text. */
function standsOf({ asked, link }: Pick<Made, "asked" | "link">): string {
  return JSON.stringify([link, asked.options.variant, asked.alternatives]);
}

async function described(
  engine: Engine,
  project: Project,
  used: readonly Options[],
): Promise<Description[]> {
  const found: Description[] = [];
  for (const options of used) {
    found.push((await engine.check(project, options)).description);
  }
  return found;
}

/** Adds what stands at the port where that is not known yet. */
async function describe(
  engine: Engine,
  made: Made,
  setMaking: (change: (before: Making) => Making) => void,
): Promise<void> {
  if (made.descriptions.length > 0) {
    return;
  }
  const descriptions = await described(engine, made.asked.project, made.options);
  setMaking((before) =>
    before.made === made ? { ...before, made: { ...made, descriptions } } : before,
  );
}
