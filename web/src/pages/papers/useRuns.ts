import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Engine } from "../../engine/api";
import { useEngine } from "../../engine/context";
import { type Figure, keyOf, type Lookup, type Measured, type Point, projectOf } from "./figure";

/** Runs what a figure shows, point by point, and keeps what has been run. */

/** How long settings have to stand still before they are run, in ms. */
const STILL = 150;
/** The most points that are kept. */
const KEPT = 300;

export type State = "running" | "done" | "cancelled" | "failed";

export interface Runs {
  state: State;
  /** Points that have been run, and all; a part of the one that is going counts. */
  done: number;
  all: number;
  /** Of this time; points that were kept take none. */
  seconds: number;
  problem: unknown;
  /** Of the first run of the first point. */
  digest: string | undefined;
  /** What is kept of a point. */
  of: (point: Point) => Measured | undefined;
  cancel: () => void;
  run: () => void;
}

interface Kept extends Measured {
  digest: string | undefined;
}

interface Going {
  state: State;
  done: number;
  part: number;
  seconds: number;
  problem: unknown;
}

const NOTHING: Going = { state: "running", done: 0, part: 0, seconds: 0, problem: null };

export function useRuns(figure: Figure, points: readonly Point[]): Runs {
  const engine = useEngine();
  const kept = useRef(new Map<string, Kept>());
  const stop = useRef<AbortController | null>(null);
  const [going, setGoing] = useState(NOTHING);
  const [times, setTimes] = useState(0);
  const keys = JSON.stringify(points.map(keyOf));
  const first = useRef(true);

  useEffect(() => {
    const abort = new AbortController();
    stop.current = abort;
    setGoing(NOTHING);
    const begin = () => runAll(engine, figure, points, kept.current, abort.signal, setGoing);
    const wait = first.current ? 0 : STILL;
    first.current = false;
    const timer = setTimeout(begin, wait);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [engine, figure, keys, times]);

  const of = useCallback((point: Point) => kept.current.get(keyOf(point)), []);
  const cancel = useCallback(() => {
    stop.current?.abort();
    setGoing((now) => (now.state === "running" ? { ...now, state: "cancelled", part: 0 } : now));
  }, []);
  const run = useCallback(() => setTimes((n) => n + 1), []);
  const [begin] = points;
  return {
    state: going.state,
    done: going.done + going.part,
    all: points.length,
    seconds: going.seconds,
    problem: going.problem,
    digest: begin && kept.current.get(keyOf(begin))?.digest,
    of,
    cancel,
    run,
  };
}

async function runAll(
  engine: Engine,
  figure: Figure,
  points: readonly Point[],
  kept: Map<string, Kept>,
  signal: AbortSignal,
  say: (now: Going) => void,
): Promise<void> {
  const project = projectOf(figure);
  let seconds = 0;
  const tell = (now: Partial<Going>) => {
    if (!signal.aborted) say({ ...NOTHING, seconds, ...now });
  };
  try {
    for (const [done, point] of points.entries()) {
      if (signal.aborted) return;
      const key = keyOf(point);
      if (!kept.has(key)) {
        const { variant, set } = point;
        const options = { variant, set: [...set], ...figure.details };
        const progress = ({ fraction }: { fraction: number }) => tell({ done, part: fraction });
        const outcome = await engine.run(project, options, { signal, progress });
        seconds += outcome.seconds;
        keep(kept, key, { ...figure.measure(outcome), digest: outcome.runs[0]?.digest });
      }
      tell({ done: done + 1 });
    }
    tell({ state: "done", done: points.length });
  } catch (problem) {
    tell({ state: "failed", problem, done: points.filter((p) => kept.has(keyOf(p))).length });
  }
}

function keep(kept: Map<string, Kept>, key: string, value: Kept): void {
  kept.set(key, value);
  const [oldest] = kept.keys();
  if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
}

/** Finds quantities among what has been run. */
export function lookup(points: readonly Point[], of: Runs["of"]): Lookup {
  return (line, x, quantity) => {
    const point = points.find((p) => p.line === line && p.x === x);
    return point && of(point)?.values[quantity];
  };
}
