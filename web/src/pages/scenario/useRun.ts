import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Description, Estimate, Options, Outcome, Progress, Project } from "../../engine/api";
import { useEngine } from "../../engine/context";
import type { Problem } from "../../ui/Problems";
import { excess } from "./shorter";
import { problemsOf } from "./useCheck";

/** Where a run is. */
export type Stage =
  | { at: "idle" }
  | { at: "estimating" }
  /** It is too long for a page, which asks. */
  | { at: "asking"; estimate: Estimate }
  | { at: "running"; progress: Progress | null }
  | { at: "failed"; problems: Problem[] };

/** What has been run, with what it was made of. */
export interface Ran {
  project: Project;
  options: Options;
  outcome: Outcome;
}

export interface Runner {
  stage: Stage;
  ran: Ran | null;
  /** Estimates, and runs what is not too long. */
  start: () => void;
  /** Runs without an estimate. */
  go: (options: Options) => void;
  cancel: () => void;
}

/** Runs a project; a run that is stopped leaves the results of the one before. */
export function useRun(
  project: Project,
  options: Options,
  description: Description | undefined,
): Runner {
  const engine = useEngine();
  const [stage, setStage] = useState<Stage>({ at: "idle" });
  const [ran, setRan] = useState<Ran | null>(null);
  const going = useRef<AbortController | null>(null);

  const cancel = useCallback(() => {
    going.current?.abort();
    going.current = null;
    setStage({ at: "idle" });
  }, []);
  useEffect(() => () => going.current?.abort(), []);

  /** Does something that may be stopped or fail; what is said after the stop is not heard. */
  const attempt = async (work: (signal: AbortSignal) => Promise<void>) => {
    going.current?.abort();
    const mine = new AbortController();
    going.current = mine;
    try {
      await work(mine.signal);
    } catch (error) {
      if (!mine.signal.aborted) setStage({ at: "failed", problems: problemsOf(error) });
    }
  };

  const run = async (chosen: Options, signal: AbortSignal) => {
    setStage({ at: "running", progress: null });
    const progress = (p: Progress) => {
      if (!signal.aborted) setStage({ at: "running", progress: p });
    };
    const outcome = await engine.run(project, chosen, { progress, signal });
    if (signal.aborted) return;
    setRan({ project, options: chosen, outcome });
    setStage({ at: "idle" });
  };

  const go = (chosen: Options) => void attempt((signal) => run(chosen, signal));
  const start = () =>
    void attempt(async (signal) => {
      setStage({ at: "estimating" });
      const estimate = await engine.estimate(project, options);
      if (signal.aborted) return;
      if (excess(estimate) && description) setStage({ at: "asking", estimate });
      else await run(options, signal);
    });
  return { stage, ran, start, go, cancel };
}
