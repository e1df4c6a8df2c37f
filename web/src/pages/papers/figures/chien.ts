import scenario from "../../../scenarios/paper-chien.yaml?raw";
import { type Curves, changes, type Point, type Settings } from "../figure";
import { sample } from "../samples";
import { paired } from "../statistics";

/** Figure 6: what best effort uses while the assured flow is silent. */

const SILENCES = [0, 10, 20, 40, 60];
const [SHORT, LONG] = [10, 60];
const SCHEMES = ["RIO", "A-RIO"];
const RIO = "policies.RIO.fifo.aqm.rio.out";
const START = { fixed: 30, highest: 70, flows: 4 };

/** Values of one scheme alone; `flows` are of both. */
function settings(scheme: string, s: Settings): string[] {
  const flows = (n: number) => [`traffic.best-effort.count=${n}`, `topology.nodes.1.count=${n}`];
  if (scheme === "A-RIO") {
    const highest = (n: number) => [`policies.A-RIO.fifo.aqm.adaptive-rio.max_th_high=${n}`];
    return changes(s, START, { flows, highest });
  }
  // min_th is a third of max_th, as in the paper's figure 2.
  const fixed = (n: number) => [`${RIO}.min_th=${n / 3}`, `${RIO}.max_th=${n}`];
  return changes(s, START, { flows, fixed });
}

const gain = (of: (line: string, x: number, quantity: string) => readonly number[] | undefined) => {
  const at = (x: number) =>
    paired(of("A-RIO", x, "use"), of("RIO", x, "use"), (a, b) => (a - b) * 100);
  return { long: at(LONG), short: at(SHORT) };
};

export const chien: Curves = {
  kind: "curves",
  name: "chien",
  scenario,
  controls: [
    {
      kind: "slider",
      key: "fixed",
      range: { min: 9, max: 120, along: "linear", whole: true },
      start: START.fixed,
      unit: "packets",
    },
    {
      kind: "slider",
      key: "highest",
      range: { min: 31, max: 120, along: "linear", whole: true },
      start: START.highest,
      unit: "packets",
    },
    {
      kind: "slider",
      key: "flows",
      range: { min: 1, max: 12, along: "linear", whole: true },
      start: START.flows,
      unit: "",
    },
  ],
  lines: () => SCHEMES,
  points: (s) =>
    SILENCES.flatMap((x) =>
      SCHEMES.map((line): Point => {
        return { variant: `${line} (silence=${x} s)`, line, x, set: settings(line, s) };
      }),
    ),
  set: (s) => [...new Set(SCHEMES.flatMap((line) => settings(line, s)))],
  details: { samples: ["class", "link"] },
  tries: { fixed: { fixed: 70 } },
  measure: (o) => {
    // What arrived of best effort over the rate of the core's link.
    const received = sample(o, "class", "best-effort", "throughput");
    const carried = sample(o, "link", "core", "carried");
    const used = sample(o, "link", "core", "utilization");
    const rate = paired(carried, used, (a, b) => a / b);
    return { values: { use: paired(received, rate, (a, b) => a / b) ?? [] } };
  },
  panels: [
    { name: "use", quantity: "use", unit: "1" },
    { name: "gain", quantity: "use", unit: "1", more: ["A-RIO", "RIO"] },
  ],
  xs: SILENCES,
  xUnit: "s",
  marks: () => [],
  readings: [
    { claim: "C4", unit: "%", values: (of) => gain(of).long },
    {
      claim: "C5",
      unit: "%",
      values: (of) => paired(gain(of).long, gain(of).short, (a, b) => a - b),
    },
  ],
};
