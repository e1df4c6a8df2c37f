import scenario from "../../../scenarios/lesson-red.yaml?raw";
import { lesson, type Numbers } from "../lesson";
import { greatest, swing } from "../outcome";

type P = "min" | "max" | "most" | "at" | "queue" | "arrivals";

/** The share of the way from the lower threshold to the upper. */
const way = (p: Numbers<P>) => (p.at - p.min) / (p.max - p.min);

/** Weights that the slider and the question have. */
export const WEIGHTS = [0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002] as const;
const STANDARD = WEIGHTS.indexOf(0.002);
const ASKED = { fast: 0.02, standard: 0.002, slow: 0.0002 };

/** The average after so many arrivals to a queue that is longer at once. */
const average = (p: Numbers<P>) => p.queue * (1 - (1 - 0.002) ** p.arrivals);

const weight = (w: number) => `policies.red.aqm.red.weight=${w}`;

export const red = lesson({
  name: "red",
  scenario,
  link: "line",
  parameters: {
    min: { values: [10, 8, 12], unit: "packets" },
    max: { values: [30, 28, 32], unit: "packets" },
    most: { values: [10, 12, 8], unit: "%" },
    at: { values: [25, 15, 18, 22], unit: "packets" },
    queue: { values: [60, 50, 80, 100], unit: "packets" },
    arrivals: { values: [200, 100, 150, 300], unit: "" },
  },
  controls: {
    weight: { kind: "options", options: WEIGHTS.map(String), start: () => STANDARD },
    most: { kind: "range", min: 1, max: 50, unit: "%", start: (p) => p.most },
    flows: { kind: "range", min: 1, max: 30, unit: "", start: () => 8 },
  },
  warmup: () => 10,
  own: (p) => [
    `policies.red.aqm.red.min_th=${p.min}`,
    `policies.red.aqm.red.max_th=${p.max}`,
    `policies.red.aqm.red.max_p=${p.most / 100}`,
  ],
  chosen: (_, c) => [
    weight(WEIGHTS[c.weight] ?? 0.002),
    `policies.red.aqm.red.max_p=${c.most / 100}`,
    `traffic.download.count=${c.flows}`,
  ],
  measures: [
    { name: "queue", scope: "queue", of: "line/fifo", metric: "backlog_packets_mean" },
    { name: "longest", scope: "queue", of: "line/fifo", metric: "backlog_packets_max" },
    { name: "early", scope: "queue", of: "line/fifo", metric: "drops_early" },
    {
      name: "swing",
      scope: "queue",
      of: "line/fifo",
      metric: "backlog_packets",
      computed: (o) => swing(o, "line/fifo", "backlog_packets"),
    },
    { name: "utilization", scope: "link", of: "line", metric: "utilization" },
  ],
  drawn: [
    { place: "line/fifo", metric: "backlog_packets" },
    { place: "line/fifo", metric: "backlog_average" },
  ],
  watched: [],
  levels: (p) => ({ min: p.min, max: p.max }),
  questions: [
    {
      kind: "number",
      name: "probability",
      unit: "%",
      digits: 2,
      expected: (p) => way(p) * p.most,
      slips: (p) => ({
        way: way(p) * 100,
        zero: (p.at / p.max) * p.most,
        other: (1 - way(p)) * p.most,
      }),
    },
    {
      kind: "number",
      name: "average",
      unit: "packets",
      digits: 2,
      expected: average,
      slips: (p) => ({
        rest: p.queue - average(p),
        straight: p.queue * 0.002 * p.arrivals,
        queue: p.queue,
        once: p.queue * 0.002,
      }),
    },
    {
      kind: "choice",
      name: "swing",
      choices: ["fast", "standard", "slow"],
      shown: () => ASKED,
      runs: () => Object.values(ASKED).map((w) => [weight(w)]),
      right: (_, [fast, standard, slow]) =>
        greatest({
          fast: swing(fast, "line/fifo", "backlog_packets"),
          standard: swing(standard, "line/fifo", "backlog_packets"),
          slow: swing(slow, "line/fifo", "backlog_packets"),
        }),
    },
  ],
});
