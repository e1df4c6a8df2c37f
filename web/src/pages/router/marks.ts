/** What is said of single lines of a configuration. */

import type { Analysis } from "./analysis";
import { linesOf } from "./ios";

export interface Marked {
  /** `unknown`: not understood; `idle`: without effect, or with less than on the router. */
  kind: "finding" | "warning" | "unknown" | "idle";
  severity: "error" | "warning" | "note";
  line: number;
  /** From 1: where on the line it begins. */
  column: number;
  /** The line itself, secrets covered; empty where the sentence is enough. */
  text: string;
  why: string;
}

interface Unmodelled {
  line?: number;
  text?: string;
  reason?: string;
  understood?: boolean;
}

interface Warned {
  line?: number;
  column?: number;
  message?: string;
  hint?: string | null;
}

/** Words behind which a configuration has a secret. */
const SECRET =
  /\b(password|secret|key-string|key|community|pre-shared-key|psk|md5|sha\d*|wpa-psk|authentication)\b(\s+(?:\d{1,2}|ascii|hex|text|encrypted))*\s+\S.*$/i;

/** A line that may be shown elsewhere: what stands behind the word of a secret is covered. */
export function covered(line: string): string {
  return line.replace(SECRET, (all, word: string) => {
    const at = all.toLowerCase().indexOf(word.toLowerCase());
    return `${all.slice(0, at + word.length)} …`;
  });
}

/** Everything that is said of lines, in their order. */
export function marksOf(a: Analysis): Marked[] {
  const lines = linesOf(a.text);
  // What is said of a line as a whole begins at its first word.
  const first = (line: number | undefined) => {
    const text = lines[(line ?? 1) - 1] ?? "";
    return text.length - text.trimStart().length + 1;
  };
  const unmodelled = (a.found.unmodelled as Unmodelled[]).map(
    (u): Marked => ({
      kind: u.understood ? "idle" : "unknown",
      severity: u.understood ? "note" : "warning",
      line: u.line ?? 1,
      column: first(u.line),
      text: covered((u.text ?? "").trim()),
      why: u.reason ?? "",
    }),
  );
  const warnings = (a.found.warnings as Warned[]).map(
    (w): Marked => ({
      kind: "warning",
      severity: "warning",
      line: w.line ?? 1,
      column: w.column ?? first(w.line),
      text: "",
      why: `${w.message ?? ""}${w.hint ? ` (${w.hint})` : ""}`,
    }),
  );
  const findings = a.findings.map(
    (f): Marked => ({
      kind: "finding",
      severity: f.severity,
      line: f.line ?? 1,
      column: f.column ?? first(f.line),
      text: "",
      why: `${f.id}: ${f.message}`,
    }),
  );
  return [...unmodelled, ...warnings, ...findings].sort((x, y) => x.line - y.line);
}
