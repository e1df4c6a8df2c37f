/** The documents that the core writes, as far as pages read them. Names are those of its JSON. */

export type Cell = number | null;

/** The scenario as it was read: `spillgate check --format json`. */
export interface Description {
  name: string;
  hash: string;
  variants: string[];
  /** The variant that the others are compared with; `null` where there is one. */
  against: string | null;
  classes: string[];
  links: LinkRow[];
  /** One a setting of the grid: what stands at each link, in the order of `links`. */
  settings: Setting[];
  /** The index in `settings` of each variant. */
  set: number[];
  flows: number;
  connections: number;
  sessions: unknown[];
  patterns: unknown[];
  runs: number;
  seed: number;
  level: number;
  correction: string;
  design: string;
  looks: string;
  measurement: { duration: number; interval: number; warmup: number };
  memory_bytes: number;
  sla: Requirement[];
  files: string[];
  failures: unknown[];
  outside: unknown[];
  unmodelled: unknown[];
  warnings: unknown[];
}

export interface LinkRow {
  name: string;
  from: string;
  to: string;
  /** b/s */
  rate: number;
  /** s */
  delay: number;
  mtu: number | null;
  policy: string;
  counts: string;
  policy_counts?: string;
  labels: unknown[];
}

export interface Setting {
  policies: string[];
  outlines: (Outline | null)[];
  rings: (Ring | null)[];
  arriving: unknown[];
}

export interface Ring {
  packets: number;
  from: string;
  /** s */
  delay?: number;
  longest?: number;
}

/** A policy, or a class within it, in the words of the tables. Rates in b/s. */
export interface Outline {
  name: string;
  kind: string | null;
  policy: string | null;
  line?: number;
  queue: string | null;
  condition: string;
  promise: string;
  asked: string;
  rate: Cell;
  level: Cell;
  guaranteed: Cell;
  shape: unknown;
  police: unknown;
  priority_policer?: { rate: number; burst: number; words: string };
  limit: string;
  limit_packets: Cell;
  limit_bytes: Cell;
  flows: string;
  flow_packets: Cell;
  aqm: unknown;
  thresholds: unknown[];
  classes: Outline[];
}

export interface Requirement {
  class: string;
  customer: string | null;
  site: string | null;
  metric: string;
  unit: string;
  max: Cell;
  min: Cell;
  basis: string | null;
  certain: boolean;
  requirement: string;
}

export interface SummaryRow {
  variant: string;
  scope: string;
  name: string;
  metric: string;
  unit: string;
  mean: Cell;
  low: Cell;
  high: Cell;
  n: number;
  bound: Cell;
}

export interface VerdictRow {
  variant: string;
  class: string;
  customer: string | null;
  site: string | null;
  dscp: string | null;
  basis: string | null;
  metric: string;
  unit: string;
  bound: number;
  side: "max" | "min";
  mean: Cell;
  low: Cell;
  high: Cell;
  open: boolean;
  least: Cell;
  most: Cell;
  n: number;
  level: number;
  verdict: "pass" | "fail" | "undecided" | "no data";
  certain: boolean;
  said: string;
  largest: Cell;
  cannot_exceed: Cell;
  why: string | null;
  witness: unknown;
  further_runs: number | null;
  note: string | null;
  about: string;
  whose: string;
  requirement: string;
  words: string;
  measured: string;
  needs: string | null;
  advice: string | null;
}

export interface BoundRow {
  variant: string;
  class: string;
  /** s */
  owd: Cell;
  lossless: boolean;
  why: string | null;
}

/** Bounds by network calculus at one point of the grid: `spillgate bound --format json`. */
export interface PointBounds {
  point: string;
  certain: unknown[];
  bounds: {
    classes: FlowBound[];
    flows: FlowBound[];
    queues: QueueBound[];
    without_failures: boolean;
  };
}

export interface FlowBound {
  name: string;
  owd: Cell;
  once: Cell;
  propagation: Cell;
  lossless: boolean;
  halved: unknown[];
  steps: unknown[];
  why: string | null;
}

export interface QueueBound {
  link: string;
  queue: string;
  classes: string[];
  backlog: Cell;
  /** s, to the end of the transmission */
  delay: Cell;
  rate: Cell;
  lossless: boolean;
  why: string | null;
}

export interface DifferenceRow {
  variant: string;
  against: string;
  class: string;
  metric: string;
  unit: string;
  mean: Cell;
  low: Cell;
  high: Cell;
  n: number;
  effect: string;
}

export interface Words {
  remarks: string[];
  conclusion: { verdict: string; headline: string; tally: string; certainty: string } | null;
  assumptions: string[];
}

export interface RunRow {
  variant: string;
  run: number;
  seed: number;
  /** 32 hexadecimal digits over all that happened, the same natively and here. */
  digest: string;
  packets: number;
}

/** The values of a metric in each run. */
export interface SampleRow {
  variant: string;
  scope: string;
  name: string;
  metric: string;
  unit: string;
  /** Numbers of the runs, ascending. */
  runs: number[];
  values: Cell[];
}

/** What a link with flow admission did to a flow in a run. */
export interface AdmissionRow {
  variant: string;
  run: number;
  link: string;
  flow: string;
  class: string;
  direction: "data" | "acknowledgments";
  /** s, from the start of the run; as `admitted_s`, `null` if it was not admitted */
  offered_s: number;
  admitted_s: Cell;
  /** s; to the end of the run if it was not admitted */
  waiting_s: number;
  refused: number;
  refused_total: number;
  admissions: number;
  removals: number;
  timeouts: number;
}

/** Quantiles of the one-way delay of a class: the mean over runs, the least and the most. */
export interface DelayCurve {
  variant: string;
  class: string;
  q: number[];
  owd: number[];
  least: number[];
  most: number[];
}

/** What a lint rule found: `spillgate lint --format json`. */
export interface Finding {
  id: string;
  name: string;
  severity: "error" | "warning" | "note";
  message: string;
  help: string;
  holds: string;
  file: string;
  line: number;
  column: number;
  path: string;
  source: string;
  variants: string[];
}

/** What was understood of a router's configuration. */
export interface Understood {
  file: string;
  platform: { name: string; summary: string; counts: string; sources: string[] };
  interfaces: {
    name: string;
    line: number;
    rate: Cell;
    rate_from: string;
    counted_bytes: number;
    counts: string;
    circuit: unknown;
    ring: Ring | null;
    policy: Outline | null;
    input: Outline | null;
  }[];
  unattached: Outline[];
  unmodelled: unknown[];
  warnings: unknown[];
}

/** Loads read from `show policy-map interface`. */
export interface Offered {
  policies: {
    interface: string;
    direction: string;
    policy: string;
    line: number;
    framing: number;
    classes: {
      name: string;
      within: string[];
      child: string | null;
      line: number;
      packets: Cell;
      bytes: Cell;
      interval_s: Cell;
      offered_bps: Cell;
      drop_bps: Cell;
      matches: string[];
      dscp: string[];
      queue_depth: Cell;
      total_drops: Cell;
      no_buffer_drops: Cell;
    }[];
  }[];
  warnings: unknown[];
}

/** A capture in numbers, and a scenario whose sources are like it. */
export interface Profile {
  file: string;
  format: string;
  by: string;
  records: number;
  packets: number;
  bytes: number;
  begin: number;
  /** s */
  length: number;
  groups: {
    name: string;
    dscp: string | null;
    flows: number;
    shape: { rate: Cell; packets: number; bytes: number; size: number; peak_to_mean: Cell };
    fit: { count: number; source: unknown; why: string; check: unknown } | null;
  }[];
  not_ip: [string, number][];
  omitted: [number, number];
  remarks: string[];
  scenario: string;
}

/** Which packets to tell about. Flows by their index; `at` a link by its index. */
export interface Question {
  groups: [name: string, flows: number[]][];
  worst: number;
  drops: number;
  at: number | null;
  number: number | null;
  answers: boolean;
}

/** Times in ps. */
export interface Explanation {
  digest: string;
  groups: { name: string; packets: ToldPacket[]; drops: unknown[]; marks: unknown[] }[];
}

export interface ToldPacket {
  flow: string;
  class: string;
  dscp: string;
  seq: number;
  bytes: number;
  sent: number;
  received: number | null;
  delay: number | null;
  lost: unknown;
  acknowledgment: boolean;
  hops: Record<string, unknown>[];
  notes: string[];
  sentence: string;
}

/** Every mechanism, metric and unit there is; lists by topic. */
export type Catalog = Record<string, CatalogEntry[]>;

export interface CatalogEntry {
  kind?: string;
  name?: string;
  label?: string;
  summary: string;
  [more: string]: unknown;
}

export type JsonSchema = Record<string, unknown>;
