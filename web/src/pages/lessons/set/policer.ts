import type { Outcome } from "../../../engine/api";
import scenario from "../../../scenarios/lesson-policer.yaml?raw";
import { lesson, type Numbers } from "../lesson";
import { mean } from "../outcome";

type P = "fill" | "bucket" | "size";

/** Mb/s of the camera's link; bursts a second */
const PEAK = 20;
const BURSTS = 2;

/** kB that a rate in Mb/s carries in ms. */
const kilobytes = (rate: number, ms: number) => (rate * ms) / 8;
/** ms that kB take at a rate in Mb/s. */
const ms = (kB: number, rate: number) => (kB * 8) / rate;

/** kB of a burst that find tokens: those in the bucket and those that come while it lasts. */
export const passed = (p: Numbers<P>, bucket = p.bucket) =>
  Math.min(p.size, bucket + kilobytes(p.fill, ms(p.size, PEAK)));

/** ms that the last packet waits for its tokens. */
export const lastWait = (p: Numbers<P>, bucket = p.bucket) =>
  Math.max(0, ms(p.size - bucket, p.fill) - ms(p.size, PEAK));

const bucketed = (p: Numbers<P>, bucket: number) =>
  ["policer", "shaper"].flatMap((policy) =>
    ["bursts", "bulk"].flatMap((of) => {
      const meter = policy === "policer" ? "police" : "shape";
      const at = `policies.${policy}.classes.${of}.${meter}`;
      return [`${at}.rate=${p.fill} Mb/s`, `${at}.burst=${bucket * 1e3} B`];
    }),
  );

/** By which share the download has less behind the policer. */
function less(o: Outcome | undefined): number {
  const goodput = (variant: string) => mean(o, variant, "class", "download", "goodput");
  return 1 - goodput("policer") / goodput("shaper");
}

/** A difference below this is none. */
const SAME = 0.01;

export const policer = lesson({
  name: "policer",
  scenario,
  link: "line",
  parameters: {
    fill: { values: [4, 3, 5, 6], unit: "Mb/s" },
    bucket: { values: [20, 12, 15, 25], unit: "kB" },
    size: { values: [60, 70, 80, 90], unit: "kB" },
  },
  controls: {
    bucket: { kind: "range", min: 3, max: 100, unit: "kB", start: (p) => p.bucket },
  },
  warmup: () => 5,
  shown: 2,
  speed: 1 / 40,
  own: (p) => [
    `traffic.burst.source.rate=${(p.size * 8 * BURSTS) / 1e3} Mb/s`,
    ...bucketed(p, p.bucket),
  ],
  chosen: (p, c) => bucketed(p, c.bucket),
  measures: [
    {
      name: "burstLoss",
      scope: "class",
      of: "burst",
      metric: "loss_ratio",
    },
    { name: "burstLongest", scope: "class", of: "burst", metric: "owd_max" },
    { name: "goodput", scope: "class", of: "download", metric: "goodput" },
    { name: "retransmits", scope: "class", of: "download", metric: "retransmits" },
    { name: "downloadDelay", scope: "class", of: "download", metric: "owd_mean" },
  ],
  drawn: [
    { place: "line/bursts", metric: "tokens_policer" },
    { place: "line/bursts", metric: "tokens_shaper" },
  ],
  watched: ["policer", "shaper"],
  questions: [
    {
      kind: "number",
      name: "passed",
      unit: "kB",
      digits: 2,
      expected: (p) => passed(p),
      slips: (p) => ({
        bucket: p.bucket,
        first: (p.bucket * PEAK) / (PEAK - p.fill),
        dropped: p.size - passed(p),
        tokens: passed(p) - p.bucket,
        all: p.size,
      }),
    },
    {
      kind: "number",
      name: "wait",
      unit: "ms",
      digits: 2,
      expected: (p) => lastWait(p),
      slips: (p) => ({
        bucket: ms(p.size, p.fill) - ms(p.size, PEAK),
        arrival: ms(p.size - p.bucket, p.fill),
        both: ms(p.size, p.fill),
        propagation: lastWait(p) + 25,
      }),
    },
    {
      kind: "choice",
      name: "download",
      choices: ["less", "same", "more"],
      runs: () => [[]],
      right: (_, [o]) => (less(o) > SAME ? "less" : less(o) < -SAME ? "more" : "same"),
    },
  ],
});
