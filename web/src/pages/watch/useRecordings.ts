/** Recordings of one scenario with one or more alternatives at a port, made anew as it changes. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Description, Engine, Options, Project, Recording } from "../../engine/api";
import { type Alternative, withAlternative } from "./mechanisms";
import { usualPort } from "./views";

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
  /** From the change to the recordings, s. */
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
  const port = useRef({ link: "", rate: 0 });
  const { project, options, alternatives } = asked;
  const key = JSON.stringify([options, asked.link, alternatives]);
  useEffect(() => {
    latest.current ??= new Latest();
    const since = performance.now();
    setMaking((before) => ({ ...before, busy: true }));
    latest.current.do(async (signal) => {
      try {
        const made = await make(engine, asked, port.current, since, signal);
        if (!signal.aborted) {
          port.current = { link: made.link, rate: made.rate };
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
  before: { link: string; rate: number },
  since: number,
  signal: AbortSignal,
): Promise<Made> {
  const { project, options, alternatives } = asked;
  let { link, rate } = before;
  let descriptions: Description[] = [];
  if (link === "" || (asked.link !== undefined && asked.link !== link)) {
    const { description } = await engine.check(project, options);
    link = asked.link ?? usualPort(description);
    rate = description.links.find(({ name }) => name === link)?.rate ?? 0;
    descriptions = [description];
  }
  const recordings: Recording[] = [];
  const used: Options[] = [];
  for (const alternative of alternatives) {
    const full = alternative ? withAlternative(project, options, link, rate, alternative) : options;
    const recording = await engine.watch(project, { ...full, link }, { signal });
    recordings.push(recording);
    used.push(full);
    rate = recording.rate;
  }
  const seconds = (performance.now() - since) / 1000;
  return { asked, link, rate, recordings, options: used, descriptions, seconds };
}

/** Adds what stands at the port: it is needed for names and limits only, after the picture. */
async function describe(
  engine: Engine,
  made: Made,
  setMaking: (change: (before: Making) => Making) => void,
): Promise<void> {
  const descriptions: Description[] = [];
  for (const options of made.options) {
    descriptions.push((await engine.check(made.asked.project, options)).description);
  }
  setMaking((before) =>
    before.made === made ? { ...before, made: { ...made, descriptions } } : before,
  );
}
