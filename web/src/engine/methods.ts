import * as wasm from "spillgate-wasm";
import {
  type About,
  type Curve,
  type Details,
  MOST_CAPTURE,
  type Options,
  type Outcome,
  type Project,
  type Recording,
  type SummaryRow,
} from "./api";
import type { Methods, Task } from "./desk";
import { InputFault, translated } from "./faults";
import { Pace, remaining } from "./pace";

/** The engine's methods, by the module's classes. Runs are made in slices, between which others come. */

/** Bytes that runs may take: half of what a module can have, as results need room, too. */
const MEMORY = 2_000_000_000;

/** Happenings at a port that are recorded if a page says no number; 45 B each. */
const HAPPENINGS = 2_000_000;

/** How long a first slice is, from which the rest is reckoned; ms */
const FIRST = 150;

export const methods: Methods = {
  about: () => JSON.parse(wasm.about()),
  schema: (_, of) => JSON.parse(wasm.schema(of)),
  yamlToJson: (_, text) => asked(() => JSON.parse(wasm.yaml_to_json(text))),
  check: (_, project, options) =>
    withFiles(project.files, (files) => {
      const findings = JSON.parse(wasm.lint(files, project.path, words(options))).findings;
      return freeing(new wasm.Job(files, project.path, words(options)), (job) => ({
        description: JSON.parse(job.describe()),
        findings,
        memoryBytes: job.memory(),
      }));
    }),
  bounds: (_, project, options) =>
    withFiles(project.files, (files) =>
      JSON.parse(wasm.bounds(files, project.path, words(options))),
    ),
  estimate: (task, project, options) =>
    withJob(project, options, {}, async (job) => {
      const begin = performance.now();
      const fractionOf = () => job.progress()[0] ?? 0;
      // On a busy machine the time may be over before anything is done.
      const told = () => performance.now() - begin > FIRST && fractionOf() > 0;
      const done = await advance(task, job, told);
      const passed = (performance.now() - begin) / 1000;
      const fraction = fractionOf();
      const seconds = done ? passed : passed / fraction;
      return { seconds, memoryBytes: job.memory() };
    }),
  run: (task, project, options) =>
    withJob(project, options, { memory: MEMORY }, async (job) => {
      const begin = performance.now();
      await advance(task, job, () => {
        const [fraction = 0, runsDone = 0, runs = 0, events = 0] = job.progress();
        const passed = (performance.now() - begin) / 1000;
        task.progress({ fraction, runsDone, runs, events, remaining: remaining(fraction, passed) });
        return false;
      });
      const outcome = await freeing(job.results(), (results) => told(task, job, results, options));
      return { ...outcome, seconds: (performance.now() - begin) / 1000 };
    }),
  watch: (task, project, options) =>
    withJob(project, options, { memory: MEMORY }, (job) => watch(task, job, options)),
  explain: (_, project, options) =>
    withJob(project, options, {}, (job) =>
      JSON.parse(job.explain(0, options.run ?? 0, JSON.stringify(options.question))),
    ),
  understand: (_, file, text, platform, iface) =>
    withFiles({ [file]: text }, (files) =>
      JSON.parse(wasm.understand(files, file, platform, iface)),
    ),
  lintConfig: (_, file, text, platform) =>
    withFiles({ [file]: text }, (files) => {
      return JSON.parse(wasm.lint_configuration(files, file, platform)).findings;
    }),
  showOutput: (_, file, text) => {
    if (!wasm.is_show_output(new TextEncoder().encode(text))) return null;
    return withFiles({ [file]: text }, (files) => JSON.parse(wasm.offered(files, file)));
  },
  profile: async (_, file, capture, how) => {
    if (capture.size > MOST_CAPTURE) throw tooLong(file, capture.size);
    const bytes = new Uint8Array(await capture.arrayBuffer());
    // A name that the capture does not have.
    const config = how.config === undefined ? undefined : `${file}.cfg`;
    const files = { [file]: bytes, ...(config && { [config]: how.config ?? "" }) };
    const { by, platform = "ios", iface } = how;
    const request = { path: file, by, platform, config, interface: iface };
    return withFiles(files, (held) => JSON.parse(wasm.profile(held, JSON.stringify(request))));
  },
  exportPolicy: (_, of, to, names) => {
    const scenario = "files" in of;
    const path = scenario ? of.path : of.config;
    const files = scenario ? of.files : { [of.config]: of.text };
    const platform = scenario ? "ios" : of.platform;
    const request = { path, scenario, to_tc: to === "tc", platform, ...names };
    return withFiles(files, (held) =>
      JSON.parse(wasm.export_policy(held, JSON.stringify(request), "{}")),
    );
  },
  format: (_, values, unit) => {
    const numbers = Float64Array.from(values, (value) => value ?? Number.NaN);
    return wasm.format(numbers, new Float64Array(), unit);
  },
};

/** Options as the module reads them. */
function words(options: Options = {}, more: { memory?: number } = {}): string {
  const { set, seed, runs, variant } = options;
  return JSON.stringify({ set, seed, runs, variant, ...more });
}

/** Does what the module may refuse. */
async function asked<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw translated(error, wasm.last_panic);
  }
}

/** Uses what lies in the module's memory, and frees it, unless the module is unusable. */
async function freeing<H extends wasm.Held, T>(
  held: H,
  work: (held: H) => T | Promise<T>,
): Promise<T> {
  try {
    return await work(held);
  } finally {
    if (wasm.last_panic() === undefined) held.free();
  }
}

function withFiles<T>(
  contents: Record<string, string | Uint8Array>,
  work: (files: wasm.Files) => T | Promise<T>,
): Promise<T> {
  const encoder = new TextEncoder();
  return asked(() =>
    freeing(new wasm.Files(), (files) => {
      for (const [name, content] of Object.entries(contents)) {
        files.put(name, typeof content === "string" ? encoder.encode(content) : content);
      }
      return work(files);
    }),
  );
}

function withJob<T>(
  project: Project,
  options: Options | undefined,
  more: { memory?: number },
  work: (job: wasm.Job) => T | Promise<T>,
): Promise<T> {
  return withFiles(project.files, (files) =>
    freeing(new wasm.Job(files, project.path, words(options, more)), work),
  );
}

/** Advances in slices until all is done, or `enough` says so; whether all is done. */
async function advance(
  task: Task,
  work: { advance(events: number): boolean },
  enough: () => boolean,
): Promise<boolean> {
  const pace = new Pace();
  for (;;) {
    const begin = performance.now();
    const more = work.advance(pace.events);
    pace.took(performance.now() - begin);
    if (enough()) return !more;
    if (!more) return true;
    await task.pause();
  }
}

async function told(
  task: Task,
  job: wasm.Job,
  results: wasm.Results,
  { samples = [], admission = false }: Details = {},
): Promise<Omit<Outcome, "seconds">> {
  const next = async (text: string) => {
    await task.pause();
    return JSON.parse(text);
  };
  return {
    description: await next(job.describe()),
    summary: await summary(task, results),
    verdicts: await next(results.verdicts()),
    bounds: await next(results.bounds()),
    differences: await next(results.differences()),
    transients: await next(results.transients()),
    words: await next(results.words()),
    runs: await next(results.runs()),
    series: curves(results),
    distributions: await next(results.distributions()),
    ...(samples.length > 0 && { samples: await next(results.samples(samples.join(" "))) }),
    ...(admission && { admission: await next(results.admission()) }),
    partial: results.is_partial(),
  };
}

/** The summary, scope by scope: all of it may take longer than a cancel should wait. */
async function summary(task: Task, results: wasm.Results): Promise<SummaryRow[]> {
  scopes ??= (JSON.parse(wasm.about()) as About).catalog.scopes?.map((s) => s.name ?? "");
  const rows: SummaryRow[][] = [];
  for (const scope of scopes ?? [""]) {
    await task.pause();
    rows.push(JSON.parse(results.summary(scope)));
  }
  return rows.flat();
}

let scopes: string[] | undefined;

/** The time series, each with values of its own, so that they can be handed over. */
function curves(results: wasm.Results): Curve[] {
  const heads: Omit<Curve, "values">[] = JSON.parse(results.series());
  const all = results.values();
  let at = 0;
  return heads.map((head) => {
    const length = all[at] ?? 0;
    const values = all.slice(at + 1, at + 1 + length);
    at += 1 + length;
    return { ...head, values };
  });
}

async function watch(
  task: Task,
  job: wasm.Job,
  options: { run?: number; link: string; limit?: number },
): Promise<Recording> {
  const begin = performance.now();
  const watching = job.watch(0, options.run ?? 0, options.link, options.limit ?? HAPPENINGS);
  const watched = await finished(task, watching, begin);
  return freeing(watched, (of) => {
    const results = of.results();
    if (!results) throw new Error("the results are taken once");
    return freeing(results, () => ({
      ...JSON.parse(of.head()),
      ...{ time: of.time(), kind: of.kind(), packet: of.packet(), flow: of.flow() },
      ...{ cls: of.class(), queue: of.queue(), bytes: of.bytes(), until: of.until() },
      ...{ wait: of.wait(), reason: of.reason() },
      ...{ average: of.average(), probability: of.probability() },
      series: curves(results),
      summary: JSON.parse(results.summary("")),
      verdicts: JSON.parse(results.verdicts()),
    }));
  });
}

async function finished(task: Task, watching: wasm.Watch, begin: number): Promise<wasm.Watched> {
  try {
    await advance(task, watching, () => {
      const fraction = watching.fraction();
      const passed = (performance.now() - begin) / 1000;
      const left = remaining(fraction, passed);
      task.progress({ fraction, runsDone: 0, runs: 1, events: 0, remaining: left });
      return false;
    });
  } catch (error) {
    if (wasm.last_panic() === undefined) watching.free();
    throw error;
  }
  // This takes it, so that there is nothing to free.
  return watching.finish();
}

function tooLong(file: string, bytes: number): InputFault {
  const size = (n: number) => (n >= 1e9 ? `${(n / 1e9).toFixed(1)} GB` : `${n / 1e6} MB`);
  return new InputFault([
    {
      severity: "error",
      code: "",
      file,
      message: `the capture has ${size(bytes)}; a page takes ${size(MOST_CAPTURE)} at most`,
      hint: "on the command line `spillgate profile FILE` reads captures of any length",
    },
  ]);
}
