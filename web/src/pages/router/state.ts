/** What the page knows, and what it does: everything but how it looks. */

import { batch, computed, type Signal, signal } from "@preact/signals";
import {
  type Diagnostic,
  type Engine,
  InputProblem,
  MOST_CAPTURE,
  type Offered,
  type Outcome,
  type Profile,
  type Progress,
} from "../../engine/api";
import { type Analysis, analyze, sameTarget, type Target } from "./analysis";
import { type Refused, refusedCapture, refusedText } from "./files";
import { changedLines, keyOf, knobsOf, withNumbers } from "./ios";
import {
  callRate,
  type Load,
  lineRate,
  rowsByRule,
  shownFor,
  withProfile,
  withShown,
} from "./loads";
import { build, measured, overheadOf, type Setup } from "./scenario";
import { changedCommands, ratesOf } from "./tc";

/** A run that is over, with what it was of. */
export interface Tried {
  setup: Setup;
  outcome: Outcome;
}

/** A run: not begun, going on, or over in one way or another. */
export interface Going {
  progress: Progress | null;
  stop: () => void;
}

/** A line where no rate is known, b/s. */
export const UNKNOWN_LINE = 100e6;

/** A configuration that is typed is read this long after the last key, ms. */
const REST = 300;

export class Bench {
  readonly text = signal("");
  readonly platform = signal("ios");
  readonly wanted = signal<Target | null>(null);
  readonly analysis = signal<Analysis | null>(null);
  readonly problems = signal<Diagnostic[]>([]);
  readonly crash = signal<string | null>(null);
  readonly reading = signal(false);

  readonly show = signal<Offered | null>(null);
  readonly capture = signal<Profile | null>(null);
  readonly fileProblem = signal<Refused | null>(null);

  readonly loads = signal<Load[]>([]);
  readonly rate = signal(UNKNOWN_LINE);
  /** Whether the rate of the line is a guess. */
  readonly rateAssumed = signal(false);
  readonly delay = signal(0.01);
  readonly overhead = signal("");
  readonly runs = signal(5);

  readonly going = signal<Going | null>(null);
  readonly base = signal<Tried | null>(null);
  readonly runProblems = signal<Diagnostic[]>([]);

  /** Changed numbers of the configuration by their key, and changed loads by their name. */
  readonly numbers = signal<ReadonlyMap<string, number>>(new Map());
  readonly amounts = signal<ReadonlyMap<string, number>>(new Map());
  readonly trying = signal<Going | null>(null);
  readonly tried = signal<Tried | null>(null);
  readonly tryProblems = signal<Diagnostic[]>([]);

  readonly #engine: Engine;
  #reads = 0;
  #rest: ReturnType<typeof setTimeout> | undefined;
  #tryRest: ReturnType<typeof setTimeout> | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  readonly root = computed(
    () => this.analysis.value?.policy?.policy ?? this.analysis.value?.policy?.name ?? "",
  );

  readonly knobs = computed(() => {
    const a = this.analysis.value;
    if (a === null) return [];
    return a.tc ? ratesOf(a.text, a.target?.iface ?? "") : knobsOf(a.text, this.root.value);
  });

  /** The configuration with the changed numbers. */
  readonly changedText = computed(() => {
    const a = this.analysis.value;
    if (a === null) return "";
    const moved = this.knobs.value.flatMap((k) => {
      const value = this.numbers.value.get(keyOf(k));
      return value === undefined ? [] : [[k, value] as const];
    });
    return withNumbers(a.text, moved);
  });

  readonly changes = computed(() => {
    const a = this.analysis.value;
    if (a === null) return [];
    const differ = a.tc ? changedCommands : changedLines;
    return differ(a.text, this.changedText.value);
  });

  /** What would be run, without changes. */
  readonly setup: Signal<Setup | null> = computed(() => {
    const a = this.analysis.value;
    if (a === null || a.target === null) return null;
    return {
      text: a.text,
      tc: a.tc,
      platform: a.platform,
      ...a.target,
      rate: this.rate.value,
      delay: this.delay.value,
      overhead: this.overhead.value,
      loads: this.loads.value,
      runs: this.runs.value,
    };
  });

  /** Whether the last run is of what the page shows. */
  readonly stale = computed(() => {
    const [now, then] = [this.setup.value, this.base.value?.setup];
    return now !== null && then !== undefined && !sameSetup(now, then);
  });

  /** Takes another text; it is read when the typing rests. */
  type(text: string): void {
    this.text.value = text;
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => void this.read(), REST);
  }

  /** Takes a text as a whole: a configuration, or what `show policy-map interface` printed. */
  async take(name: string, text: string): Promise<void> {
    try {
      const offered = await this.#engine.showOutput(name, text);
      if (offered !== null) {
        this.show.value = offered;
        this.fill();
        return;
      }
    } catch (error) {
      this.#refused(error, this.problems);
      return;
    }
    clearTimeout(this.#rest);
    this.text.value = text;
    await this.read();
  }

  /** Reads the text. What comes too late is dropped. */
  async read(): Promise<void> {
    const read = ++this.#reads;
    const text = this.text.value;
    this.crash.value = null;
    if (text.trim() === "") {
      batch(() => {
        this.analysis.value = null;
        this.problems.value = [];
        this.#forgetRuns();
      });
      this.reading.value = false;
      return;
    }
    this.reading.value = true;
    try {
      const analysis = await analyze(this.#engine, text, this.platform.value, this.wanted.value);
      if (read !== this.#reads) return;
      batch(() => this.#settle(analysis));
    } catch (error) {
      if (read === this.#reads)
        batch(() => {
          this.analysis.value = null;
          this.#refused(error, this.problems);
        });
    } finally {
      if (read === this.#reads) this.reading.value = false;
    }
  }

  #settle(analysis: Analysis): void {
    const before = this.analysis.peek();
    const known = new Set(analysis.leaves.map((l) => l.path.join("\n")));
    const kept = this.loads
      .peek()
      .filter((l) => l.origin !== "rule" && known.has(l.path.join("\n")));
    this.analysis.value = analysis;
    this.problems.value = [];
    if (before?.text !== analysis.text || !sameTarget(before?.target ?? null, analysis.target))
      this.#forgetRuns();
    if (
      !sameTarget(before?.target ?? null, analysis.target) ||
      before?.iface?.rate !== analysis.iface?.rate
    ) {
      const rate = lineRate(analysis.iface) ?? analysis.policy?.rate ?? undefined;
      this.rate.value = rate ?? UNKNOWN_LINE;
      this.rateAssumed.value = rate === undefined;
      const circuit = (analysis.iface?.circuit ?? null) !== null;
      this.overhead.value = circuit ? "" : overheadOf(analysis.target?.iface ?? "");
    }
    this.#fillFrom(kept.filter((l) => l.origin === "you"));
  }

  /** Fills the table anew from what is known: what was entered by hand is given up. */
  fill(): void {
    if (this.analysis.value !== null) batch(() => this.#fillFrom([]));
  }

  #fillFrom(mine: readonly Load[]): void {
    const a = this.analysis.peek();
    if (a === null) return;
    let rows = rowsByRule(a.leaves, this.rate.peek());
    const shown = this.show.peek();
    const of = shown && shownFor(shown, a.target?.iface ?? "", this.root.peek());
    if (of) rows = withShown(rows, of, a.leaves);
    const capture = this.capture.peek();
    if (capture !== null) rows = withProfile(rows, capture);
    const byName = new Map(mine.map((l) => [l.name, l]));
    this.loads.value = rows.map((r) => byName.get(r.name) ?? r);
  }

  /** Changes a row of the table. */
  edit(name: string, change: Partial<Load>): void {
    this.loads.value = this.loads.value.map((l) =>
      l.name === name ? { ...l, ...change, origin: "origin" in change ? l.origin : "you" } : l,
    );
  }

  choose(target: Target): void {
    this.wanted.value = target;
    void this.read();
  }

  setPlatform(platform: string): void {
    this.platform.value = platform;
    void this.read();
  }

  setRate(rate: number): void {
    batch(() => {
      this.rate.value = rate;
      this.rateAssumed.value = false;
    });
  }

  /** Reads a capture; one that is too large is refused unread. */
  async takeCapture(file: File): Promise<void> {
    const a = this.analysis.peek();
    this.fileProblem.value = null;
    if (file.size > MOST_CAPTURE) {
      this.fileProblem.value = refusedCapture(file, "");
      return;
    }
    const policy = a !== null && a.target !== null && a.iface !== undefined;
    try {
      this.capture.value = await this.#engine.profile(
        file.name,
        file,
        policy
          ? { by: "class", config: a.text, platform: a.platform, iface: a.iface?.name ?? "" }
          : { by: "dscp" },
      );
      this.fill();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.fileProblem.value = refusedCapture(file, why);
    }
  }

  /** Says that a text is too large to be read. */
  refuseText(file: File): void {
    this.fileProblem.value = refusedText(file);
  }

  dropShow(): void {
    this.show.value = null;
    this.fill();
  }

  dropCapture(): void {
    this.capture.value = null;
    this.fill();
  }

  /** Runs what the page shows. */
  async run(): Promise<void> {
    const setup = this.setup.value;
    if (setup === null) return;
    const tried = await this.#go(setup, this.going, this.runProblems);
    if (tried === null) return;
    batch(() => {
      this.base.value = tried;
      this.tried.value = null;
      this.tryProblems.value = [];
    });
    if (this.#moved()) this.#tryNow();
  }

  /** Another number in the configuration. */
  turn(key: string, value: number, was: number): void {
    this.numbers.value = changed(this.numbers.value, key, value, was);
    this.#tryLater();
  }

  /** Another load of a row: calls, connections or b/s. */
  load(name: string, value: number, was: number): void {
    this.amounts.value = changed(this.amounts.value, name, value, was);
    this.#tryLater();
  }

  /** Back to the configuration as it is. */
  reset(): void {
    this.trying.value?.stop();
    clearTimeout(this.#tryRest);
    batch(() => {
      this.numbers.value = new Map();
      this.amounts.value = new Map();
      this.tried.value = null;
      this.tryProblems.value = [];
    });
  }

  #moved(): boolean {
    return this.numbers.value.size > 0 || this.amounts.value.size > 0;
  }

  #tryLater(): void {
    this.trying.value?.stop();
    clearTimeout(this.#tryRest);
    if (this.base.value === null) return;
    this.#tryRest = setTimeout(() => (this.#moved() ? this.#tryNow() : this.reset()), 120);
  }

  async #tryNow(): Promise<void> {
    const base = this.base.peek();
    if (base === null) return;
    const setup = this.changedSetup(base.setup);
    const tried = await this.#go(setup, this.trying, this.tryProblems);
    if (tried !== null) this.tried.value = tried;
  }

  /** A setup with the changed numbers and loads; measured as long as before. */
  changedSetup(of: Setup): Setup {
    return {
      ...of,
      text: this.changedText.peek(),
      duration: measured(of).duration,
      loads: of.loads.map((l) => {
        const amount = this.amounts.peek().get(l.name);
        return amount === undefined ? l : withAmount(l, amount);
      }),
    };
  }

  async #go(
    setup: Setup,
    going: Signal<Going | null>,
    problems: Signal<Diagnostic[]>,
  ): Promise<Tried | null> {
    going.value?.stop();
    const control = new AbortController();
    const mine: Going = { progress: null, stop: () => control.abort() };
    going.value = mine;
    problems.value = [];
    try {
      const outcome = await this.#engine.run(
        build(setup),
        {},
        {
          signal: control.signal,
          progress: (progress) => {
            if (going.peek()?.stop === mine.stop) going.value = { ...mine, progress };
          },
        },
      );
      return { setup, outcome };
    } catch (error) {
      if (!control.signal.aborted) this.#refused(error, problems);
      return null;
    } finally {
      if (going.peek()?.stop === mine.stop) going.value = null;
    }
  }

  /** Forgets everything that was pasted, dropped or computed. */
  clear(): void {
    clearTimeout(this.#rest);
    this.#reads++;
    this.reset();
    this.going.value?.stop();
    batch(() => {
      this.text.value = "";
      this.analysis.value = null;
      this.problems.value = [];
      this.crash.value = null;
      this.reading.value = false;
      this.show.value = null;
      this.capture.value = null;
      this.fileProblem.value = null;
      this.loads.value = [];
      this.wanted.value = null;
      this.#forgetRuns();
    });
  }

  #forgetRuns(): void {
    this.going.peek()?.stop();
    this.trying.peek()?.stop();
    this.base.value = null;
    this.tried.value = null;
    this.numbers.value = new Map();
    this.amounts.value = new Map();
    this.runProblems.value = [];
    this.tryProblems.value = [];
  }

  #refused(error: unknown, problems: Signal<Diagnostic[]>): void {
    if (error instanceof InputProblem) problems.value = error.diagnostics;
    else if (!(error instanceof DOMException && error.name === "AbortError"))
      this.crash.value = error instanceof Error ? error.message : String(error);
  }
}

function changed(map: ReadonlyMap<string, number>, key: string, value: number, was: number) {
  const next = new Map(map);
  if (value === was) next.delete(key);
  else next.set(key, value);
  return next;
}

/** What a slider of a row moves: calls, connections, or b/s. */
export function amountOf(load: Load): number {
  return load.kind === "tcp" || load.kind === "calls" ? load.count : load.rate;
}

export function withAmount(load: Load, amount: number): Load {
  if (load.kind === "calls") return { ...load, count: amount, rate: amount * callRate(load.codec) };
  return load.kind === "tcp" ? { ...load, count: amount } : { ...load, rate: amount };
}

function sameSetup(a: Setup, b: Setup): boolean {
  const plain = ({ duration: _, ...rest }: Setup) => JSON.stringify({ ...rest, text: "" });
  return a.text === b.text && plain(a) === plain(b);
}
