import type {
  AdmissionRow,
  BoundRow,
  Catalog,
  DelayCurve,
  Description,
  DifferenceRow,
  Explanation,
  Finding,
  JsonSchema,
  Offered,
  PointBounds,
  Profile,
  Question,
  RunRow,
  SampleRow,
  SummaryRow,
  Understood,
  VerdictRow,
  Words,
} from "./rows";

export type * from "./rows";

/** Bytes of a capture that a page takes: it is held twice, beside everything else. */
export const MOST_CAPTURE = 300_000_000;

/** A scenario with the files it names. */
export interface Project {
  /** The scenario's path, one of `files`. */
  path: string;
  files: Record<string, string | Uint8Array>;
}

export interface Options {
  /** As `--set` has it: `topology.links.up.rate=8 Mb/s`. */
  set?: string[];
  seed?: number;
  runs?: number;
  variant?: string;
}

export interface Diagnostic {
  severity: "error" | "warning" | "note";
  code: string;
  message: string;
  file?: string;
  /** From 1, as `column`. */
  line?: number;
  column?: number;
  /** Where in the scenario: `topology.links.up.rate`. */
  key?: string;
  /** The text that is wrong. */
  found?: string;
  hint?: string;
  /** The line of the file. */
  source?: string;
}

/** What of runs is told beside their summary. */
export interface Details {
  /** Scopes of which the value of each run is told: `queue`, `class`. */
  samples?: readonly string[];
  /** Whether it is told what flow admission did to each flow. */
  admission?: boolean;
}

/** Bad input, with the places. */
export class InputProblem extends Error {
  override name = "InputProblem";
  readonly diagnostics: Diagnostic[];

  constructor(diagnostics: Diagnostic[]) {
    super(diagnostics.map((d) => d.message).join("\n"));
    this.diagnostics = diagnostics;
  }
}

/** The module trapped, ran out of memory or cannot be loaded. The next call starts it anew. */
export class Crash extends Error {
  override name = "Crash";
}

export interface Progress {
  /** 0 to 1 */
  fraction: number;
  runsDone: number;
  runs: number;
  events: number;
  /** s; NaN at first */
  remaining: number;
}

export interface Going {
  progress?: (p: Progress) => void;
  signal?: AbortSignal;
}

export interface About {
  version: string;
  commit: string;
  behavior: number;
  catalog: Catalog;
  /** The rules of lint. */
  rules: Record<string, unknown>[];
}

export interface Checked {
  description: Description;
  findings: Finding[];
  /** What the runs may need. */
  memoryBytes: number;
}

export interface Estimate {
  seconds: number;
  memoryBytes: number;
}

export type Names = Partial<
  Record<"interface" | "link" | "variant" | "policy" | "rate" | "device", string>
>;

export interface Exported {
  text: string;
  notes: { place: string; reason: string }[];
}

export interface ProfileHow {
  by: "dscp" | "flow" | "class";
  config?: string;
  platform?: string;
  iface?: string;
}

/**
 * The simulator. It runs in a worker. Each method rejects with `InputProblem` or `Crash`, and where
 * its signal is aborted with a `DOMException` named `AbortError`. A new call stops no other.
 */
export interface Engine {
  about(): Promise<About>;
  schema(of: "scenario" | "sla"): Promise<JsonSchema>;
  yamlToJson(text: string): Promise<unknown>;
  check(p: Project, o?: Options): Promise<Checked>;
  bounds(p: Project, o?: Options): Promise<PointBounds[]>;
  /** Runs a first slice to tell how long all of it takes. */
  estimate(p: Project, o?: Options): Promise<Estimate>;
  run(p: Project, o?: Options & Details, g?: Going): Promise<Outcome>;
  watch(
    p: Project,
    o: Options & { run?: number; link: string; limit?: number },
    g?: Going,
  ): Promise<Recording>;
  explain(
    p: Project,
    o: Options & { run?: number; question: Question },
    g?: Going,
  ): Promise<Explanation>;
  understand(file: string, text: string, platform: string, iface?: string): Promise<Understood>;
  lintConfig(file: string, text: string, platform: string): Promise<Finding[]>;
  /** `null`: it is no output of `show policy-map interface`. */
  showOutput(file: string, text: string): Promise<Offered | null>;
  profile(file: string, bytes: Blob, how: ProfileHow): Promise<Profile>;
  exportPolicy(
    p: Project | { config: string; text: string; platform: string },
    to: "ios" | "tc",
    names: Names,
  ): Promise<Exported>;
  /** Numbers in fitting units, as the command line writes them. */
  format(values: (number | null)[], unit: string): Promise<string[]>;
}

export interface Outcome {
  description: Description;
  summary: SummaryRow[];
  verdicts: VerdictRow[];
  bounds: BoundRow[];
  differences: DifferenceRow[];
  transients: unknown[];
  words: Words;
  runs: RunRow[];
  series: Curve[];
  distributions: DelayCurve[];
  /** As asked for. */
  samples?: SampleRow[];
  /** As asked for. */
  admission?: AdmissionRow[];
  partial: boolean;
  /** How long it ran. */
  seconds: number;
}

export interface Curve {
  variant: string;
  run: number;
  place: string;
  metric: string;
  unit: string;
  /** s, as `step` */
  start: number;
  step: number;
  values: Float64Array;
}

/** Everything that happened at one port, in order: columns of equal length. */
export interface Recording {
  link: string;
  /** b/s */
  rate: number;
  variant: string;
  /** s */
  end: number;
  digest: string;
  classes: string[];
  queues: string[];
  flows: string[];
  reasons: string[];
  count: number;
  leftOut: number;
  /** s */
  time: Float64Array;
  /** 0 arrives (before policing and queueing), 1 leaves (transmission begins), 2 dropped, 3 marked */
  kind: Uint8Array;
  /** Number of the packet at this port, from 0, by arrival. */
  packet: Uint32Array;
  flow: Uint32Array;
  cls: Uint16Array;
  queue: Uint16Array;
  bytes: Uint32Array;
  /** kind 1: when its transmission ends; else NaN */
  until: Float64Array;
  /** kind 1: s since it arrived at the port */
  wait: Float64Array;
  /** kind 2: index in `reasons`; else 255 */
  reason: Uint8Array;
  /** The AQM's average queue (packets) after the event; NaN where there is none. */
  average: Float64Array;
  /** Its drop or mark probability; NaN where there is none. */
  probability: Float64Array;
  series: Curve[];
  summary: SummaryRow[];
  verdicts: VerdictRow[];
}
