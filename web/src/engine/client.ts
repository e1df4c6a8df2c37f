import {
  Crash,
  type Engine,
  type Going,
  InputProblem,
  type Options,
  type Project,
  type Question,
} from "./api";
import type { Parts } from "./parts";
import type { FromWorker, Method, ToWorker } from "./wire";

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
  progress: Going["progress"];
}

/** The engine as pages see it: calls go to a worker, which is started when first needed. */
export class Client implements Engine {
  readonly #parts: Parts;
  #worker: Worker | null = null;
  #calls = 0;
  readonly #waiting = new Map<number, Waiting>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Loads the module before the first call needs it. */
  begin(): void {
    this.#started();
  }

  about() {
    return this.#call("about", []) as ReturnType<Engine["about"]>;
  }

  schema(of: "scenario" | "sla") {
    return this.#call("schema", [of]) as ReturnType<Engine["schema"]>;
  }

  yamlToJson(text: string) {
    return this.#call("yamlToJson", [text]);
  }

  check(p: Project, o?: Options) {
    return this.#call("check", [p, o]) as ReturnType<Engine["check"]>;
  }

  bounds(p: Project, o?: Options) {
    return this.#call("bounds", [p, o]) as ReturnType<Engine["bounds"]>;
  }

  estimate(p: Project, o?: Options) {
    return this.#call("estimate", [p, o]) as ReturnType<Engine["estimate"]>;
  }

  run(p: Project, o?: Options, g?: Going) {
    return this.#call("run", [p, o], g) as ReturnType<Engine["run"]>;
  }

  watch(p: Project, o: Options & { run?: number; link: string; limit?: number }, g?: Going) {
    return this.#call("watch", [p, o], g) as ReturnType<Engine["watch"]>;
  }

  explain(p: Project, o: Options & { run?: number; question: Question }, g?: Going) {
    return this.#call("explain", [p, o], g) as ReturnType<Engine["explain"]>;
  }

  understand(...args: Parameters<Engine["understand"]>) {
    return this.#call("understand", args) as ReturnType<Engine["understand"]>;
  }

  lintConfig(...args: Parameters<Engine["lintConfig"]>) {
    return this.#call("lintConfig", args) as ReturnType<Engine["lintConfig"]>;
  }

  showOutput(...args: Parameters<Engine["showOutput"]>) {
    return this.#call("showOutput", args) as ReturnType<Engine["showOutput"]>;
  }

  profile(...args: Parameters<Engine["profile"]>) {
    return this.#call("profile", args) as ReturnType<Engine["profile"]>;
  }

  exportPolicy(...args: Parameters<Engine["exportPolicy"]>) {
    return this.#call("exportPolicy", args) as ReturnType<Engine["exportPolicy"]>;
  }

  format(...args: Parameters<Engine["format"]>) {
    return this.#call("format", args) as ReturnType<Engine["format"]>;
  }

  #call(method: Method, args: unknown[], going: Going = {}): Promise<unknown> {
    const { signal } = going;
    if (signal?.aborted) return Promise.reject(aborted());
    const call = this.#calls++;
    return new Promise((resolve, reject) => {
      const stop = () => {
        if (!this.#waiting.delete(call)) return;
        this.#post({ cancel: call });
        reject(aborted());
      };
      const end = () => signal?.removeEventListener("abort", stop);
      this.#waiting.set(call, {
        resolve: (value) => {
          end();
          resolve(value);
        },
        reject: (reason) => {
          end();
          reject(reason);
        },
        progress: going.progress,
      });
      signal?.addEventListener("abort", stop);
      try {
        this.#started();
        this.#post({ call, method, args });
      } catch (error) {
        this.#waiting.delete(call);
        end();
        reject(error);
      }
    });
  }

  #post(message: ToWorker): void {
    this.#worker?.postMessage(message);
  }

  #started(): void {
    if (this.#worker) return;
    const worker = this.#parts.worker();
    this.#worker = worker;
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#heard(worker, data);
    worker.onerror = (event) => this.#crashed(worker, event.message || "the worker stopped");
    this.#parts.wasm().then(
      (begin) => worker.postMessage({ begin } satisfies ToWorker, [begin]),
      (error) => this.#crashed(worker, String(error)),
    );
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
