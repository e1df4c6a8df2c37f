import type { Diagnostic, Engine, Progress } from "./api";

/** What the page and the worker tell each other. */

export type Method = keyof Engine;

export type ToWorker =
  | { begin: WebAssembly.Module }
  | { call: number; method: Method; args: unknown[] }
  | { cancel: number };

export type FromWorker =
  | { call: number; value: unknown }
  | { call: number; progress: Progress }
  | { call: number; problem: Diagnostic[] }
  | { call: number; aborted: true }
  /** The module is unusable from here on. */
  | { crash: string };
