import policies from "../../../../../papers/spillgate_papers/mitroi/system/policies.cfg?raw";
import scenario from "../../../scenarios/paper-mitroi.yaml?raw";
import { type Mark, numberOf, type Point, type Rows, type Settings } from "../figure";
import { claimsOf, share } from "../found";
import { sample } from "../samples";

/** Figure 8: what voice and video lose under each policy. */

const EARLY = ["FIFO", "WFQ"];
const INSIDE = ["CBWFQ", "CBWFQ-LLQ", "CBWFQ-LLQ-WRED"];
const CLASS_BASED = [...INSIDE, ...INSIDE.map((p) => `MPLS-${p}`)];
const POLICIES = [...EARLY, ...CLASS_BASED];
const REAL_TIME = ["voice", "video"];
/** Table 1: name, flows, class, DSCP and b/s of each. */
const TABLE = [
  ["voice", 10, "voice", "ef", 1_500_000],
  ["video", 10, "video", "af41", 3_000_000],
  ["critical-1", 4, "critical", "af31", 2_502_000],
  ["critical-2", 3, "critical", "af32", 3_336_000],
  ["critical-3", 3, "critical", "af33", 3_336_000],
  ["non-critical-1", 4, "non-critical", "af21", 3_336_000],
  ["non-critical-2", 3, "non-critical", "af22", 4_446_000],
  ["non-critical-3", 3, "non-critical", "af23", 4_446_000],
  ["bulk-1", 4, "bulk", "af11", 666_000],
  ["bulk-2", 3, "bulk", "af12", 888_000],
  ["bulk-3", 3, "bulk", "af13", 888_000],
] as const;
/** Mb/s */
export const OFFERED = TABLE.reduce((sum, [, n, , , rate]) => sum + n * rate, 0) / 1e6;
const START = { load: OFFERED, limit: 40 };
/** us between the starts of two streams that start in the order of table 1 */
const GAP = 90;
/** Beside it hardly any jitter, as in the paper's own kind of generator. */
const EXACT = "0.01 %";

/** Values of the flows where they are others. */
function traffic(s: Settings): string[] {
  const load = numberOf(s, "load");
  if (s.start === "order") return [`traffic=${JSON.stringify(inOrder(load / OFFERED))}`];
  return TABLE.flatMap(([name, , , , rate]) => [
    ...(load === START.load ? [] : [`traffic.${name}.source.rate=${scaled(rate, load)} b/s`]),
    ...(s.start === "together"
      ? [`traffic.${name}.source.phase=0 s`, `traffic.${name}.source.jitter=${EXACT}`]
      : []),
  ]);
}

const scaled = (rate: number, load: number) => Math.round((rate * load) / OFFERED);

/** The 50 flows one by one, each a little after the last, and what empties LLQ's bucket. */
export function inOrder(factor: number): unknown[] {
  const path = { from: "site-a", to: "site-b" };
  let started = 0;
  const flows = TABLE.flatMap(([name, count, cls, dscp, rate]) =>
    Array.from({ length: count }, (_, i) => {
      const phase = `${GAP * started++} us`;
      const bits = `${Math.round(rate * factor)} b/s`;
      const cbr = { rate: bits, packet: "1500 B", jitter: EXACT, phase };
      return { flow: { name: `${name}-${i}`, class: cls, dscp, ...path, source: { cbr } } };
    }),
  );
  const cbr = { rate: "60 Mb/s", packet: "1500 B" };
  const filler = { name: "filler", class: "filler", dscp: "ef", ...path, stop: "200 ms" };
  return [...flows, { flow: { ...filler, source: { cbr } } }];
}

function settings(policy: string, s: Settings): string[] {
  const limit = numberOf(s, "limit");
  const own =
    EARLY.includes(policy) && limit !== START.limit
      ? [`policies.FIFO.classes.class-default.queue_limit=${limit} packets`]
      : [];
  return [...traffic(s), ...own];
}

export const mitroi: Rows = {
  kind: "rows",
  name: "mitroi",
  scenario,
  files: { "policies.cfg": policies },
  controls: [
    { kind: "choice", key: "start", options: ["random", "order", "together"] },
    {
      kind: "slider",
      key: "load",
      range: { min: 60, max: 160, along: "linear" },
      start: START.load,
      unit: "Mb/s",
    },
    {
      kind: "slider",
      key: "limit",
      range: { min: 2, max: 500, along: "log", whole: true },
      start: START.limit,
      unit: "packets",
    },
  ],
  lines: () => REAL_TIME,
  points: (s) =>
    POLICIES.map((variant, x): Point => ({ variant, line: "", x, set: settings(variant, s) })),
  set: (s) => settings("FIFO", s),
  details: { samples: ["class"] },
  tries: { order: { start: "order" }, limit: { limit: 300 }, load: { load: 98 } },
  measure: (o) => ({
    values: Object.fromEntries(REAL_TIME.map((c) => [c, sample(o, "class", c, "loss_ratio")])),
  }),
  panels: [{ name: "loss", quantity: "loss", unit: "1" }],
  rows: POLICIES,
  marks: (): Mark[] => {
    const { M1, M2, M3 } = claimsOf("mitroi");
    const early = { voice: share(M1), video: share(M2) };
    return REAL_TIME.flatMap((line) =>
      POLICIES.map((p, x): Mark => {
        const y = CLASS_BASED.includes(p) ? share(M3) : early[line as keyof typeof early];
        return { kind: "point", line, x, y };
      }),
    );
  },
  readings: [
    { claim: "M1", unit: "%", values: (of) => percent(of("", 0, "voice")) },
    { claim: "M2", unit: "%", values: (of) => percent(of("", 0, "video")) },
    { claim: "M3", unit: "%", values: (of) => percent(largest(of)) },
  ],
};

function percent(shares: readonly number[] | undefined): number[] | undefined {
  return shares?.map((x) => x * 100);
}

/** The largest loss of voice and video with classes, in each run. */
function largest(
  of: (line: string, x: number, quantity: string) => readonly number[] | undefined,
): number[] | undefined {
  const lists = CLASS_BASED.flatMap((p) => REAL_TIME.map((c) => of("", POLICIES.indexOf(p), c)));
  if (lists.some((list) => list === undefined)) return undefined;
  const [first = []] = lists;
  return first.map((_, run) => Math.max(...lists.map((list) => list?.[run] ?? Number.NaN)));
}
