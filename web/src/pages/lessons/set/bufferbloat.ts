import type { Outcome } from "../../../engine/api";
import scenario from "../../../scenarios/lesson-bufferbloat.yaml?raw";
import { lesson, type Numbers } from "../lesson";
import { mean } from "../outcome";

type P = "rate" | "buffer";

/** B of the upload's packets; ms of propagation */
const PACKET = 1500;
const PROPAGATION = 15;

/** ms that a packet waits behind a full buffer */
const full = (p: Numbers<P>) => (p.buffer * PACKET * 8) / (p.rate * 1e3);

const delay = (o: Outcome | undefined, variant: string) =>
  mean(o, variant, "class", "call", "owd_p99");

/** What the upload loses to CoDel, as a share of its goodput. */
function cost(o: Outcome | undefined): number {
  const goodput = (variant: string) => mean(o, variant, "class", "upload", "goodput");
  return 1 - goodput("CoDel") / goodput("FIFO");
}

/** The upper ends of what the choices say. */
const COSTS: [string, number][] = [
  ["tenth", 0.1],
  ["half", 0.5],
  ["most", Number.POSITIVE_INFINITY],
];

export const bufferbloat = lesson({
  name: "bufferbloat",
  scenario,
  link: "up",
  parameters: {
    rate: { values: [5, 6, 8, 10], unit: "Mb/s" },
    buffer: { values: [250, 200, 300, 350], unit: "packets" },
  },
  controls: {
    buffer: {
      kind: "range",
      min: 10,
      max: 500,
      unit: "packets",
      start: (p) => p.buffer,
    },
    target: { kind: "range", min: 3, max: 30, unit: "ms", start: () => 5 },
  },
  warmup: () => 10,
  own: (p) => [
    `topology.links.up.rate=${p.rate} Mb/s`,
    `policies.fifo.limit=${p.buffer} packets`,
    `policies.codel.limit=${p.buffer} packets`,
  ],
  chosen: (_, c) => [
    `policies.fifo.limit=${c.buffer} packets`,
    `policies.codel.limit=${c.buffer} packets`,
    `policies.codel.aqm.codel.target=${c.target} ms`,
  ],
  measures: [
    { name: "callMean", scope: "class", of: "call", metric: "owd_mean" },
    { name: "call99", scope: "class", of: "call", metric: "owd_p99" },
    { name: "callLoss", scope: "class", of: "call", metric: "loss_ratio" },
    { name: "goodput", scope: "class", of: "upload", metric: "goodput" },
  ],
  drawn: [{ place: "up/fifo", metric: "backlog_packets" }],
  watched: ["FIFO", "CoDel"],
  questions: [
    {
      kind: "number",
      name: "full",
      unit: "ms",
      digits: 2,
      expected: full,
      slips: (p) => ({
        propagation: full(p) + PROPAGATION,
        call: (full(p) * 200) / PACKET,
        kilobytes: (p.buffer * PACKET) / 1e3,
      }),
    },
    {
      kind: "number",
      name: "times",
      unit: "",
      digits: 2,
      runs: () => [[]],
      expected: (_, [o]) => delay(o, "FIFO") / delay(o, "CoDel"),
      slips: (_, [o]) => ({
        inverse: delay(o, "CoDel") / delay(o, "FIFO"),
        means:
          mean(o, "FIFO", "class", "call", "owd_mean") /
          mean(o, "CoDel", "class", "call", "owd_mean"),
        difference: (delay(o, "FIFO") - delay(o, "CoDel")) * 1e3,
      }),
    },
    {
      kind: "choice",
      name: "cost",
      choices: ["tenth", "half", "most"],
      runs: () => [[]],
      right: (_, [o]) => COSTS.find(([, end]) => cost(o) < end)?.[0] ?? "",
    },
  ],
});
