import type { Diagnostic } from "./api";
import { Stopped } from "./desk";

/** Bad input, as the worker throws it. */
export class InputFault extends Error {
  readonly diagnostics: Diagnostic[];

  constructor(diagnostics: Diagnostic[]) {
    super(diagnostics.map((d) => d.message).join("\n"));
    this.diagnostics = diagnostics;
  }
}

/** A diagnostic as the core writes it: every key is there. */
interface Written {
  code: string;
  severity: Diagnostic["severity"];
  file: string;
  line: number | null;
  column: number | null;
  path: string;
  message: string;
  found: string | null;
  hint: string | null;
  source: string | null;
}

/**
 * What the module threw, as the desk takes it: what has places is bad input, and so is what only has
 * a sentence. All else (traps, mistakes of ours) is a crash; after a trap `panic` says why.
 */
export function translated(error: unknown, panic: () => string | undefined): unknown {
  if (error instanceof Stopped || error instanceof InputFault) return error;
  if (error instanceof WebAssembly.RuntimeError) {
    const said = panic();
    return said === undefined ? error : new WebAssembly.RuntimeError(said);
  }
  if (!(error instanceof Error) || error.constructor !== Error) return error;
  if ("diagnostics" in error && typeof error.diagnostics === "string") {
    return new InputFault((JSON.parse(error.diagnostics) as Written[]).map(read));
  }
  return new InputFault([{ severity: "error", code: "", message: error.message }]);
}

function read(written: Written): Diagnostic {
  const { path, ...rest } = written;
  const there = Object.entries({ ...rest, key: path }).filter(
    ([key, value]) => (value !== null && value !== "") || key === "code" || key === "message",
  );
  return Object.fromEntries(there) as unknown as Diagnostic;
}
