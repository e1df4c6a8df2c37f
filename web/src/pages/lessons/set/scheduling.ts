import scenario from "../../../scenarios/lesson-scheduling.yaml?raw";
import { lesson, type Numbers } from "../lesson";
import { least, mean } from "../outcome";

type P = "rate" | "bytes" | "modest" | "greedy";

/** Mb/s of the call, and the bytes of its packets, as the scenario has them. */
const CALL = 0.08;
const CALL_BYTES = 200;
/** ms, the line's propagation delay */
const PROPAGATION = 5;

const ms = (p: Numbers<P>, bytes: number) => (bytes * 8) / (p.rate * 1e3);
const mbps = (p: Numbers<P>, share: number) => (p.rate * share) / 100;

/** Mb/s that the greedy flow gets where flows share: what the others, who want less, leave. */
const rest = (p: Numbers<P>) => p.rate - CALL - mbps(p, p.modest);

const sources = (p: Numbers<P>, greedy: number) => [
  `traffic.modest.source.rate=${mbps(p, p.modest)} Mb/s`,
  `traffic.greedy.source.rate=${mbps(p, greedy)} Mb/s`,
];

export const scheduling = lesson({
  name: "scheduling",
  scenario,
  link: "line",
  parameters: {
    rate: { values: [4, 2, 3, 5, 6], unit: "Mb/s" },
    bytes: { values: [1500, 900, 1200], unit: "B" },
    modest: { values: [25, 20, 30], unit: "%" },
    greedy: { values: [125, 110, 150], unit: "%" },
  },
  controls: {
    greedy: { kind: "range", min: 10, max: 200, unit: "%", start: (p) => p.greedy },
  },
  warmup: () => 1,
  own: (p) => [
    `topology.links.line.rate=${p.rate} Mb/s`,
    `traffic.modest.source.packet=${p.bytes} B`,
    `traffic.greedy.source.packet=${p.bytes} B`,
    ...sources(p, p.greedy),
  ],
  chosen: (p, c) => sources(p, c.greedy),
  measures: [
    { name: "call99", scope: "class", of: "call", metric: "owd_p99" },
    { name: "callLoss", scope: "class", of: "call", metric: "loss_ratio" },
    { name: "modestRate", scope: "class", of: "modest", metric: "throughput" },
    { name: "modestLoss", scope: "class", of: "modest", metric: "loss_ratio" },
    { name: "greedyRate", scope: "class", of: "greedy", metric: "throughput" },
  ],
  drawn: [
    { place: "class call", metric: "throughput" },
    { place: "class modest", metric: "throughput" },
    { place: "class greedy", metric: "throughput" },
  ],
  watched: ["FIFO", "fair"],
  questions: [
    {
      kind: "number",
      name: "residual",
      unit: "ms",
      digits: 2,
      expected: (p) => ms(p, p.bytes),
      slips: (p) => ({
        own: ms(p, CALL_BYTES),
        both: ms(p, p.bytes + CALL_BYTES),
        delay: ms(p, p.bytes + CALL_BYTES) + PROPAGATION,
        propagation: ms(p, p.bytes) + PROPAGATION,
        half: ms(p, p.bytes) / 2,
      }),
    },
    {
      kind: "number",
      name: "share",
      unit: "Mb/s",
      digits: 2,
      expected: rest,
      slips: (p) => ({
        third: p.rate / 3,
        proportional: (p.rate * p.greedy) / (p.greedy + p.modest + (100 * CALL) / p.rate),
        wanted: mbps(p, p.greedy),
        half: p.rate / 2,
        call: rest(p) + CALL,
      }),
    },
    {
      kind: "choice",
      name: "protects",
      choices: ["FIFO", "priority", "fair"],
      runs: () => [[]],
      right: (_, [o]) =>
        least({
          FIFO: mean(o, "FIFO", "class", "modest", "loss_ratio"),
          priority: mean(o, "priority", "class", "modest", "loss_ratio"),
          fair: mean(o, "fair", "class", "modest", "loss_ratio"),
        }),
    },
  ],
});
