import "./ui.css";
import type { Diagnostic, Finding } from "../engine/api";
import { useWords } from "./words";

/** Something that is wrong or doubtful, and where. */
export interface Problem {
  severity: "error" | "warning" | "note";
  message: string;
  code?: string | undefined;
  file?: string | undefined;
  line?: number | undefined;
  column?: number | undefined;
  key?: string | undefined;
  hint?: string | undefined;
}

export const SEVERITY_MARKS = { error: "✗", warning: "!", note: "i" } as const;

/** What a diagnostic of the core says, as a problem. */
export function problemOfDiagnostic(d: Diagnostic): Problem {
  const { severity, message, code, file, line, column, key, hint } = d;
  return { severity, message, code, file, line, column, key, hint };
}

/** What a rule has found, as a problem. */
export function problemOfFinding(f: Finding): Problem {
  return {
    severity: f.severity,
    message: f.message,
    code: f.id,
    file: f.file ?? undefined,
    line: f.line ?? undefined,
    column: f.column ?? undefined,
    key: f.path ?? undefined,
    hint: f.help ?? undefined,
  };
}

/** `scenario.yaml:12:3`; empty of what has no place. */
export function placeOf(p: Problem): string {
  return [p.file, p.line, p.column].filter((x) => x !== undefined && x !== null).join(":");
}

const RANK = { error: 0, warning: 1, note: 2 };

interface Props {
  /** What the list is of, for screen readers. */
  label: string;
  problems: readonly Problem[];
  /** Leads to the place of a problem that has one. */
  onGo?: (problem: Problem) => void;
}

/** Located problems, the worst first; a click leads to their place. */
export function Problems({ label, problems, onGo }: Props) {
  const ordered = [...problems].sort((a, b) => RANK[a.severity] - RANK[b.severity]);
  return (
    <ul class="problems" aria-label={label}>
      {ordered.map((p, i) => (
        <li key={i} class={`problem problem-${p.severity}`}>
          <One problem={p} onGo={onGo} />
        </li>
      ))}
    </ul>
  );
}

function One({ problem, onGo }: { problem: Problem; onGo: Props["onGo"] }) {
  const words = useWords();
  const { severity, message, code, line, key, hint } = problem;
  const place = placeOf(problem);
  return (
    <>
      <span class="problem-mark" aria-hidden="true">
        {SEVERITY_MARKS[severity]}
      </span>
      <div class="problem-body">
        <p class="problem-message">
          <strong>{words.severities[severity]}</strong> {message}
        </p>
        {hint && <p class="problem-hint">{hint}</p>}
        <p class="problem-place">
          {place !== "" &&
            (onGo && line !== undefined ? (
              <button type="button" class="link" onClick={() => onGo(problem)}>
                {place}
              </button>
            ) : (
              <span>{place}</span>
            ))}
          {key && <code>{key}</code>}
          {code && <span class="problem-code">{code}</span>}
        </p>
      </div>
    </>
  );
}
