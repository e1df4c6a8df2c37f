/** An engine that answers with what was recorded (`record.py`), for tests without the module. */

import { readFileSync } from "node:fs";
import { parse } from "yaml";
import {
  type About,
  type Catalog,
  type Checked,
  type Curve,
  type Diagnostic,
  type Engine,
  type Going,
  InputProblem,
  type JsonSchema,
  type Outcome,
  type Project,
} from "../../src/engine/api";

interface RecordedCurve extends Omit<Curve, "values"> {
  values: (number | null)[];
}

interface Answers {
  scenario: string;
  checked: Checked;
  outcome: Omit<Outcome, "series" | "description" | "partial" | "seconds"> & {
    series: RecordedCurve[];
  };
  catalog: Catalog;
}

function read<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8")) as T;
}

export const answers = read<Answers>("answers.json");
export const schema = read<JsonSchema>("schema.json");

/** The results of a short run of the first example. */
export function outcome(): Outcome {
  const series = answers.outcome.series.map((c) => ({
    ...c,
    values: Float64Array.from(c.values, (v) => v ?? Number.NaN),
  }));
  const { description } = answers.checked;
  return { ...answers.outcome, series, description, partial: false, seconds: 0.1 };
}

/** What a test makes otherwise. */
type Made = Partial<Engine> & {
  /** What is wrong with a project; nothing if this is not given. */
  wrong?: (project: Project) => Diagnostic[];
};

function unknown(): never {
  throw new Error("the fake engine has no recording of this");
}

/** An engine of recorded answers; `made` replaces some of them. */
export function fakeEngine({ wrong = () => [], ...made }: Made = {}): Engine {
  const checked = (project: Project) => {
    const problems = wrong(project);
    if (problems.length > 0) throw new InputProblem(problems);
    return answers.checked;
  };
  const about: About = {
    version: "0",
    commit: "0",
    behavior: 0,
    catalog: answers.catalog,
    rules: [],
  };
  return {
    about: async () => about,
    schema: async () => schema,
    yamlToJson: async (text) => parse(text) as unknown,
    check: async (project) => checked(project),
    bounds: async () => [],
    estimate: async (project) => {
      checked(project);
      return { seconds: 0.1, memoryBytes: 1e6 };
    },
    run: async (project, _, going?: Going) => {
      checked(project);
      going?.signal?.throwIfAborted();
      going?.progress?.({
        fraction: 0.5,
        runsDone: 2,
        runs: 4,
        events: 1000,
        remaining: 0.1,
      });
      return outcome();
    },
    watch: async () => unknown(),
    explain: async () => unknown(),
    understand: async () => unknown(),
    lintConfig: async () => [],
    showOutput: async () => null,
    profile: async () => unknown(),
    exportPolicy: async () => unknown(),
    format: async () => unknown(),
    ...made,
  };
}
