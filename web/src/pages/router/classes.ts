/** The classes of an interface that packets can be sent into, and what such packets look like. */

import type { Outline } from "../../engine/api";
import { type Condition, type Header, holds, parse, witness } from "./conditions";

/** A class without classes inside: it has a queue, or none of its own. */
export interface Leaf {
  /** Names from the outermost class on; empty where the whole interface is one queue. */
  path: string[];
  outline: Outline;
  wanted: Condition[];
  not: Condition[];
  /** A packet of it; none where no header that a scenario can send leads there. */
  header: Header | undefined;
  /** Whether it is known to be of the class: words that leave something out do not tell. */
  sure: boolean;
}

/** What stands at an interface without a policy. */
const FIFO: Outline = {
  name: "fifo",
  kind: "fifo",
  policy: null,
  queue: "fifo",
  condition: "",
  promise: "",
  asked: "",
  rate: null,
  level: null,
  guaranteed: null,
  shape: null,
  police: null,
  limit: "",
  limit_packets: null,
  limit_bytes: null,
  flows: "",
  flow_packets: null,
  aqm: null,
  thresholds: [],
  classes: [],
};

/** Trees of `tc`: their classes stand side by side, and the parents among them take no packets. */
const TREES = new Set(["htb", "hfsc"]);

export function leavesOf(policy: Outline | null): Leaf[] {
  if (policy === null) return [leaf([], FIFO, [], [])];
  return policy.classes.length === 0 ? [leaf([], policy, [], [])] : inside(policy, [], [], []);
}

function leaf(path: string[], outline: Outline, wanted: Condition[], not: Condition[]): Leaf {
  const header = witness(wanted, not);
  const sure =
    header !== undefined &&
    wanted.every((c) => holds(c, header) === true) &&
    not.every((c) => holds(c, header) === false);
  return { path, outline, wanted, not, header, sure };
}

function inside(policy: Outline, path: string[], wanted: Condition[], not: Condition[]): Leaf[] {
  const tree = TREES.has(policy.kind ?? "");
  const read = policy.classes.map((c) => ({ of: c, when: parse(c.condition) }));
  return read.flatMap(({ of, when }, at) => {
    if (tree && of.condition === "") return [];
    // Classes are tried in turn; in a tree filters decide, whose order the outline does not tell.
    const rest = /(^|, and )everything else$/.test(of.condition);
    const others = tree
      ? read.filter((r) => r.of.condition !== "")
      : rest
        ? read
        : read.slice(0, at);
    const before = others.filter((r) => r.of !== of && !r.of.condition.endsWith("everything else"));
    const named = [...path, of.name];
    const mine = [...wanted, when];
    const less = [...not, ...before.map((r) => r.when)];
    return of.classes.length > 0 ? inside(of, named, mine, less) : [leaf(named, of, mine, less)];
  });
}

/** What a class is for, by what it matches and how it is called. */
export type Role = "voice" | "video" | "control" | "business" | "bulk" | "scavenger" | "rest";

const NAMED: [Role, RegExp][] = [
  ["control", /signal|control|routing|mgmt|management|\bospf|\bbgp|network/i],
  ["voice", /voice|voip|telephon|\brtp|real-?time|\bef\b/i],
  ["video", /video|conferenc|telepresence|multimedia|stream/i],
  ["scavenger", /scaveng|guest|background|worm|\ble\b/i],
  ["bulk", /bulk|backup|ftp|file|transfer/i],
  ["business", /business|critical|transaction|interactive|citrix|\bsap\b|\bsql|gold|silver|data/i],
];

/** Code points by their use in RFC 4594. */
const CODED: [Role, number[]][] = [
  ["voice", [46, 44]],
  ["video", [34, 36, 38, 32, 24]],
  ["control", [48, 56, 16, 40]],
  ["business", [26, 28, 30, 18, 20, 22]],
  ["bulk", [10, 12, 14]],
  ["scavenger", [8, 1]],
];

export function roleOf(of: Leaf): Role {
  const name = of.path.at(-1) ?? "";
  const matched = of.header?.dscp ?? 0;
  return (
    NAMED.find(([, words]) => words.test(name))?.[0] ??
    CODED.find(([, codes]) => matched > 0 && codes.includes(matched))?.[0] ??
    (of.outline.level !== null && of.outline.level !== undefined ? "voice" : "rest")
  );
}
