import type { Outcome } from "../../../engine/api";
import scenario from "../../../scenarios/lesson-l4s.yaml?raw";
import { lesson, type Numbers } from "../lesson";
import { least, mean } from "../outcome";

type P = "rate" | "rtt" | "marked";

/** DualPI2's coupling factor k. */
const COUPLING = 2;

/** % of the classic packets that are dropped while so many % of the scalable ones are marked. */
const classic = (p: Numbers<P>) => 100 * (p.marked / 100 / COUPLING) ** 2;

const delay = (o: Outcome | undefined, variant: string, of: string, metric = "owd_p99") =>
  mean(o, variant, "class", of, metric) * 1e3;

/** ms that CUBIC's packets are later than Prague's, at the 99th percentile. */
const later = (o: Outcome | undefined, variant: string) =>
  delay(o, variant, "cubic") - delay(o, variant, "prague");

export const l4s = lesson({
  name: "l4s",
  scenario,
  link: "down",
  parameters: {
    rate: { values: [20, 16, 24, 30], unit: "Mb/s" },
    rtt: { values: [20, 16, 24, 30], unit: "ms" },
    marked: { values: [20, 10, 30, 40], unit: "%" },
  },
  controls: {
    target: { kind: "range", min: 5, max: 50, unit: "ms", start: () => 15 },
    share: { kind: "range", min: 1, max: 4, unit: "", start: () => 1 },
  },
  warmup: () => 10,
  own: (p) => [
    `topology.links.down.rate=${p.rate} Mb/s`,
    `topology.links.backbone.delay=${p.rtt / 2 - 1} ms`,
    `topology.links.up.delay=${p.rtt / 2} ms`,
  ],
  chosen: (_, c) => [`policies.dualpi2.target=${c.target} ms`, `traffic.cubic.count=${c.share}`],
  measures: [
    { name: "pragueRate", scope: "class", of: "prague", metric: "goodput" },
    { name: "cubicRate", scope: "class", of: "cubic", metric: "goodput" },
    { name: "prague99", scope: "class", of: "prague", metric: "owd_p99" },
    { name: "cubic99", scope: "class", of: "cubic", metric: "owd_p99" },
    { name: "marks", scope: "class", of: "prague", metric: "marks_ce" },
    { name: "drops", scope: "class", of: "cubic", metric: "loss_ratio" },
  ],
  drawn: [
    { place: "flow prague", metric: "cwnd" },
    { place: "flow cubic", metric: "cwnd" },
  ],
  watched: ["DualPI2", "FIFO"],
  questions: [
    {
      kind: "number",
      name: "coupled",
      unit: "%",
      digits: 2,
      expected: classic,
      slips: (p) => ({
        uncoupled: p.marked ** 2 / 100,
        straight: p.marked / COUPLING,
        same: p.marked,
        unsquared: (p.marked / COUPLING) ** 2,
        late: p.marked ** 2 / 100 / COUPLING,
      }),
    },
    {
      kind: "number",
      name: "later",
      unit: "ms",
      digits: 2,
      runs: () => [[]],
      expected: (_, [o]) => later(o, "DualPI2"),
      slips: (_, [o]) => ({
        cubic: delay(o, "DualPI2", "cubic"),
        prague: delay(o, "DualPI2", "prague"),
        fifo: later(o, "FIFO"),
        queues: delay(o, "FIFO", "prague") - delay(o, "DualPI2", "prague"),
      }),
    },
    {
      kind: "choice",
      name: "fifo",
      choices: ["short", "long"],
      runs: () => [[]],
      // Whether its delay in one FIFO is nearer to its own under DualPI2 or to CUBIC's beside it.
      right: (_, [o]) => {
        const fifo = delay(o, "FIFO", "prague");
        return least({
          short: Math.abs(fifo - delay(o, "DualPI2", "prague")),
          long: Math.abs(fifo - delay(o, "FIFO", "cubic")),
        });
      },
    },
  ],
});
