import type { Outcome } from "../../../engine/api";
import scenario from "../../../scenarios/paper-zheng.yaml?raw";
import { paint } from "../../../ui/colors";
import { changes, type Lookup, type Point, type Settings, type Times } from "../figure";
import { stated } from "../found";
import { sample } from "../samples";
import { paired } from "../statistics";

/** Figure 6, and with the other contract figure 11: the queue over time. */

const [DSRED, RED] = ["DSRED", "RED"];
const SCHEMES = [DSRED, RED];
const START = { weight: 0.07, max_p: 0.1 };
const OF_RED = "policies.RED.fifo.aqm.red";
const PLACE = "vc/fifo";
const QUANTITIES = {
  delay: "sojourn_mean",
  peak: "backlog_packets_max",
  queue: "backlog_packets_mean",
};

function settings(scheme: string, s: Settings): string[] {
  const contract = s.contract === "UBR" ? ["topology.links.vc.atm.contract={ubr: {}}"] : [];
  if (scheme === DSRED) {
    const weight = (x: number) => [`policies.DSRED.fifo.aqm.dsred.weight=${x}`];
    return [...contract, ...changes(s, START, { weight })];
  }
  const weight = (x: number) => [`${OF_RED}.weight=${x}`];
  const max_p = (x: number) => [`${OF_RED}.max_p=${x}`];
  return [...contract, ...changes(s, START, { weight, max_p })];
}

/** The curve of the first run. */
function curve(o: Outcome, metric: string, name: string, index: number) {
  const found = o.series.find((c) => c.place === PLACE && c.metric === metric);
  if (!found) throw new Error(`the run has no series ${metric} of ${PLACE}`);
  return { ...found, name, paint: paint(index) };
}

const ratio = (of: Lookup, quantity: string) =>
  paired(of(DSRED, 0, quantity), of(RED, 0, quantity), (a, b) => a / b);

export const zheng: Times = {
  kind: "times",
  name: "zheng",
  scenario,
  controls: [
    {
      kind: "slider",
      key: "weight",
      range: { min: 0.001, max: 0.5, along: "log" },
      start: START.weight,
      unit: "",
    },
    {
      kind: "slider",
      key: "max_p",
      range: { min: 0.01, max: 1, along: "log" },
      start: START.max_p,
      unit: "",
    },
    { kind: "choice", key: "contract", options: ["nrt-VBR", "UBR"] },
  ],
  lines: () => SCHEMES,
  points: (s) =>
    SCHEMES.map((line): Point => ({ variant: line, line, x: 0, set: settings(line, s) })),
  set: (s) => [...new Set(SCHEMES.flatMap((line) => settings(line, s)))],
  details: { samples: ["queue"] },
  tries: { weight: { weight: 0.002 }, both: { weight: 0.002, max_p: 0.02 } },
  measure: (o) => ({
    values: Object.fromEntries(
      Object.entries(QUANTITIES).map(([key, metric]) => [key, sample(o, "queue", PLACE, metric)]),
    ),
    curves: [curve(o, "backlog_packets", "queue", 0), curve(o, "backlog_average", "average", 1)],
  }),
  unit: "packets",
  levels: stated.peaks,
  readings: [
    { claim: "Z2", unit: "", values: (of) => ratio(of, "delay") },
    { claim: "Z3", unit: "", values: (of) => ratio(of, "peak") },
    { claim: "Z6", unit: "", values: (of) => ratio(of, "queue") },
  ],
};
