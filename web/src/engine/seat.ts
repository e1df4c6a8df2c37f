import { Crash, type Going, InputProblem } from "./api";
import type { Parts } from "./parts";
import type { FromWorker, Method, ToWorker } from "./wire";

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
  progress: Going["progress"];
}

/** One worker and the calls that it works at. It is started when first needed, and after a crash. */
export class Seat {
  readonly #parts: Parts;
  #worker: Worker | null = null;
  #calls = 0;
  readonly #waiting = new Map<number, Waiting>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Calls that are not answered. */
  get busy(): number {
    return this.#waiting.size;
  }

  /** Starts the worker, if there is none. */
  start(): void {
    if (this.#worker) return;
    const worker = this.#parts.worker();
    this.#worker = worker;
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#heard(worker, data);
    worker.onerror = (event) => this.#crashed(worker, event.message || "the worker stopped");
    this.#parts.module().then(
      (begin) => worker.postMessage({ begin } satisfies ToWorker),
      (error) => this.#crashed(worker, String(error)),
    );
  }

  call(method: Method, args: unknown[], { signal, progress }: Going): Promise<unknown> {
    if (signal?.aborted) return Promise.reject(aborted());
    const call = this.#calls++;
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(call, { resolve, reject, progress });
    });
    const stop = () => {
      const waiting = this.#waiting.get(call);
      this.#waiting.delete(call);
      this.#post({ cancel: call });
      waiting?.reject(aborted());
    };
    signal?.addEventListener("abort", stop);
    try {
      this.start();
      this.#post({ call, method, args });
    } catch (error) {
      this.#waiting.get(call)?.reject(error);
      this.#waiting.delete(call);
    }
    return answer.finally(() => signal?.removeEventListener("abort", stop));
  }

  #post(message: ToWorker): void {
    this.#worker?.postMessage(message);
  }

  #heard(worker: Worker, message: FromWorker): void {
    if ("crash" in message) {
      this.#crashed(worker, message.crash);
      return;
    }
    const waiting = this.#waiting.get(message.call);
    if (!waiting) return;
    if ("progress" in message) {
      waiting.progress?.(message.progress);
      return;
    }
    this.#waiting.delete(message.call);
    if ("value" in message) waiting.resolve(message.value);
    else if ("problem" in message) waiting.reject(new InputProblem(message.problem));
    else waiting.reject(aborted());
  }

  #crashed(worker: Worker, why: string): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    worker.terminate();
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const waiting of all) waiting.reject(new Crash(why));
  }
}

function aborted(): DOMException {
  return new DOMException("stopped", "AbortError");
}
