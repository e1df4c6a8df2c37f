import type { Diagnostic, Engine, Progress } from "./api";
import type { FromWorker, Method, ToWorker } from "./wire";

/** What a call may do while it is worked at. */
export interface Task {
  /** Tells the page how far it is; what comes too often is left out. */
  progress(p: Progress): void;
  /** Lets other messages in; throws `Stopped` if one of them cancels this call. */
  pause(): Promise<void>;
}

/** Thrown through a call that was cancelled. */
export class Stopped extends Error {}

/** The engine as the worker has it: each method gets a task instead of a `Going`. */
export type Methods = {
  [M in Method]: (task: Task, ...args: Parameters<Engine[M]>) => unknown;
};

type Say = (message: FromWorker, transfer: Transferable[]) => void;

/** ms between two words on how far a call is */
const PROGRESS_EVERY = 50;

/** The worker's side of the engine: takes calls, and says what comes of them. */
export class Desk {
  readonly #say: Say;
  readonly #load: (module: WebAssembly.Module) => Promise<Methods>;
  #methods: Methods | null = null;
  /** Calls that came before the module. */
  #early: Extract<ToWorker, { call: number }>[] = [];
  readonly #going = new Set<number>();

  constructor(say: Say, load: (module: WebAssembly.Module) => Promise<Methods>) {
    this.#say = say;
    this.#load = load;
  }

  async heard(message: ToWorker): Promise<void> {
    if ("begin" in message) await this.#begin(message.begin);
    else if ("cancel" in message) this.#cancel(message.cancel);
    else if (this.#methods) await this.#work(this.#methods, message);
    else this.#early.push(message);
  }

  async #begin(module: WebAssembly.Module): Promise<void> {
    try {
      this.#methods = await this.#load(module);
    } catch (error) {
      this.#say({ crash: `the module cannot be loaded: ${text(error)}` }, []);
      return;
    }
    const early = this.#early;
    this.#early = [];
    for (const message of early) this.heard(message);
  }

  #cancel(call: number): void {
    this.#going.delete(call);
    this.#early = this.#early.filter((message) => message.call !== call);
  }

  async #work(methods: Methods, message: Extract<ToWorker, { call: number }>): Promise<void> {
    const { call, method, args } = message;
    this.#going.add(call);
    try {
      const work = methods[method] as (task: Task, ...args: unknown[]) => unknown;
      const value = await work(this.#task(call), ...args);
      if (this.#going.has(call)) this.#say({ call, value }, buffers(value));
    } catch (error) {
      this.#failed(call, error);
    } finally {
      this.#going.delete(call);
    }
  }

  #task(call: number): Task {
    let said = Number.NEGATIVE_INFINITY;
    return {
      progress: (progress) => {
        const now = performance.now();
        if (now - said < PROGRESS_EVERY && progress.fraction < 1) return;
        said = now;
        this.#say({ call, progress }, []);
      },
      pause: async () => {
        await othersFirst();
        if (!this.#going.has(call)) throw new Stopped();
      },
    };
  }

  #failed(call: number, error: unknown): void {
    const problem = problemOf(error);
    if (error instanceof Stopped) this.#say({ call, aborted: true }, []);
    else if (problem) this.#say({ call, problem }, []);
    else this.#say({ crash: text(error) }, []);
  }
}

/** The places of bad input, where an error has them. */
function problemOf(error: unknown): Diagnostic[] | null {
  if (typeof error !== "object" || error === null || !("diagnostics" in error)) return null;
  return Array.isArray(error.diagnostics) ? error.diagnostics : null;
}

function text(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** What an answer may hand over instead of copying: columns of its own, or of its curves. */
export function buffers(value: unknown): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>();
  const add = (of: unknown) => {
    if (ArrayBuffer.isView(of) && of.buffer instanceof ArrayBuffer) found.add(of.buffer);
  };
  if (typeof value !== "object" || value === null) return [];
  for (const column of Object.values(value)) add(column);
  if ("series" in value && Array.isArray(value.series)) {
    for (const curve of value.series) add(curve.values);
  }
  return [...found];
}

/** Waits until messages that have come are heard: a timer would wait for milliseconds. */
function othersFirst(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
