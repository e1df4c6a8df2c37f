import { useEffect, useState } from "preact/hooks";
import { type Checked, InputProblem } from "../../engine/api";
import { useEngine } from "../../engine/context";
import { type Problem, problemOfDiagnostic, problemOfFinding } from "../../ui/Problems";
import type { Draft } from "./draft";

/** What the last check said. */
export interface Verdict {
  /** Null while there is none: the scenario has errors, or was not checked yet. */
  checked: Checked | null;
  problems: Problem[];
  /** Whether another check is on its way. */
  stale: boolean;
}

/** While one writes, so long passes without a check. */
const PAUSE = 300;

/** Checks a draft as it changes. */
export function useCheck({ project, options }: Draft): Verdict {
  const engine = useEngine();
  const [verdict, setVerdict] = useState<Verdict>({ checked: null, problems: [], stale: true });
  useEffect(() => {
    let wanted = true;
    setVerdict((v) => (v.stale ? v : { ...v, stale: true }));
    const check = async () => {
      const next = await checkOnce();
      if (wanted) setVerdict(next);
    };
    const checkOnce = async (): Promise<Verdict> => {
      try {
        const checked = await engine.check(project, options);
        return { checked, problems: checked.findings.map(problemOfFinding), stale: false };
      } catch (error) {
        return { checked: null, problems: problemsOf(error), stale: false };
      }
    };
    const timer = setTimeout(check, PAUSE);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [engine, project, options]);
  return verdict;
}

/** What an engine complains of. */
export function problemsOf(error: unknown): Problem[] {
  if (error instanceof InputProblem) return error.diagnostics.map(problemOfDiagnostic);
  return [{ severity: "error", message: error instanceof Error ? error.message : String(error) }];
}
