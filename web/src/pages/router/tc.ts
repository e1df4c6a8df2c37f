/** The rates in a script of `tc`: where they stand, and the commands that change them. */

import { type Knob, linesOf } from "./ios";

/** A command that makes or changes a class or a discipline. */
const COMMAND = /\btc\s+(?:class|qdisc)\s+(add|replace|change)\b/;

/** Rates in bits. `kbps` and the like are bytes for `tc`, and a bare number is bytes, too. */
const RATE = /\b(rate|ceil|bandwidth)\s+(\d+(?:\.\d+)?)(k|m|g)?bit\b/gi;

const SCALE: Record<string, number> = { "": 1, k: 1e3, m: 1e6, g: 1e9 };

const after = (word: string, line: string) =>
  new RegExp(`\\b${word}\\s+["']?([^\\s"']+)`).exec(line)?.[1];

/** Rates of the classes and disciplines of a device. A device in a variable may be any. */
export function ratesOf(text: string, device: string): Knob[] {
  const last = new Map<string, Knob>();
  linesOf(text).forEach((line, index) => {
    const dev = after("dev", line);
    const mine = dev === device || (dev?.startsWith("$") ?? false);
    if (!COMMAND.test(line) || line.trimStart().startsWith("#") || !mine) return;
    const cls = after("classid", line) ?? after("handle", line) ?? after("parent", line) ?? "root";
    for (const found of line.matchAll(RATE)) {
      const [whole, word = "", number = "", scale = ""] = found;
      const end = found.index + whole.length;
      const command = word.toLowerCase();
      last.set(`${cls}\n${command}`, {
        policy: device,
        cls,
        command,
        line: index + 1,
        start: end - number.length - scale.length - 3,
        end,
        value: Number(number) * (SCALE[scale.toLowerCase()] ?? 1),
        unit: "b/s",
        factor: 1e3,
        suffix: "kbit",
      });
    }
  });
  return [...last.values()].sort((a, b) => a.line - b.line);
}

/** The commands that turn `before` into `after`; both have the same lines but for their rates. */
export function changedCommands(before: string, after: string): string[] {
  const old = linesOf(before);
  return linesOf(after).flatMap((line, at) =>
    line === old[at]
      ? []
      : [line.trim().replace(/\btc(\s+)(class|qdisc)(\s+)(add|replace)\b/, "tc$1$2$3change")],
  );
}
