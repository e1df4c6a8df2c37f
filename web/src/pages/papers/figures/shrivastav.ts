import scenario from "../../../scenarios/paper-shrivastav.yaml?raw";
import { type Curves, changes, type Lookup, type Point, type Settings } from "../figure";
import { sampled, summed } from "../samples";
import { paired } from "../statistics";

/** Figure 2: the queues of a switch by speedup. */

const SPEEDUPS = [1.1, 1.3, 1.5, 2, 2.5];
const [LOWEST, HIGH] = [1.1, 2];
const [TAIL, RED, MODIFIED] = ["drop-tail", "RED", "modified RED"];
const SCHEMES = [TAIL, RED, MODIFIED];
const PORTS = 4;
/** Seconds in which sessions begin. */
const PERIOD = 100;
const START = { nu: 0.5, sessions: 800 };
const SWITCH = "topology.nodes.1.switch";
const BACKLOG = "backlog_packets_mean";

function settings(scheme: string, s: Settings): string[] {
  const nu = (x: number) => [`${SWITCH}.congestion_measure.nu=${x}`];
  // Arrivals at each pair of ports.
  const gap = (n: number) => `${(PERIOD * PORTS ** 2) / n} s`;
  const sessions = (n: number) =>
    Array.from({ length: PORTS }, (_, i) => `traffic.${i}.sessions.arrivals.poisson.gap=${gap(n)}`);
  const fabric =
    s.fabric === "crossbar"
      ? [`${SWITCH}.fabric={crossbar: {matching: {islip: {}}, cell: packets}}`]
      : [];
  return [...fabric, ...changes(s, START, scheme === MODIFIED ? { sessions, nu } : { sessions })];
}

const ratio = (
  of: Lookup,
  quantity: string,
  a: readonly [line: string, x: number],
  b: readonly [line: string, x: number],
) => paired(of(...a, quantity), of(...b, quantity), (x, y) => x / y);

const SLIDER = { kind: "slider", unit: "" } as const;

export const shrivastav: Curves = {
  kind: "curves",
  name: "shrivastav",
  scenario,
  controls: [
    { ...SLIDER, key: "nu", range: { min: 0, max: 2, along: "linear" }, start: START.nu },
    {
      ...SLIDER,
      key: "sessions",
      range: { min: 80, max: 800, along: "linear", whole: true },
      start: START.sessions,
    },
    { kind: "choice", key: "fabric", options: ["parallel", "crossbar"] },
  ],
  lines: () => SCHEMES,
  points: (s) =>
    SPEEDUPS.flatMap((x) =>
      SCHEMES.map((line): Point => {
        return { variant: `${line} (speedup=${x})`, line, x, set: settings(line, s) };
      }),
    ),
  set: (s) => settings(MODIFIED, s),
  details: { samples: ["queue", "switch-input"] },
  tries: { nu: { nu: 0.125 }, crossbar: { fabric: "crossbar" } },
  measure: (o) => {
    // A port may have several queues.
    const output = summed(sampled(o, "queue", BACKLOG, (name) => name.startsWith("out-")));
    const input = summed(sampled(o, "switch-input", BACKLOG, (name) => name.startsWith("in-")));
    const each = (sums: number[]) => sums.map((x) => x / PORTS);
    return { values: { output: each(output), input: each(input) } };
  },
  panels: [
    { name: "output", quantity: "output", unit: "packets" },
    { name: "input", quantity: "input", unit: "packets" },
  ],
  xs: SPEEDUPS,
  xUnit: "",
  marks: () => [],
  readings: [
    {
      claim: "S4",
      unit: "",
      values: (of) => ratio(of, "output", [MODIFIED, LOWEST], [RED, LOWEST]),
    },
    { claim: "S5", unit: "", values: (of) => ratio(of, "output", [MODIFIED, HIGH], [RED, HIGH]) },
    { claim: "S1", unit: "", values: (of) => ratio(of, "input", [TAIL, LOWEST], [RED, LOWEST]) },
    { claim: "S2", unit: "", values: (of) => ratio(of, "input", [RED, HIGH], [RED, LOWEST]) },
    {
      claim: "S3",
      unit: "packets",
      values: (of) =>
        paired(of(TAIL, LOWEST, "output"), of(RED, LOWEST, "output"), (a, b) => a - b),
    },
  ],
};
