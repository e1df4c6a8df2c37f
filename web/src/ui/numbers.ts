/**
 * Every number of a scenario, as something that a slider can change: where it stands, what it
 * means, what it may be, and how its new value is written.
 */

import type { JsonSchema } from "../engine/api";
import { value as shown } from "./format";
import { plainNumber, readQuantity, writeQuantity } from "./quantities";
import { Place, type Step } from "./schema";
import type { Range } from "./stops";

export interface Knob {
  /** Its place, as `--set` and `Options.set` take it: `topology.links.up.rate`. */
  path: string;
  /** The same as steps through the scenario's JSON. */
  steps: readonly Step[];
  /** Whose number it is and which: `up: rate`. */
  label: string;
  /** What it is, in the words of the format. */
  hint: string;
  /** In the base unit. */
  value: number;
  /** `b/s`, `s`, `B`, `packets`, `1` of shares; empty of plain numbers. */
  base: string;
  /** The unit in which it is written; empty of plain numbers. */
  unit: string;
  range: Range;
  /** Whether it is written in the scenario; else `value` is the default. */
  given: boolean;
}

/** The parts of a scenario that have numbers to change, in the order in which they are listed. */
const PARTS = ["policies", "topology", "traffic", "measurement", "runs", "voice"];

/** Numbers that name things: changing them by degrees makes no sense. */
const NAMES = new Set([
  "seed",
  "sport",
  "dport",
  "src",
  "dst",
  "dscp",
  "schema_version",
  "vci",
  "vpi",
]);

/** Every number of a scenario that may be changed, the sizes of buffers first. */
export function numbersOf(scenario: unknown, schema: JsonSchema): Knob[] {
  const found: Knob[] = [];
  const top = Place.top(schema);
  for (const part of PARTS) {
    const value = isMap(scenario) ? scenario[part] : undefined;
    walk(value, { place: top.key(part), path: [part], steps: [part], names: [], keys: [] }, found);
  }
  const ranked = found.map((knob) => ({ knob, rank: rankOf(knob) }));
  // Sorting is stable: what has the same rank stays in the scenario's order.
  ranked.sort((a, b) => a.rank - b.rank);
  return ranked.map((r) => r.knob);
}

/** What `Options.set` takes to give a number another value. */
export function assignment(knob: Knob, value: number): string {
  return `${knob.path}=${write(knob, value)}`;
}

/** A value as the scenario writes it, in the unit of before. */
export function write(knob: Knob, value: number): string {
  const { min } = knob.range;
  const allowed = knob.range.whole ? Math.round(value) : value;
  if (knob.unit === "") return plainNumber(allowed);
  return writeQuantity(Math.max(Math.min(0, min), allowed), knob.unit);
}

/** A value for people: with a fitting unit. */
export function text(knob: Knob, value: number): string {
  return knob.base === "" ? plainNumber(value) : shown(value, knob.base);
}

/** The value that a typed text means: with any unit that fits, or in the unit of before. */
export function parse(knob: Knob, typed: string): number | undefined {
  const plain = typed.trim().replace(",", ".");
  const given = knob.unit !== "" && /^[0-9.eE+-]+$/.test(plain) ? `${plain} ${knob.unit}` : plain;
  const x = knob.unit === "" ? Number(plain || Number.NaN) : read(given, knob.base);
  if (x === undefined || !Number.isFinite(x)) return undefined;
  const { whole } = knob.range;
  return whole && !Number.isInteger(x) ? undefined : x;
}

function read(typed: string, base: string): number | undefined {
  const quantity = readQuantity(typed);
  return quantity?.base === base ? quantity.value : undefined;
}

/** A place in the scenario while it is walked through. */
interface At {
  place: Place;
  /** Its segments of a path. */
  path: string[];
  steps: Step[];
  /** Names that the user chose on the way here. */
  names: string[];
  /** Keys of the format since then. */
  keys: string[];
}

type Map_ = Record<string, unknown>;

function isMap(x: unknown): x is Map_ {
  return typeof x === "object" && x !== null && !Array.isArray(x);
}

function walk(value: unknown, at: At, found: Knob[]): void {
  if (Array.isArray(value)) {
    items(value, at, found);
  } else if (isMap(value) || value === null || value === undefined) {
    entries(value ?? {}, at, found);
  } else {
    const knob = knobOf(value, at, true);
    if (knob) found.push(knob);
  }
}

function entries(map: Map_, at: At, found: Knob[]): void {
  for (const [key, value] of Object.entries(map)) walk(value, below(at, key), found);
  // What is not written has its default, if the format gives one.
  for (const key of at.place.names()) {
    if (Object.hasOwn(map, key) || inAlternative(map, at.place, key)) continue;
    const there = below(at, key);
    const knob = knobOf(there.place.word("default"), there, false);
    if (knob) found.push(knob);
  }
}

/** Whether a key belongs to a kind other than the one that is written. */
function inAlternative(map: Map_, place: Place, key: string): boolean {
  return place.isKind(key) || Object.keys(map).some((k) => place.isKind(k));
}

function below(at: At, key: string): At {
  const chosen = !at.place.has(key);
  const kind = at.place.isKind(key);
  return {
    place: at.place.key(key),
    path: [...at.path, quoted(key)],
    steps: [...at.steps, key],
    names: chosen ? [...at.names, key] : at.names,
    keys: chosen ? [] : kind ? at.keys : [...at.keys, key],
  };
}

/** The name of an item of a list: its own, or that of the content of its kind, which is then left out. */
function nameOf(item: unknown): { name: string; kind: string | undefined } | undefined {
  if (!isMap(item)) return undefined;
  if (typeof item.name === "string") return { name: item.name, kind: undefined };
  const [first, ...others] = Object.entries(item);
  if (!first || others.length > 0) return undefined;
  const [kind, content] = first;
  return isMap(content) && typeof content.name === "string"
    ? { name: content.name, kind }
    : undefined;
}

function items(list: unknown[], at: At, found: Knob[]): void {
  const names = list.map(nameOf);
  for (const [i, item] of list.entries()) {
    const named = names[i];
    const here = {
      place: at.place.item(),
      path: [...at.path, String(i)],
      steps: [...at.steps, i],
      names: named ? [...at.names, named.name] : at.names,
      keys: named ? [] : [...at.keys, String(i + 1)],
    };
    const alone = named && names.filter((n) => n?.name === named.name).length === 1;
    if (alone) here.path = [...at.path, quoted(named.name)];
    if (!alone || named.kind === undefined) {
      walk(item, here, found);
    } else {
      // The kind may be left out after a name.
      const inside = below(here, named.kind);
      const content = (item as Map_)[named.kind];
      walk(content, { ...inside, path: here.path, names: here.names, keys: [] }, found);
    }
  }
}

/** A segment of a path: in quotes where dots, brackets or digits alone would mislead. */
export function quoted(segment: string): string {
  const plain =
    /^[^\s.[\]"=\\]([^.[\]"=\\]*[^\s.[\]"=\\])?$/u.test(segment) && !/^\+?\d+$/.test(segment);
  return plain ? segment : `"${segment.replace(/[\\"]/g, "\\$&")}"`;
}

function joined(path: readonly string[]): string {
  return path.join(".");
}

function knobOf(value: unknown, at: At, given: boolean): Knob | undefined {
  const key = at.steps.at(-1);
  if (typeof key === "string" && NAMES.has(key)) return undefined;
  const measured = measure(value, at.place, key);
  if (!measured) return undefined;
  return {
    ...measured,
    path: joined(at.path),
    steps: at.steps,
    label: labelOf(at),
    hint: at.place.description ?? "",
    range: rangeOf(measured, at.place, typeof key === "string" ? key : ""),
    given,
  };
}

type Measured = Pick<Knob, "value" | "base" | "unit">;

function measure(value: unknown, place: Place, key: Step | undefined): Measured | undefined {
  if (typeof value === "number") {
    const types = place.types();
    const fits = types.has("number") || types.has("integer");
    return fits && Number.isFinite(value) ? { value, base: "", unit: "" } : undefined;
  }
  // The schema has no form for a warm-up, which may be `auto`, too.
  if (typeof value !== "string" || !(place.takes(value) || key === "warmup")) return undefined;
  return readQuantity(value);
}

function labelOf({ names, keys, path }: At): string {
  const words = keys.map((k) => k.replaceAll("_", " ")).join(" ");
  if (names.length === 0) return words || (path[0] ?? "");
  return words ? `${names.join(" / ")}: ${words}` : names.join(" / ");
}

/** 1, 2 or 5 times a power of ten next to `x`. */
function around(x: number, up: boolean): number {
  const power = 10 ** Math.floor(Math.log10(x));
  const steps = [1, 2, 5, 10].map((s) => Number((s * power).toPrecision(3)));
  return (up ? steps.find((s) => s >= x) : steps.findLast((s) => s <= x)) ?? x;
}

function rangeOf({ value, base }: Measured, place: Place, key: string): Range {
  const whole = base === "packets" || (base === "" && !place.types().has("number"));
  const [low, high] = ["minimum", "maximum"].map((w) => place.word(w)).map(boundOf);
  const range = suggested(value, base, whole, high, key);
  const min = Math.min(value, Math.max(low ?? range.min, range.min));
  const max = Math.max(value, Math.min(high ?? range.max, range.max));
  return { min, max, along: min < 0 ? "linear" : range.along, whole };
}

function boundOf(x: unknown): number | undefined {
  return typeof x === "number" ? x : undefined;
}

function suggested(
  value: number,
  base: string,
  whole: boolean,
  high: number | undefined,
  key: string,
): Range {
  if (base === "1" || (base === "" && high !== undefined && high <= 1)) {
    // Small probabilities and weights need room below.
    const small = base === "" && value > 0 && value < 0.02;
    return small
      ? { min: around(value / 100, false), max: 1, along: "log" }
      : { min: 0, max: 1, along: "linear" };
  }
  if (value < 0) return { min: 2 * value, max: -2 * value, along: "linear" };
  if (base === "packets")
    return { min: 1, max: around(Math.max(1000, 5 * value), true), along: "log" };
  if (whole) {
    const max = around(Math.max(10, 10 * value), true);
    return { min: Math.min(value, 1), max, along: max > 100 ? "log" : "linear" };
  }
  if (base === "s" && key === "duration") {
    return {
      min: around(value / 50 || 1, false),
      max: around(5 * value || 60, true),
      along: "log",
    };
  }
  if (value === 0)
    return {
      min: 0,
      max: base === "s" ? 1 : base === "" ? 10 : 1e6,
      along: base === "" ? "linear" : "log",
    };
  const [down, up] = base === "B" ? [20, 20] : base === "b/s" ? [50, 20] : [100, 100];
  return { min: around(value / down, false), max: around(value * up, true), along: "log" };
}

/** Small is first: sizes of buffers, rates of links, what policies have, delays, sources, the rest. */
function rankOf({ steps, base, given }: Knob): number {
  const [part] = steps;
  const key = String(steps.at(-1));
  const written = given ? 0 : 10;
  const isLimit = /limit|buffer/.test(key) || (key === "per_flow" && base === "packets");
  if (part === "policies") return written + (isLimit ? 0 : 2);
  if (part === "topology") {
    if (key === "rate") return written + 1;
    if (key === "delay") return written + 3;
    return written + 5;
  }
  const rank = { traffic: 4, measurement: 6, runs: 7 }[String(part)] ?? 8;
  return written + rank;
}
