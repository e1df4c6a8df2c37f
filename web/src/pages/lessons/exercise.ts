import type { Engine, Outcome, Project } from "../../engine/api";
import { answerOf, judge, type Verdict } from "./judge";
import { type Lesson, type Numbers, parametersOf, type Question } from "./lesson";

/** A lesson with the parameters of one student, and the runs that it has made. */
export class Exercise {
  readonly parameters: Numbers<string>;
  private readonly made = new Map<string, Promise<Outcome>>();

  constructor(
    readonly lesson: Lesson,
    readonly number: string,
    private readonly engine: Pick<Engine, "run">,
  ) {
    this.parameters = parametersOf(lesson, number);
  }

  get project(): Project {
    const path = `lesson-${this.lesson.name}.yaml`;
    return { path, files: { [path]: this.lesson.scenario } };
  }

  /** The settings of the student. */
  settings(): string[] {
    return this.lesson.own(this.parameters);
  }

  /** The settings of the student, and those of the sliders after them. */
  settingsAt(controls: Numbers<string>): string[] {
    return [...this.settings(), ...this.lesson.chosen(this.parameters, controls)];
  }

  /** The run with some settings beside the student's. */
  run(set: readonly string[], signal?: AbortSignal): Promise<Outcome> {
    const going = signal ? { signal } : {};
    return this.engine.run(this.project, { set: [...this.settings(), ...set] }, going);
  }

  /** The same, made once. */
  outcome(set: readonly string[] = []): Promise<Outcome> {
    const key = JSON.stringify(set);
    const before = this.made.get(key);
    if (before) return before;
    const run = this.run(set);
    this.made.set(key, run);
    // One that failed is made again when it is asked for again.
    run.catch(() => this.made.delete(key));
    return run;
  }

  /** The runs that a question needs; none if its answer is a formula. */
  outcomes(q: Question): Promise<Outcome[]> {
    return Promise.all((q.runs?.(this.parameters) ?? []).map((set) => this.outcome(set)));
  }

  async judge(q: Question, given: string): Promise<Verdict> {
    return judge(q, this.parameters, await this.outcomes(q), given);
  }

  async answer(q: Question): Promise<number | string> {
    return answerOf(q, this.parameters, await this.outcomes(q));
  }

  /** The fingerprints of the runs that a question was judged by. */
  async digests(q: Question): Promise<string[]> {
    return (await this.outcomes(q)).flatMap((o) => o.runs.map((r) => r.digest));
  }
}
