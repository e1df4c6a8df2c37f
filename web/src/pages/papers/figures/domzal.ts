import type { AdmissionRow, Outcome } from "../../../engine/api";
import scenario from "../../../scenarios/paper-domzal.yaml?raw";
import { type Curves, changes, type Mark, type Point, type Settings } from "../figure";
import { stated } from "../found";
import { meanOf, slope } from "../statistics";

/** Figures 7 to 9: how long streams wait for admission, by the timer of a mechanism. */

const TIMERS = [1, 2, 5, 10, 20];
const MECHANISMS = ["EFM", "RAEF", "RBAEF"];
/** The timer of the paper's table I, in s. */
const TABLE = 5;
const TRIGGERS = ["dropped", "admitted"];
const START = { flows: 200 };

function settings(s: Settings): string[] {
  const flows = (n: number) => [
    `traffic.elastic-1.sessions.arrivals.poisson.count=${n}`,
    `traffic.elastic-1.sessions.active=${n}`,
  ];
  const trigger = s.trigger === "admitted" ? ["policies.FAN.fan.accept_trigger=true"] : [];
  return [...trigger, ...changes(s, START, { flows })];
}

/** The claim is about the mechanism that is shown. */
const only = (names: readonly string[], s: Settings) => names.includes(String(s.mechanism));

const slopes = (
  of: (line: string, x: number, quantity: string) => readonly number[] | undefined,
  line: string,
): number[] | undefined => {
  const waits = TIMERS.map((t) => of(line, t, "wait"));
  const runs = Math.min(...waits.map((w) => w?.length ?? 0));
  if (runs === 0) return undefined;
  return Array.from({ length: runs }, (_, i) =>
    slope(TIMERS.map((t, k) => [t, waits[k]?.[i] ?? Number.NaN] as const)),
  );
};

function waits(o: Outcome): AdmissionRow[] {
  return (o.admission ?? []).filter(
    (r) => r.link === "L3" && r.class === "streams" && r.direction === "data",
  );
}

export const domzal: Curves = {
  kind: "curves",
  name: "domzal",
  scenario,
  controls: [
    { kind: "choice", key: "mechanism", options: MECHANISMS },
    { kind: "choice", key: "trigger", options: TRIGGERS },
    {
      kind: "slider",
      key: "flows",
      // With more of them each has too little of a fifth of the rates to stay protected.
      range: { min: 40, max: 240, along: "linear", whole: true },
      start: START.flows,
      unit: "",
    },
  ],
  lines: (s) => [String(s.mechanism)],
  points: (s) =>
    TIMERS.map((x): Point => {
      const line = String(s.mechanism);
      return { variant: `${line}, ${x} s`, line, x, set: settings(s) };
    }),
  set: settings,
  details: { admission: true },
  tries: { raef: { mechanism: "RAEF" }, admitted: { mechanism: "RAEF", trigger: "admitted" } },
  measure: (o) => {
    const rows = waits(o);
    const runs = [...new Set(rows.map((r) => r.run))].sort((a, b) => a - b);
    const each = runs.map((run) => rows.filter((r) => r.run === run).map((r) => r.waiting_s));
    return { values: { wait: each.map(meanOf) }, singles: each.flat() };
  },
  panels: [{ name: "wait", quantity: "wait", unit: "s" }],
  xs: TIMERS,
  xUnit: "s",
  marks: (s): Mark[] => {
    const line = String(s.mechanism);
    const last = TIMERS.at(-1) ?? 0;
    const [y, half] = stated.waits[line] ?? [];
    const point: Mark[] =
      y === undefined || half === undefined ? [] : [{ kind: "point", line, x: TABLE, y, half }];
    return [{ kind: "line", name: "half", from: [0, 0], to: [last, last / 2] }, ...point];
  },
  readings: [
    { claim: "D3", unit: "s", values: (of, s) => of(String(s.mechanism), TABLE, "wait") },
    {
      claim: "D7",
      unit: "",
      values: (of, s) => (only(["EFM"], s) ? slopes(of, "EFM") : undefined),
    },
    {
      claim: "D8",
      unit: "",
      values: (of, s) => (only(["RAEF", "RBAEF"], s) ? slopes(of, String(s.mechanism)) : undefined),
    },
  ],
};
