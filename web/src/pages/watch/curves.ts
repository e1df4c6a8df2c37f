/** What a recording says over time, as curves: backlog, delay, rates and congestion windows. */

import type { Curve, Recording } from "../../engine/api";
import { ARRIVES, DROPPED, LEAVES, MARKED } from "./model";

/** Events up to the recording's end: what is under way then goes on, but is not measured. */
function measured({ time, count, end }: Recording): number {
  let events = count;
  while (events > 0 && (time[events - 1] ?? 0) > end) {
    events -= 1;
  }
  return events;
}

/** How packets are told apart: by their class or by their flow. */
export type Key = "class" | "flow";

/** Samples at equal steps, of one class or flow. */
export interface KeyedCurve {
  name: string;
  /** Index of the class or flow, which is that of its color. */
  key: number;
  /** s, as `step` */
  start: number;
  step: number;
  values: Float64Array;
}

/** Curves that a chart has at most; of more, those of most bytes. */
const MOST_CURVES = 8;

export function namesOf(recording: Recording, by: Key): string[] {
  return by === "class" ? recording.classes : recording.flows;
}

export function keysOf(recording: Recording, by: Key): Uint16Array | Uint32Array {
  return by === "class" ? recording.cls : recording.flow;
}

/** The classes or flows that bring most bytes to the port, by index; at most eight. */
export function busiestKeys(recording: Recording, by: Key): number[] {
  const keys = keysOf(recording, by);
  const bytes = new Float64Array(namesOf(recording, by).length);
  const events = measured(recording);
  for (let event = 0; event < events; event++) {
    if (recording.kind[event] === ARRIVES) {
      const key = keys[event] ?? 0;
      bytes[key] = (bytes[key] ?? 0) + (recording.bytes[event] ?? 0);
    }
  }
  const came = [...bytes.keys()].filter((key) => (bytes[key] ?? 0) > 0);
  came.sort((a, b) => (bytes[b] ?? 0) - (bytes[a] ?? 0));
  return came.slice(0, MOST_CURVES).sort((a, b) => a - b);
}

function empty(recording: Recording, by: Key, keys: number[], step: number, value: number) {
  const samples = Math.max(1, Math.ceil(recording.end / step));
  return keys.map((key) => ({
    name: namesOf(recording, by)[key] ?? "",
    key,
    start: 0,
    step,
    values: new Float64Array(samples).fill(value),
  }));
}

/** Index of each key in `keys`; -1 of those that have no curve. */
function rowsOf(names: number, keys: number[]): Int32Array {
  const rows = new Int32Array(names).fill(-1);
  keys.forEach((key, row) => {
    rows[key] = row;
  });
  return rows;
}

/** A step of time with which `recording` has about 1000 samples. */
export function usualStep(recording: Recording): number {
  return Math.max(recording.end / 1000, 1e-6);
}

/** The most packets of each class (or flow) that wait within each step. */
export function waitingCurves(recording: Recording, by: Key, keys: number[]): KeyedCurve[] {
  const step = usualStep(recording);
  const curves = empty(recording, by, keys, step, 0);
  const rows = rowsOf(namesOf(recording, by).length, keys);
  const now = new Float64Array(keys.length);
  const of = keysOf(recording, by);
  let reached = 0;
  const last = (curves[0]?.values.length ?? 1) - 1;
  const to = (sample: number) => {
    for (; reached < sample; reached++) {
      curves.forEach(({ values }, row) => {
        values[reached + 1] = now[row] ?? 0;
      });
    }
  };
  const events = measured(recording);
  for (let event = 0; event < events; event++) {
    const kind = recording.kind[event] ?? MARKED;
    const row = rows[of[event] ?? 0] ?? -1;
    if (row < 0 || kind === MARKED) {
      continue;
    }
    to(Math.min(last, Math.floor((recording.time[event] ?? 0) / step)));
    now[row] = (now[row] ?? 0) + (kind === ARRIVES ? 1 : -1);
    const values = curves[row]?.values as Float64Array;
    values[reached] = Math.max(values[reached] ?? 0, now[row] ?? 0);
  }
  to(last);
  return curves;
}

/** The longest time from arrival to the end of transmission among what leaves in each step, s. */
export function delayCurves(recording: Recording, by: Key, keys: number[]): KeyedCurve[] {
  const step = usualStep(recording);
  const curves = empty(recording, by, keys, step, Number.NaN);
  const rows = rowsOf(namesOf(recording, by).length, keys);
  const of = keysOf(recording, by);
  const events = measured(recording);
  for (let event = 0; event < events; event++) {
    const values = curves[rows[of[event] ?? 0] ?? -1]?.values;
    if (recording.kind[event] !== LEAVES || !values) {
      continue;
    }
    const time = recording.time[event] ?? 0;
    const sample = Math.min(values.length - 1, Math.floor(time / step));
    const delay = (recording.wait[event] ?? 0) + (recording.until[event] ?? time) - time;
    const before = values[sample] ?? Number.NaN;
    values[sample] = Number.isNaN(before) ? delay : Math.max(before, delay);
  }
  return held(curves);
}

/** Steps without a value that keep the one before; more in a row are a hole in the curve. */
const MOST_HELD = 12;

function held(curves: KeyedCurve[]): KeyedCurve[] {
  for (const { values } of curves) {
    let last = -1;
    for (let sample = 0; sample < values.length; sample++) {
      if (!Number.isNaN(values[sample])) {
        // Only what is known on both sides is joined.
        const holds = last >= 0 && sample - last <= MOST_HELD;
        values.fill(values[last] ?? Number.NaN, last + 1, holds ? sample : last + 1);
        last = sample;
      }
    }
  }
  return curves;
}

/** The rate at which each class (or flow) is sent, b/s, in fifty steps or so. */
export function rateCurves(recording: Recording, by: Key, keys: number[]): KeyedCurve[] {
  const step = Math.max(recording.end / 100, 1e-6);
  const curves = empty(recording, by, keys, step, 0);
  const rows = rowsOf(namesOf(recording, by).length, keys);
  const of = keysOf(recording, by);
  const events = measured(recording);
  for (let event = 0; event < events; event++) {
    const values = curves[rows[of[event] ?? 0] ?? -1]?.values;
    if (recording.kind[event] !== LEAVES || !values) {
      continue;
    }
    const sample = Math.min(values.length - 1, Math.floor((recording.time[event] ?? 0) / step));
    values[sample] = (values[sample] ?? 0) + ((recording.bytes[event] ?? 0) * 8) / step;
  }
  return curves;
}

/** The congestion windows of flows, in bytes, with the color of the flow or its class. */
export function windowCurves(recording: Recording, by: Key): KeyedCurve[] {
  const found = recording.series.filter(({ metric }) => metric === "cwnd").slice(0, MOST_CURVES);
  const classOf = by === "class" ? classesOfFlows(recording) : null;
  return found.map(({ place: written, start, step, values }, at) => {
    const place = written.replace(/^flow /, "");
    const flow = recording.flows.indexOf(place);
    const key = flow < 0 ? at : classOf ? (classOf[flow] ?? at) : flow;
    return { name: place, key, start, step, values };
  });
}

function classesOfFlows(recording: Recording): Uint16Array {
  const found = new Uint16Array(recording.flows.length);
  const events = measured(recording);
  for (let event = 0; event < events; event++) {
    found[recording.flow[event] ?? 0] = recording.cls[event] ?? 0;
  }
  return found;
}

/** Everything that waits, in packets, for the axis of time. */
export function totalCurve(recording: Recording): Float64Array {
  const samples = 1000;
  const step = Math.max(recording.end, 1e-9) / samples;
  const values = new Float64Array(samples);
  let [now, reached] = [0, 0];
  const events = measured(recording);
  for (let event = 0; event < events; event++) {
    const kind = recording.kind[event];
    if (kind === MARKED) {
      continue;
    }
    const sample = Math.min(samples - 1, Math.floor((recording.time[event] ?? 0) / step));
    while (reached < sample) {
      values[++reached] = now;
    }
    now += kind === ARRIVES ? 1 : -1;
    values[reached] = Math.max(values[reached] ?? 0, now);
  }
  while (reached < samples - 1) {
    values[++reached] = now;
  }
  return values;
}

/** Times at which packets were dropped, for the axis of time. */
export function dropTimes(recording: Recording): number[] {
  const found: number[] = [];
  const events = measured(recording);
  for (let event = 0; event < events; event++) {
    if (recording.kind[event] === DROPPED) {
      found.push(recording.time[event] ?? 0);
    }
  }
  return found;
}

/** How full token buckets are over time, of the recording's series. */
export interface BucketCurve extends Curve {
  most: number;
}

export function bucketCurves(recording: Recording): BucketCurve[] {
  return recording.series
    .filter(({ metric, values }) => metric.startsWith("tokens_") && values.length > 0)
    .filter(({ place }) => !place.includes("/") || place.startsWith(`${recording.link}/`))
    .map((curve) => ({
      ...curve,
      place: within(curve.place, recording.link),
      most: Math.max(1, largest(curve.values)),
    }));
}

/** A place at a link without the link's name: `voice` of `wan/voice`. */
function within(place: string, link: string): string {
  return place.startsWith(`${link}/`) ? place.slice(link.length + 1) : place;
}

function largest(values: Float64Array): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

/** The value of a curve between its samples, by a straight line. */
export function valueBetween({ start, step, values }: Curve, time: number): number {
  const at = Math.max(0, Math.min(values.length - 1, (time - start) / step));
  const low = Math.floor(at);
  const before = values[low] ?? 0;
  const behind = values[Math.min(values.length - 1, low + 1)] ?? before;
  return before + (behind - before) * (at - low);
}

/** What became of the packets of a class, in numbers. */
export interface Outcome {
  name: string;
  key: number;
  arrived: number;
  dropped: number;
  marked: number;
  /** Bits that were sent, by the recording's end, b/s. */
  rate: number;
  /** From arrival to the end of transmission, s; NaN if none left. */
  meanDelay: number;
  p99: number;
}

/** What became of each class or flow, of the busiest ones. */
export function outcomes(recording: Recording, by: Key, keys: number[]): Outcome[] {
  const of = keysOf(recording, by);
  const rows = rowsOf(namesOf(recording, by).length, keys);
  const found = keys.map((key) => ({
    name: namesOf(recording, by)[key] ?? "",
    key,
    counts: [0, 0, 0, 0],
    bits: 0,
    delays: [] as number[],
  }));
  const events = measured(recording);
  for (let event = 0; event < events; event++) {
    const row = found[rows[of[event] ?? 0] ?? -1];
    if (!row) {
      continue;
    }
    const kind = recording.kind[event] ?? ARRIVES;
    row.counts[kind] = (row.counts[kind] ?? 0) + 1;
    if (kind === LEAVES) {
      const time = recording.time[event] ?? 0;
      row.bits += (recording.bytes[event] ?? 0) * 8;
      row.delays.push((recording.wait[event] ?? 0) + (recording.until[event] ?? time) - time);
    }
  }
  return found.map(({ name, key, counts, bits, delays }) => ({
    name,
    key,
    arrived: counts[ARRIVES] ?? 0,
    dropped: counts[DROPPED] ?? 0,
    marked: counts[MARKED] ?? 0,
    rate: bits / Math.max(recording.end, 1e-9),
    meanDelay: delays.reduce((sum, delay) => sum + delay, 0) / delays.length,
    p99: quantile(delays, 0.99),
  }));
}

/** The least value that at least a share `q` of `values` does not exceed; NaN of none. */
export function quantile(values: number[], q: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;
}
