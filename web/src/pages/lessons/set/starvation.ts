import scenario from "../../../scenarios/lesson-starvation.yaml?raw";
import { lesson, type Numbers } from "../lesson";
import { greatest, mean } from "../outcome";

type P = "rate" | "camera" | "count" | "limit";

/** Cameras that fill the line: no whole number of them fills it exactly. */
const full = (p: Numbers<P>) => Math.ceil(p.rate / p.camera);
const left = (p: Numbers<P>, cameras: number) => Math.max(0, p.rate - cameras * p.camera);
const limit = (p: Numbers<P>) => (p.rate * p.limit) / 100;

export const starvation = lesson({
  name: "starvation",
  scenario,
  link: "line",
  parameters: {
    rate: { values: [10, 8, 12, 20], unit: "Mb/s" },
    camera: { values: [2.2, 1.7, 2.6, 3.2], unit: "Mb/s" },
    count: { values: [2, 1], unit: "" },
    limit: { values: [60, 40, 55, 35], unit: "%" },
  },
  controls: {
    cameras: {
      kind: "range",
      min: 0,
      max: 14,
      unit: "",
      start: (p) => p.count,
    },
  },
  warmup: () => 1,
  own: (p) => [
    `topology.links.line.rate=${p.rate} Mb/s`,
    `traffic.camera.source.rate=${p.camera} Mb/s`,
    `traffic.camera.count=${p.count}`,
    `traffic.data.source.rate=${1.1 * p.rate} Mb/s`,
    `policies.limited.classes.video.priority.rate=${limit(p)} Mb/s`,
  ],
  // A flow of no cameras is none: one that sends next to nothing stands for it.
  chosen: (_, c) =>
    c.cameras === 0
      ? ["traffic.camera.count=1", "traffic.camera.source.rate=1 b/s"]
      : [`traffic.camera.count=${c.cameras}`],
  measures: [
    { name: "videoRate", scope: "class", of: "video", metric: "throughput" },
    { name: "videoLoss", scope: "class", of: "video", metric: "loss_ratio" },
    { name: "dataRate", scope: "class", of: "data", metric: "throughput" },
    { name: "data99", scope: "class", of: "data", metric: "owd_p99" },
  ],
  drawn: [
    { place: "class video", metric: "throughput" },
    { place: "class data", metric: "throughput" },
  ],
  watched: ["unlimited", "limited"],
  questions: [
    {
      kind: "number",
      name: "left",
      unit: "Mb/s",
      digits: 2,
      expected: (p) => left(p, p.count),
      slips: (p) => ({
        video: p.count * p.camera,
        fair: p.rate / (p.count + 1),
        halves: p.rate / 2,
      }),
    },
    {
      kind: "number",
      name: "starve",
      unit: "",
      digits: 0,
      expected: full,
      slips: (p) => ({ part: p.rate / p.camera, fewer: full(p) - 1, more: full(p) + 1 }),
    },
    {
      kind: "number",
      name: "limited",
      unit: "Mb/s",
      digits: 2,
      expected: (p) => p.rate - limit(p),
      slips: (p) => ({ limit: limit(p), nothing: 0, guaranteed: left(p, full(p) - 1) }),
    },
    {
      kind: "choice",
      name: "excess",
      choices: ["dropped", "waits", "data"],
      runs: (p) => [[`traffic.camera.count=${full(p)}`]],
      // What became of the packets above the limit: the largest of the counts.
      right: (_, [o]) =>
        greatest({
          dropped: mean(o, "limited", "class", "video", "drops_policer"),
          waits: mean(o, "limited", "class", "video", "drops_tail"),
          data:
            mean(o, "limited", "queue", "line/class-default", "packets_offered") -
            mean(o, "limited", "class", "data", "packets_sent"),
        }),
    },
  ],
});
