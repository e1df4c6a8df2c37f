import type { Outcome } from "../../../engine/api";
import scenario from "../../../scenarios/lesson-sawtooth.yaml?raw";
import { lesson, type Numbers } from "../lesson";
import { curves, measured } from "../outcome";

type P = "rate" | "rtt" | "share";

/** B of a packet on the line, and of the data in it, by which the window counts */
const PACKET = 1500;
export const SEGMENT = 1448;

/** Packets that are on their way while one round trip lasts: whole for all parameters. */
export const path = (p: Numbers<P>) => (p.rate * 1e3 * p.rtt) / (8 * PACKET);
const buffer = (p: Numbers<P>, share: number) => Math.max(2, Math.round((path(p) * share) / 100));

/** s from one loss to the next: the window grows by one each round trip, which grows, too. */
const cycle = (p: Numbers<P>, share: number) => {
  const top = path(p) + buffer(p, share);
  return ((top / 2) * (Math.max(path(p), (3 * top) / 4) / path(p)) * p.rtt) / 1e3;
};

const CYCLES = 3;

const sized = (p: Numbers<P>, share: number) => [
  `policies.fifo.limit=${buffer(p, share)} packets`,
  `measurement.warmup=${1.5 * cycle(p, share)} s`,
  `measurement.duration=${CYCLES * cycle(p, share)} s`,
  `measurement.interval=${p.rtt / 2} ms`,
];

/** What is left of the window after a loss: the least that it is, over the most. */
export function kept(o: Outcome | undefined): number {
  const [curve] = o ? curves(o, "flow download", "cwnd") : [];
  if (!o || !curve) throw new Error("the run has no series cwnd of the download");
  const values = measured(o, curve);
  return values.reduce((a, b) => Math.min(a, b)) / values.reduce((a, b) => Math.max(a, b));
}

const KEPT = { half: 1 / 2, seven: 0.7, one: 0, same: 1 };

export const sawtooth = lesson({
  name: "sawtooth",
  scenario,
  link: "line",
  parameters: {
    rate: { values: [12, 6, 18, 24], unit: "Mb/s" },
    rtt: { values: [40, 60, 80], unit: "ms" },
    share: { values: [100, 50, 120, 80], unit: "%" },
  },
  controls: {
    buffer: { kind: "range", min: 5, max: 200, unit: "%", start: (p) => p.share },
    sender: { kind: "options", options: ["newreno", "cubic"], start: () => 0 },
  },
  warmup: (p) => 1.5 * cycle(p, p.share),
  own: (p) => [
    `topology.links.line.rate=${p.rate} Mb/s`,
    `topology.links.line.delay=${p.rtt / 2} ms`,
    `topology.links.back.delay=${p.rtt / 2} ms`,
    ...sized(p, p.share),
  ],
  chosen: (p, c) => [
    ...sized(p, c.buffer),
    `traffic.download.tcp.cc=${c.sender === 1 ? "cubic" : "newreno"}`,
  ],
  measures: [
    { name: "utilization", scope: "link", of: "line", metric: "utilization" },
    { name: "goodput", scope: "class", of: "download", metric: "goodput" },
    { name: "wait", scope: "queue", of: "line/fifo", metric: "sojourn_mean" },
    { name: "drops", scope: "queue", of: "line/fifo", metric: "packets_lost" },
  ],
  drawn: [
    { place: "flow download", metric: "cwnd", packet: SEGMENT },
    { place: "line/fifo", metric: "backlog_packets" },
  ],
  watched: [],
  levels: (p) => ({ path: path(p) }),
  questions: [
    {
      kind: "number",
      name: "path",
      unit: "packets",
      digits: 2,
      expected: path,
      slips: (p) => ({
        oneWay: path(p) / 2,
        bytes: path(p) * 8,
        kilobytes: (path(p) * PACKET) / 1e3,
      }),
    },
    {
      kind: "number",
      name: "top",
      unit: "packets",
      digits: 2,
      // Two beside path and buffer: one is being sent, one is lost; and a half for rounding.
      allow: 2.5,
      expected: (p) => path(p) + buffer(p, p.share),
      slips: (p) => ({
        path: path(p),
        buffer: buffer(p, p.share),
        half: (path(p) + buffer(p, p.share)) / 2,
        twice: path(p) + 2 * buffer(p, p.share),
      }),
    },
    {
      kind: "choice",
      name: "kept",
      choices: ["half", "seven", "one", "same"],
      runs: () => [[]],
      right: (_, [o]) => {
        const share = kept(o);
        const off = Object.entries(KEPT).map(([k, x]) => [Math.abs(x - share), k] as const);
        return off.reduce((a, b) => (b[0] < a[0] ? b : a))[1];
      },
    },
    {
      kind: "number",
      name: "smallest",
      unit: "packets",
      digits: 2,
      // Half the window still fills the path: (path + buffer) / 2 = path.
      expected: path,
      slips: (p) => ({ twice: 2 * path(p), half: path(p) / 2 }),
    },
  ],
});
