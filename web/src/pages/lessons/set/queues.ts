import scenario from "../../../scenarios/lesson-queues.yaml?raw";
import { lesson, type Numbers } from "../lesson";

type P = "rate" | "bytes" | "load" | "high";

/** ms that a packet is on the line */
export const transmission = (p: Numbers<P>) => (p.bytes * 8) / (p.rate * 1e3);

/**
 * Mean wait in a queue without an end, in units of the mean transmission time: Pollaczek and
 * Khinchine. `variation`: the squared coefficient of variation of the lengths, 0 (M/D/1) or 1 (M/M/1).
 */
export const meanWait = (load: number, variation: number) =>
  ((1 + variation) * load) / (2 * (1 - load));

const wait = (p: Numbers<P>, percent: number) => meanWait(percent / 100, 0) * transmission(p);

/** Packets' times on the line that one run lasts: as many packets for each student. */
const LENGTH = 30_000;

export const queues = lesson({
  name: "queues",
  scenario,
  link: "line",
  parameters: {
    rate: { values: [8, 2, 4, 5, 10, 20], unit: "Mb/s" },
    bytes: { values: [1250, 500, 750, 1000, 1500], unit: "B" },
    load: { values: [80, 60, 70, 75], unit: "%" },
    high: { values: [95, 90, 96, 92], unit: "%" },
  },
  controls: {
    load: { kind: "range", min: 10, max: 98, unit: "%", start: () => 50 },
    lengths: { kind: "options", options: ["alike", "random"], start: () => 0 },
  },
  warmup: (p) => ((LENGTH / 50) * transmission(p)) / 1e3,
  own: (p) => [
    `topology.links.line.rate=${p.rate} Mb/s`,
    `traffic.data.source.packet=${p.bytes} B`,
    `measurement.warmup=${(LENGTH / 50) * transmission(p)} ms`,
    `measurement.duration=${LENGTH * transmission(p)} ms`,
    `measurement.interval=${(LENGTH / 200) * transmission(p)} ms`,
  ],
  chosen: (p, c) => [
    `traffic.data.source.rate=${(p.rate * c.load) / 100} Mb/s`,
    ...(c.lengths === 1 ? [`traffic.data.source.packet={exponential: ${p.bytes} B}`] : []),
  ],
  measures: [
    {
      name: "utilization",
      scope: "link",
      of: "line",
      metric: "utilization",
      theory: (_, c) => c.load / 100,
    },
    {
      name: "wait",
      scope: "queue",
      of: "line/fifo",
      metric: "sojourn_mean",
      theory: (p, c) => (meanWait(c.load / 100, c.lengths) * transmission(p)) / 1e3,
    },
    {
      name: "waiting",
      scope: "queue",
      of: "line/fifo",
      metric: "backlog_packets_mean",
      theory: (_, c) => meanWait(c.load / 100, c.lengths) * (c.load / 100),
    },
    { name: "wait99", scope: "queue", of: "line/fifo", metric: "sojourn_p99" },
  ],
  drawn: [{ place: "line/fifo", metric: "backlog_packets" }],
  watched: [],
  sweep: { control: "load", measure: "wait" },
  questions: [
    {
      kind: "number",
      name: "transmission",
      unit: "ms",
      digits: 3,
      expected: transmission,
      slips: (p) => ({ inverse: 1 / transmission(p) }),
    },
    {
      kind: "number",
      name: "wait",
      unit: "ms",
      digits: 2,
      expected: (p) => wait(p, p.load),
      slips: (p) => ({
        exponential: 2 * wait(p, p.load),
        delay: wait(p, p.load) + transmission(p),
        units: meanWait(p.load / 100, 0),
        percent: meanWait(p.load, 0) * transmission(p),
      }),
    },
    {
      kind: "choice",
      name: "growth",
      choices: ["load", "idle", "wait", "square"],
      // Each choice is a factor; the right one is that by which the formula's wait grows.
      shown: growth,
      right: (p) => {
        const factor = wait(p, p.high) / wait(p, p.load);
        const off = Object.entries(growth(p)).map(([k, f]) => [Math.abs(f - factor), k] as const);
        return off.reduce((a, b) => (b[0] < a[0] ? b : a))[1];
      },
    },
  ],
});

/** By what the wait may be thought to grow from the load to the higher one. */
function growth(p: Numbers<P>) {
  const load = p.high / p.load;
  const idle = (100 - p.load) / (100 - p.high);
  return { load, idle, wait: load * idle, square: (load * idle) ** 2 };
}
