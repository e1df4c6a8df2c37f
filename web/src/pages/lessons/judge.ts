import type { Outcome } from "../../engine/api";
import type { ChoiceQuestion, NumberQuestion, Numbers, Question } from "./lesson";

/**
 * What is said to an answer. Of a wrong one it says what may be off, never the right answer.
 * `slip`: a mistake of this question. `factor`: one that happens everywhere.
 */
export type Verdict =
  | { kind: "right" }
  | { kind: "slip"; slip: string }
  | { kind: "factor"; factor: Factor }
  | { kind: "near" | "low" | "high" | "unreadable" | "unit" | "bare" | "wrong" };

export type Factor = "bits" | "prefix" | "bitsAndPrefix" | "percent" | "sign";

/** Room for what a computer makes of decimals. */
const ROUNDING = 1e-9;
/** Nearer than this is called near: a slip in arithmetic, not in thinking. */
const NEAR = 0.1;

/**
 * How far off an answer may be: half a unit of the last digit that is asked for. Who rounds
 * correctly to so many digits, or to more, is right. Of 0 digits, a whole number, nothing is off:
 * a quotient that would round to it is no count.
 */
export function tolerance(expected: number, digits: number): number {
  if (digits === 0) return ROUNDING * Math.abs(expected);
  const exponent = expected === 0 ? 0 : Math.floor(Math.log10(Math.abs(expected)) + ROUNDING);
  return 0.5 * 10 ** (exponent - digits + 1) + ROUNDING * Math.abs(expected);
}

/**
 * A number as people write it, with a point or a comma; the unit may follow. `bare`: something
 * follows where there is no unit.
 */
export function readAnswer(text: string, unit: string): number | "unreadable" | "unit" | "bare" {
  const found =
    /^\s*([-+\u2212]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][-+]?\d{1,3})?)\s*(.*?)\s*$/.exec(text);
  if (!found) return "unreadable";
  const [, number = "", rest = ""] = found;
  if (/^[\d.,'’_]/.test(rest)) return "unreadable";
  if (rest !== "" && sign(rest) !== sign(unit) && !sameWord(rest, unit)) {
    return unit === "" ? "bare" : "unit";
  }
  const x = Number(number.replace(",", ".").replace("\u2212", "-"));
  return Number.isFinite(x) ? x : "unreadable";
}

/** A unit in one form. `Mbit/s` and `mbps` are `Mb/s`; `MB/s` is not: a B has eight b. */
function sign(unit: string): string {
  const short = unit.replace(/\s/g, "").replace(/bits?(?=\/s$)/i, "b");
  return short.replace(/bps$/, "b/s").replace(/[^B]/g, (c) => c.toLowerCase());
}

/** Units that are words may stand in any language and number: packets, Pakete. */
function sameWord(rest: string, unit: string): boolean {
  const start = (word: string) => word.slice(0, 3).toLowerCase().replace("k", "c");
  return unit.length > 4 && !unit.includes("/") && start(rest) === start(unit);
}

/** Factors of mistakes that happen in any question, for its unit. */
function factors(unit: string): [Factor, number][] {
  const bits: [Factor, number][] = [
    ["bits", 8],
    ["bits", 1 / 8],
  ];
  const prefixes: [Factor, number][] = [1e3, 1e6].flatMap((f) => [
    ["prefix", f] as [Factor, number],
    ["prefix", 1 / f] as [Factor, number],
    ["bitsAndPrefix", 8 * f] as [Factor, number],
    ["bitsAndPrefix", 1 / (8 * f)] as [Factor, number],
    ["bitsAndPrefix", f / 8] as [Factor, number],
    ["bitsAndPrefix", 8 / f] as [Factor, number],
  ]);
  if (unit === "%") return [["percent", 0.01], ["percent", 100], ...bits];
  return unit === "" ? [] : [...bits, ...prefixes];
}

/** Judges a number against the one expected. */
export function judgeNumber(
  text: string,
  of: {
    expected: number;
    unit: string;
    digits: number;
    allow?: number | undefined;
    slips: Readonly<Record<string, number>>;
  },
): Verdict {
  const x = readAnswer(text, of.unit);
  if (typeof x === "string") return { kind: x };
  const within = Math.max(tolerance(of.expected, of.digits), of.allow ?? 0);
  if (Math.abs(x - of.expected) <= within) return { kind: "right" };
  if (Math.abs(x + of.expected) <= within) return { kind: "factor", factor: "sign" };
  const like = (y: number) => Math.abs(x - y) <= tolerance(y, Math.max(2, of.digits));
  const slips = Object.entries(of.slips).filter(([, y]) => like(y));
  const off = ([, y]: [string, number]) => Math.abs(x - y);
  const [slip] = slips.sort((a, b) => off(a) - off(b));
  if (slip) return { kind: "slip", slip: slip[0] };
  const factor = factors(of.unit).find(([, f]) => like(of.expected * f));
  if (factor) return { kind: "factor", factor: factor[0] };
  const ratio = x / of.expected;
  if (of.digits > 0 && Math.abs(ratio - 1) <= NEAR) return { kind: "near" };
  return { kind: x < of.expected ? "low" : "high" };
}

/** The answer to a question: a number in its unit, or the name of the right choice. */
export function answerOf(q: Question, p: Numbers<string>, o: readonly Outcome[]): number | string {
  return q.kind === "number" ? q.expected(p, o) : q.right(p, o);
}

/** Judges what was given. */
export function judge(
  q: Question,
  p: Numbers<string>,
  o: readonly Outcome[],
  given: string,
): Verdict {
  return q.kind === "number" ? number(q, p, o, given) : choice(q, p, o, given);
}

function number(
  q: NumberQuestion<string>,
  p: Numbers<string>,
  o: readonly Outcome[],
  given: string,
): Verdict {
  const { unit, digits, allow } = q;
  const expected = q.expected(p, o);
  return judgeNumber(given, { expected, unit, digits, allow, slips: q.slips(p, o) });
}

function choice(
  q: ChoiceQuestion<string>,
  p: Numbers<string>,
  o: readonly Outcome[],
  given: string,
): Verdict {
  if (!q.choices.includes(given)) return { kind: "unreadable" };
  return given === q.right(p, o) ? { kind: "right" } : { kind: "slip", slip: given };
}
