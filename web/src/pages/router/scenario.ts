/** A scenario of one router's interface: a line, its policy, and what the classes are offered. */

import type { Project } from "../../engine/api";
import { addressText, dscpName, PLAIN } from "./conditions";
import { type Load, packetRate } from "./loads";

export interface Setup {
  /** The configuration's text, and whether it is one of `tc`. */
  text: string;
  tc: boolean;
  platform: string;
  /** The interface whose policy is tried; or a policy that no interface has. */
  iface?: string;
  policy?: string;
  /** b/s */
  rate: number;
  /** s, one way */
  delay: number;
  /** What the line adds to packets, as a scenario says it; `""` leaves it to the configuration. */
  overhead: string;
  loads: Load[];
  /** s; without them as long as is quick. */
  duration?: number;
  runs?: number;
  seed?: number;
}

/** Hops of packets that a run of all may take: seconds of a browser's time. */
const HOPS = 4e6;

/** Runs of a scenario, of which intervals are made. */
export const RUNS = 5;

/** How long is measured, s: as many packets as a browser does in a few seconds, 60 s at most. */
export function measured(setup: Setup): { duration: number; warmup: number } {
  const each = setup.loads.reduce((sum, l) => sum + packetRate(l, setup.rate), 0);
  const most = HOPS / ((setup.runs ?? RUNS) * Math.max(1, 2 * each));
  const fits = [60, 40, 30, 20, 10, 5, 2, 1, 0.5, 0.2].find((d) => d <= most) ?? 0.1;
  const duration = setup.duration ?? fits;
  return { duration, warmup: Math.min(5, duration / 4) };
}

/** A name in YAML: as it is where that is plain, else in quotes. */
export function quoted(name: string): string {
  const plain =
    /^[A-Za-z][\w ./-]*$/.test(name) && !/ $|^(true|false|yes|no|on|off|null|y|n)$/i.test(name);
  return plain ? name : JSON.stringify(name);
}

/** A rate in words that lose no bit: `2.048 Mb/s`. */
export function rateWords(bps: number): string {
  const whole = Math.max(1, Math.round(bps));
  const [scale, unit] = (
    [
      [1e9, "Gb/s"],
      [1e6, "Mb/s"],
      [1e3, "kb/s"],
    ] as const
  ).find(([s]) => whole >= s) ?? [1, "b/s"];
  return `${Number((whole / scale).toPrecision(12))} ${unit}`;
}

export function timeWords(seconds: number): string {
  if (seconds === 0 || seconds >= 1) return `${Number(seconds.toPrecision(6))} s`;
  const ms = Number((seconds * 1e3).toPrecision(6));
  return ms >= 1 ? `${ms} ms` : `${Number((seconds * 1e6).toPrecision(6))} us`;
}

/** Name of the configuration beside the scenario. */
export function configFile(tc: boolean): string {
  return tc ? "host.sh" : "router.cfg";
}

/** The scenario with its configuration; `changed` is a second one, which becomes a variant. */
export function build(setup: Setup, changed?: string): Project {
  const file = configFile(setup.tc);
  const other = setup.tc ? "changed.sh" : "changed.cfg";
  const { duration, warmup } = measured(setup);
  const loads = setup.loads.filter((l) => l.kind !== "none");
  const place = setup.iface ?? setup.policy ?? "";
  const lines = [
    `schema_version: 1`,
    `name: ${quoted(place === "" ? "A router's interface" : place)}`,
    `topology:`,
    `  nodes: [router, far]`,
    `  links:`,
    `    line: {${link(setup).join(", ")}}`,
    ...config(setup, file),
    `traffic:`,
    ...loads.map((l) => `  - flow: {${flow(l).join(", ")}}`),
    `measurement: {warmup: ${timeWords(warmup)}, duration: ${timeWords(duration)}, interval: ${timeWords(duration / 100)}}`,
    `runs: {count: ${setup.runs ?? RUNS}, seed: ${setup.seed ?? 1}}`,
    ...requirements(loads),
  ];
  const files: Project["files"] = { [file]: setup.text };
  if (changed !== undefined && changed !== setup.text) {
    files[other] = changed;
    const key = setup.tc ? "tc" : "ios";
    lines.push(
      `variants:`,
      `  - {name: as it is, set: {}}`,
      `  - {name: changed, set: {"configs[0].${key}": ${other}}}`,
    );
  }
  files["scenario.yaml"] = `${lines.join("\n")}\n`;
  return { path: "scenario.yaml", files };
}

function link(setup: Setup): string[] {
  const parts = [
    "from: router",
    "to: far",
    `rate: ${rateWords(setup.rate)}`,
    `delay: ${timeWords(setup.delay)}`,
  ];
  if (setup.overhead !== "") parts.push(`overhead: ${setup.overhead}`);
  if (setup.iface === undefined && setup.policy !== undefined)
    parts.push(`policy: ${quoted(setup.policy)}`);
  return [...parts, "duplex: true"];
}

function config(setup: Setup, file: string): string[] {
  if (setup.iface === undefined && setup.policy === undefined) return [];
  const parts = [setup.tc ? `tc: ${file}` : `ios: ${file}`];
  if (!setup.tc) parts.push(`platform: ${setup.platform}`);
  if (setup.iface !== undefined) parts.push(`interfaces: {${quoted(setup.iface)}: line}`);
  return [`configs:`, `  - {${parts.join(", ")}}`];
}

function flow(load: Load): string[] {
  const { header: h } = load;
  const parts = [`name: ${quoted(load.name)}`];
  const many = load.kind === "tcp" || load.kind === "calls" || load.kind === "captured";
  if (many && load.count > 1) parts.push(`count: ${Math.round(load.count)}`);
  if (h.dscp !== 0) parts.push(`dscp: ${dscpName(h.dscp)}`);
  parts.push("from: router", "to: far");
  if (load.kind !== "tcp" && h.protocol !== "udp") parts.push(`protocol: ${h.protocol}`);
  if (h.dport !== PLAIN.dport) parts.push(`dport: ${h.dport}`);
  if (h.sport !== PLAIN.sport) parts.push(`sport: ${h.sport}`);
  if (h.src !== PLAIN.src) parts.push(`src: ${addressText(h.src)}`);
  if (h.dst !== PLAIN.dst) parts.push(`dst: ${addressText(h.dst)}`);
  return [...parts, source(load)];
}

function source(load: Load): string {
  const packet =
    typeof load.packet === "number" ? `${Math.round(load.packet)} B` : `{imix: ${load.packet}}`;
  if (load.kind === "tcp") return "tcp: {}";
  if (load.kind === "calls") return `source: {voip: {codec: ${load.codec}}}`;
  if (load.kind === "captured" && load.fitted !== undefined)
    return `source: ${JSON.stringify(scaled(load.fitted.source, load.rate / load.fitted.rate))}`;
  const name = load.kind === "cbr" ? "cbr" : "poisson";
  return `source: {${name}: {rate: ${rateWords(load.rate)}, packet: ${packet}}}`;
}

const RATES: Record<string, number> = { "b/s": 1, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9 };

/** A source with all its rates multiplied. */
export function scaled(source: unknown, factor: number): unknown {
  if (Array.isArray(source)) return source.map((s) => scaled(s, factor));
  if (typeof source === "object" && source !== null)
    return Object.fromEntries(Object.entries(source).map(([k, v]) => [k, scaled(v, factor)]));
  const rate = typeof source === "string" ? /^([\d.]+) ([kMG]?b\/s)$/.exec(source) : null;
  if (rate === null || factor === 1) return source;
  return rateWords(Number(rate[1]) * (RATES[rate[2] ?? ""] ?? 1) * factor);
}

/** Requirements of rows; one without any is left out. */
function requirements(loads: readonly Load[]): string[] {
  const all = loads.flatMap((l) => {
    const of = `class: ${quoted(l.name)}`;
    if (l.require !== "own") return l.require === "" ? [] : [`{${of}, preset: ${l.require}}`];
    const own: string[] = [];
    if (l.delay > 0) own.push(`{${of}, metric: owd_p99, max: ${timeWords(l.delay)}}`);
    if (l.loss > 0)
      own.push(`{${of}, metric: loss_ratio, max: ${Number((l.loss * 100).toPrecision(6))} %}`);
    return own;
  });
  return all.length === 0 ? [] : ["sla:", ...all.map((r) => `  - ${r}`)];
}

/** What the line adds to IP packets, by the name of the interface. */
export function overheadOf(iface: string): string {
  if (/\.\d+$/.test(iface) && /ether|gige/i.test(iface)) return "ethernet ether-vlan";
  if (/^(.*ethernet|.*gige|bundle-ether|port-channel|eth|en[ops]|lan|wan)/i.test(iface))
    return "ethernet";
  if (/^(serial|pos|multilink)/i.test(iface)) return "ppp";
  return "";
}
