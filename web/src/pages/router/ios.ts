/** The numbers in the policy-maps of an IOS configuration: where they stand, and how to change them. */

/** What a number counts; a rate is in b/s whatever the unit in the text. */
export type Unit = "%" | "ratio" | "b/s" | "packets" | "B" | "s";

/** A number that a slider may change. Offsets are within the line, from 0. */
export interface Knob {
  /** Policy-map and class; of an interface's bandwidth both are empty. */
  policy: string;
  cls: string;
  /** Words before the number, such as `bandwidth percent`. */
  command: string;
  /** Line of the text, from 1. */
  line: number;
  start: number;
  end: number;
  /** In `unit`. */
  value: number;
  unit: Unit;
  /** What one of the text's numbers is in `unit`. */
  factor: number;
  /** A unit that is written behind the number and belongs to what is replaced. */
  suffix?: string;
}

/** A line of a block, without its continuation. */
interface Command {
  line: number;
  text: string;
}

export interface ClassBlock {
  name: string;
  line: number;
  commands: Command[];
}

export interface PolicyBlock {
  name: string;
  line: number;
  classes: ClassBlock[];
}

export interface Blocks {
  policies: PolicyBlock[];
  interfaces: { name: string; line: number; commands: Command[] }[];
  /** Policies and classes that are undone with `no`, from that line on. */
  undone: { line: number; policy: string; cls: string }[];
}

const IN_POLICY =
  /^(no\s|description\b|bandwidth\b|priority\b|police\b|shape\b|queue-limit\b|random-detect\b|fair-queue\b|service-policy\b|set\b|drop\b|account\b|compress|estimate\b|trust\b|admit\b|conform|exceed|violate|exit\b)/i;
const ACTION = /^(conform|exceed|violate)-(action|color)\b/i;

/** Splits as editors count lines: the line ends are `\n`, `\r\n` or `\r`. */
export function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/);
}

/** Policy-maps with their classes, and interfaces, in the order of the text. */
export function blocksOf(text: string): Blocks {
  const found: Blocks = { policies: [], interfaces: [], undone: [] };
  let policy: PolicyBlock | undefined;
  let cls: ClassBlock | undefined;
  let face: Blocks["interfaces"][number] | undefined;
  linesOf(text).forEach((whole, index) => {
    const said = whole.trim();
    const line = index + 1;
    if (said === "" || said.startsWith("!")) return;
    const undone = /^no\s+(policy-map|class)\s+(?:type\s+qos\s+)?(\S+)\s*$/i.exec(said);
    if (undone?.[1]?.toLowerCase() === "class" && policy !== undefined) {
      found.undone.push({ line, policy: policy.name, cls: undone[2] ?? "" });
      cls = undefined;
      return;
    }
    if (undone?.[1]?.toLowerCase() === "policy-map")
      found.undone.push({ line, policy: undone[2] ?? "", cls: "" });
    const map = /^policy-map\s+(?:type\s+qos\s+)?(\S+)\s*$/i.exec(said);
    const port = /^interface\s+(\S.*?)(?:\s+(?:point-to-point|multipoint|l2transport))?$/i.exec(
      said,
    );
    if (map?.[1] !== undefined) {
      policy = { name: map[1], line, classes: [] };
      found.policies.push(policy);
      [cls, face] = [undefined, undefined];
    } else if (port?.[1] !== undefined) {
      face = { name: port[1], line, commands: [] };
      found.interfaces.push(face);
      [policy, cls] = [undefined, undefined];
    } else if (policy !== undefined) {
      const inside = /^class\s+(?:type\s+qos\s+)?(\S+)/i.exec(said);
      if (inside?.[1] !== undefined) {
        cls = { name: inside[1], line, commands: [] };
        policy.classes.push(cls);
      } else if (!IN_POLICY.test(said)) {
        [policy, cls] = [undefined, undefined];
      } else cls?.commands.push({ line, text: whole });
    } else if (face !== undefined) {
      if (
        /^\s/.test(whole) ||
        /^(bandwidth|service-policy|description|encapsulation|tx-ring-limit)\b/i.test(said)
      )
        face.commands.push({ line, text: whole });
      else face = undefined;
    }
  });
  return found;
}

const RATES: Record<string, number> = { bps: 1, kbps: 1e3, mbps: 1e6, gbps: 1e9 };
const LIMITS: Record<string, [Unit, number]> = {
  packets: ["packets", 1],
  bytes: ["B", 1],
  kbytes: ["B", 1e3],
  mbytes: ["B", 1e6],
  ms: ["s", 1e-3],
  us: ["s", 1e-6],
};

/** The forms of commands with a number: the words before it, and what it counts without a unit. */
const FORMS: [RegExp, Unit, number][] = [
  [/^bandwidth\s+percent\s+/i, "%", 1],
  [/^bandwidth\s+remaining\s+percent\s+/i, "%", 1],
  [/^bandwidth\s+remaining\s+ratio\s+/i, "ratio", 1],
  [/^bandwidth\s+/i, "b/s", 1e3],
  [/^priority\s+(?:level\s+\d+\s+)?percent\s+/i, "%", 1],
  [/^priority\s+(?:level\s+\d+\s+)?(?=\d)/i, "b/s", 1e3],
  [/^shape\s+(?:average|peak)\s+percent\s+/i, "%", 1],
  [/^shape\s+(?:average|peak)\s+/i, "b/s", 1],
  [/^police\s+(?:cir\s+|rate\s+)?percent\s+/i, "%", 1],
  [/^police\s+(?:cir\s+|rate\s+)?(?=\d)/i, "b/s", 1],
  [/^queue-limit\s+(?=\d)/i, "packets", 1],
];

/** The number of a command, or none. Numbers of several commands in a line are not looked for. */
function numberIn(command: Command): Omit<Knob, "policy" | "cls"> | undefined {
  const indent = command.text.length - command.text.trimStart().length;
  const said = command.text.slice(indent);
  for (const [form, plain, times] of FORMS) {
    const head = form.exec(said)?.[0];
    if (head === undefined) continue;
    const figure = /^(\d+(?:\.\d+)?)(?![\d.%/:])(?:\s*([a-z]+)\b)?/i.exec(said.slice(head.length));
    if (figure?.[1] === undefined) return undefined;
    let [unit, factor] = [plain, times];
    const word = figure[2]?.toLowerCase();
    if (word !== undefined && plain === "b/s" && word in RATES) factor = RATES[word] ?? factor;
    else if (word !== undefined && plain === "packets")
      [unit, factor] = LIMITS[word] ?? [unit, factor];
    // `priority level 1` has a number that is no rate, and a unit that is unknown says another thing.
    if (/^priority\s+level\s+$/i.test(head)) return undefined;
    const start = indent + head.length;
    const value = Number(figure[1]) * factor;
    const name = head.trim().replace(/\s+/g, " ").toLowerCase();
    return {
      command: name,
      line: command.line,
      start,
      end: start + figure[1].length,
      value,
      unit,
      factor,
    };
  }
  return undefined;
}

/** A command of a class in the order of the text; without one the class, or the policy, is undone. */
interface Entered {
  line: number;
  policy: string;
  cls: string;
  command?: Command;
}

function commandsOf(blocks: Blocks): Entered[] {
  const all: Entered[] = [...blocks.undone];
  for (const { name: policy, classes } of blocks.policies)
    for (const { name: cls, commands } of classes)
      for (const command of commands) all.push({ line: command.line, policy, cls, command });
  return all.sort((a, b) => a.line - b.line);
}

/** Names of the policy-maps that the classes of `root` lead to, itself included. */
export function reachable(blocks: Blocks, root: string): Set<string> {
  const seen = new Set<string>();
  const wait = [root];
  for (let name = wait.pop(); name !== undefined; name = wait.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    for (const policy of blocks.policies.filter((p) => p.name === name))
      for (const cls of policy.classes)
        for (const c of cls.commands) {
          const child = /^service-policy\s+(?:output\s+)?(\S+)$/i.exec(c.text.trim())?.[1];
          if (child !== undefined) wait.push(child);
        }
  }
  return seen;
}

/** Every number that can be changed in `root` and below it, the last of those that override another. */
export function knobsOf(text: string, root: string): Knob[] {
  const blocks = blocksOf(text);
  const names = reachable(blocks, root);
  const last = new Map<string, Knob>();
  const forget = (start: string) => {
    for (const key of last.keys()) if (key.startsWith(start)) last.delete(key);
  };
  for (const { policy, cls, command } of commandsOf(blocks)) {
    if (command === undefined) {
      forget(cls === "" ? `${policy}\n` : `${policy}\n${cls}\n`);
      continue;
    }
    if (!names.has(policy)) continue;
    const [first = "", second = ""] = command.text.trim().toLowerCase().split(/\s+/);
    const kind = `${policy}\n${cls}\n${first === "no" ? second : first}`;
    if (first === "no") last.delete(kind);
    const found = numberIn(command);
    // What is entered again replaces what there was.
    if (found !== undefined) last.set(kind, { policy, cls, ...found });
  }
  return [...last.values()].sort((a, b) => a.line - b.line);
}

/** Which number it is, whatever its value and place: the key of what a slider was moved to. */
export function keyOf(knob: Knob): string {
  return [knob.policy, knob.cls, knob.command].join("\n");
}

/** The value as the text writes it: percentages, rates and limits are whole numbers there. */
export function written(knob: Knob, value: number): string {
  return `${Math.max(1, Math.round(value / knob.factor))}${knob.suffix ?? ""}`;
}

/** The text with other numbers. Everything else stays as it is, line ends included. */
export function withNumbers(text: string, changes: readonly (readonly [Knob, number])[]): string {
  const parts = text.split(/(\r\n|\n|\r)/);
  for (const [knob, value] of [...changes].sort((a, b) => b[0].start - a[0].start)) {
    const at = (knob.line - 1) * 2;
    const line = parts[at] ?? "";
    parts[at] = line.slice(0, knob.start) + written(knob, value) + line.slice(knob.end);
  }
  return parts.join("");
}

/** Lines of a command: its own, and the actions that stand below it. */
function whole(commands: readonly Command[], at: number): string[] {
  const lines = [commands[at]?.text.trim() ?? ""];
  for (let i = at + 1; i < commands.length && ACTION.test(commands[i]?.text.trim() ?? ""); i++)
    lines.push(` ${commands[i]?.text.trim()}`);
  return lines;
}

/**
 * The commands that turn `before` into `after`, to be pasted in configuration mode. Both have the
 * same lines but for their numbers. A router refuses shares that exceed 100 % together, so classes
 * whose numbers fall come before those whose numbers rise.
 */
export function changedLines(before: string, after: string): string[] {
  const old = linesOf(before);
  const falls: string[] = [];
  const rises: string[] = [];
  for (const policy of blocksOf(after).policies) {
    const down: string[] = [];
    const up: string[] = [];
    for (const cls of policy.classes)
      for (const fall of [true, false]) {
        const lines = changed(cls, old, fall);
        if (lines.length > 0)
          (fall ? down : up).push(` class ${cls.name}`, ...lines.map((l) => `  ${l}`));
      }
    if (down.length > 0) falls.push(`policy-map ${policy.name}`, ...down);
    if (up.length > 0) rises.push(`policy-map ${policy.name}`, ...up);
  }
  const joined = rises.length > 0 && rises[0] === falls.findLast((l) => l.startsWith("policy-map"));
  return [...falls, ...(joined ? rises.slice(1) : rises)];
}

/** Changed commands of a class: those whose number falls, or the others. */
function changed(cls: ClassBlock, old: readonly string[], fall: boolean): string[] {
  return cls.commands.flatMap((command, at) => {
    const was = old[command.line - 1] ?? "";
    if (was === command.text || ACTION.test(command.text.trim())) return [];
    const now = numberIn(command)?.value ?? 0;
    const before = numberIn({ line: command.line, text: was })?.value ?? 0;
    return now < before === fall ? whole(cls.commands, at) : [];
  });
}
