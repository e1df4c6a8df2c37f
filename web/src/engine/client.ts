import type { Engine, Going, Options, Project, Question } from "./api";
import type { Parts } from "./parts";
import { Seat } from "./seat";
import type { Method } from "./wire";

/** The engine as pages see it: calls go to workers, each to the one that has least to do. */
export class Client implements Engine {
  readonly #seats: Seat[];

  /** `workers`: how many may work at once; each but the first is started when all others work. */
  constructor(parts: Parts, workers = 1) {
    this.#seats = Array.from({ length: workers }, () => new Seat(parts));
  }

  /** Loads the module before the first call needs it. */
  begin(): void {
    this.#seats[0]?.start();
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
    const free = this.#seats.reduce((least, seat) => (seat.busy < least.busy ? seat : least));
    return free.call(method, args, going);
  }
}
