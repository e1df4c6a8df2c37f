/** What each class is offered: a table that is filled from a router, a capture or by rule of thumb. */

import type { Offered, Profile, Understood } from "../../engine/api";
import { type Leaf, type Role, roleOf } from "./classes";
import { type Condition, dscpOf, type Header, holds, PLAIN, witness } from "./conditions";

export type Kind = "calls" | "cbr" | "poisson" | "tcp" | "captured" | "none";

/** Where the numbers of a row are from. */
export type Origin = "rule" | "show" | "capture" | "you";

export interface Load {
  /** Name of the traffic, and of its class in the results; unique. */
  name: string;
  path: string[];
  role: Role;
  kind: Kind;
  /** b/s of IP packets, of all flows together. */
  rate: number;
  /** B of the IP packet, or the name of a mix. */
  packet: number | string;
  codec: string;
  /** Calls, or connections of TCP. */
  count: number;
  header: Header;
  origin: Origin;
  /** A source that was fitted to a capture, and the rate that it has. */
  fitted?: { source: unknown; count: number; rate: number };
  /** `""`, the name of a preset, or `own` with the limits below. */
  require: string;
  /** s of the 99 % delay, and a ratio; 0 is no limit. */
  delay: number;
  loss: number;
}

/** b/s and packets of one call as IP packets, at the packet times that codecs have by default. */
export const CODECS: Record<string, { bytes: number; gap: number }> = {
  g711: { bytes: 200, gap: 0.02 },
  g722: { bytes: 200, gap: 0.02 },
  g729a: { bytes: 60, gap: 0.02 },
  g726: { bytes: 120, gap: 0.02 },
  opus: { bytes: 100, gap: 0.02 },
};

export function callRate(codec: string): number {
  const { bytes, gap } = CODECS[codec] ?? { bytes: 200, gap: 0.02 };
  return (bytes * 8) / gap;
}

/** The presets that fit a class's use, where one does. */
const PRESETS: Record<Role, string> = {
  voice: "cisco-voice",
  video: "cisco-interactive-video",
  control: "y1541-class-3",
  business: "y1541-class-3",
  bulk: "",
  scavenger: "",
  rest: "",
};

/** Rules of thumb: what of the class's guarantee it asks for, and in which form. */
const RULES: Record<Role, { kind: Kind; share: number; packet: number | string; count: number }> = {
  voice: { kind: "calls", share: 0.6, packet: 60, count: 0 },
  video: { kind: "poisson", share: 0.7, packet: 1000, count: 1 },
  control: { kind: "poisson", share: 0.1, packet: 128, count: 1 },
  business: { kind: "poisson", share: 0.7, packet: "simple", count: 1 },
  bulk: { kind: "tcp", share: 0.7, packet: 1500, count: 2 },
  scavenger: { kind: "tcp", share: 0.7, packet: 1500, count: 1 },
  rest: { kind: "tcp", share: 0.7, packet: 1500, count: 4 },
};

/** What part of a rate that is not known a class is thought to ask for. */
const SHARE_OF_LINE = 0.1;

/** Names that are unlike each other, in order. */
export function uniqueNames(names: readonly string[]): string[] {
  const used = new Set<string>();
  return names.map((name) => {
    let free = name;
    for (let n = 2; used.has(free); n++) free = `${name} ${n}`;
    used.add(free);
    return free;
  });
}

/** What a class asks for by rule of thumb. `line` in b/s. */
export function byRule(leaf: Leaf, line: number): Omit<Load, "name"> {
  const role = roleOf(leaf);
  const rule = RULES[role];
  const guaranteed = leaf.outline.guaranteed ?? 0;
  const base = guaranteed > 0 ? Math.min(guaranteed, line) : line * SHARE_OF_LINE;
  const asked = tidy(rule.share * base);
  const codec = base >= 2e6 ? "g711" : "g729a";
  const count =
    rule.kind === "calls" ? Math.max(1, Math.floor(asked / callRate(codec))) : rule.count;
  return {
    path: leaf.path,
    role,
    kind: leaf.header === undefined ? "none" : kindFor(rule.kind, leaf),
    rate: rule.kind === "calls" ? count * callRate(codec) : asked,
    packet: rule.packet,
    codec,
    count,
    header: leaf.header ?? PLAIN,
    origin: "rule",
    require: PRESETS[role],
    delay: 0.1,
    loss: 0.01,
  };
}

/** The header of a row's packets: that of the class, with the protocol of the kind. */
export function headerFor(kind: Kind, leaf: Leaf): Header | undefined {
  return kind === "tcp" ? witness(leaf.wanted, leaf.not, { protocol: "tcp" }) : leaf.header;
}

/** TCP where TCP may come in, else packets without it. */
function kindFor(kind: Kind, leaf: Leaf): Kind {
  return kind === "tcp" && headerFor("tcp", leaf) === undefined ? "poisson" : kind;
}

/** Two significant digits. */
export function tidy(value: number): number {
  if (!(value > 0)) return 0;
  const scale = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Math.round(value / scale) * scale;
}

export function rowsByRule(leaves: readonly Leaf[], line: number): Load[] {
  const names = uniqueNames(leaves.map((l) => l.path.at(-1) ?? l.outline.name));
  return leaves.map((leaf, i) => ({ name: names[i] ?? "", ...byRule(leaf, line) }));
}

type Shown = Offered["policies"][number];

/** The policy of an output that is about an interface; the first of its direction if none is. */
export function shownFor(offered: Offered, iface: string, root: string): Shown | undefined {
  const out = offered.policies.filter((p) => p.direction === "output");
  return out.find((p) => p.interface === iface) ?? out.find((p) => p.policy === root) ?? out[0];
}

/** Rows with what the router has measured; classes that the output does not have stay as they are. */
export function withShown(rows: readonly Load[], shown: Shown, leaves: readonly Leaf[]): Load[] {
  return rows.map((row) => {
    const name = row.path.at(-1);
    const measured = shown.classes.filter((c) => c.name === name && c.child === null);
    const entry =
      measured.find((c) => c.within.join("\n") === row.path.slice(0, -1).join("\n")) ?? measured[0];
    // What no packet can be sent into stays without.
    if (entry === undefined || entry.offered_bps === null || row.kind === "none") return row;
    const counted = entry.packets !== null && entry.bytes !== null && entry.packets > 0;
    const size = counted ? (entry.bytes ?? 0) / (entry.packets ?? 1) : 500 + shown.framing;
    const packet = Math.max(28, Math.min(1500, Math.round(size - shown.framing)));
    const rate = Math.round((entry.offered_bps * packet) / (packet + shown.framing));
    const leaf = leaves.find((l) => l.path.join("\n") === row.path.join("\n"));
    const code = entry.dscp.map(dscpOf).find((d) => d !== undefined);
    const header = leaf === undefined ? row.header : withCode(row.header, code, leaf);
    return measuredRow({ ...row, header, origin: "show" }, rate, packet);
  });
}

/** The header with a measured code point, if such a packet is of the class. */
function withCode(header: Header, code: number | undefined, leaf: Leaf): Header {
  const changed = { ...header, dscp: code ?? header.dscp };
  const all = (list: readonly Condition[], is: boolean) =>
    list.every((c) => holds(c, changed) === is);
  return all(leaf.wanted, true) && all(leaf.not, false) ? changed : header;
}

/** Packets of a codec's size are its calls, where voice is expected; else they come at random. */
function measuredRow(row: Load, rate: number, packet: number): Load {
  if (rate <= 0) return { ...row, kind: "none", rate: 0, packet };
  const codec = Object.keys(CODECS).find((c) => Math.abs((CODECS[c]?.bytes ?? 0) - packet) <= 1);
  if (row.role === "voice" && codec !== undefined) {
    const count = Math.max(1, Math.round(rate / callRate(codec)));
    return { ...row, kind: "calls", codec, count, rate: count * callRate(codec), packet };
  }
  return { ...row, kind: "poisson", rate, packet, count: 1 };
}

/**
 * Rows with the sources that a capture was like; its groups are named as the classes are, or by
 * code points where there was no policy to class them.
 */
export function withProfile(rows: readonly Load[], profile: Profile): Load[] {
  return rows.map((row) => {
    const names = [row.path.join("/"), row.path.at(-1) ?? row.name];
    const group =
      profile.by === "dscp"
        ? profile.groups.find((g) => dscpOf(g.dscp ?? "") === row.header.dscp)
        : profile.groups.find((g) => names.includes(g.name));
    if (group === undefined || !((group.shape.rate ?? 0) > 0) || row.kind === "none") return row;
    const rate = Math.round(group.shape.rate ?? 0);
    const packet = Math.max(28, Math.min(9000, Math.round(group.shape.size)));
    const base = { ...row, rate, packet, origin: "capture" as const };
    if (group.fit === null) return { ...base, kind: "poisson", count: 1 };
    const fitted = { source: group.fit.source, count: group.fit.count, rate };
    return { ...base, kind: "captured", count: group.fit.count, fitted };
  });
}

/** The rate that a row offers, b/s; of TCP nothing is known before. */
export function offeredRate(row: Load): number | undefined {
  if (row.kind === "none") return 0;
  if (row.kind === "tcp") return undefined;
  return row.kind === "calls" ? row.count * callRate(row.codec) : row.rate;
}

/** Packets a second that a row brings, at most: TCP may fill what the class or the line has. */
export function packetRate(row: Load, line: number): number {
  const size = typeof row.packet === "number" ? row.packet : 340;
  if (row.kind === "none") return 0;
  if (row.kind === "tcp") return (line / (1500 * 8)) * 1.5;
  if (row.kind === "calls") return row.count / (CODECS[row.codec]?.gap ?? 0.02);
  return row.rate / (8 * size);
}

/** The rate of an interface's line, b/s: of a circuit its peak, else what the interface says. */
export function lineRate(iface: Understood["interfaces"][number] | undefined): number | undefined {
  const circuit = iface?.circuit as { pcr?: number | null } | null | undefined;
  const known = [iface?.rate, circuit?.pcr, iface?.policy?.rate].filter(
    (r): r is number => typeof r === "number" && r > 0,
  );
  return known.length === 0 ? undefined : Math.max(...known);
}
