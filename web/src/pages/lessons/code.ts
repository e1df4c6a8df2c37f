import { hash } from "./number";

/**
 * The check code of a sheet: which questions are right, with a check of 14 bits, both mixed with
 * the student's number. It finds slips of the pen; it hides nothing from who reads this.
 */

/** Crockford's base 32: no I, L, O, U. */
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const BITS = 5;
const CHECK = 14;
const GROUP = 4;

/** The pattern that is laid over the bits of a number. */
const mask = (number: string, count: number) =>
  Array.from({ length: count }, (_, i) => hash(`${number}/mask/${i}`) % 2 === 1);

const check = (number: string, right: readonly boolean[]) => {
  const said = hash(`${number}/check/${right.map(Number).join("")}`);
  return Array.from({ length: CHECK }, (_, i) => ((said >>> i) & 1) === 1);
};

/** How many bits a code of so many questions has: whole digits. */
const length = (questions: number) => Math.ceil((questions + CHECK) / BITS) * BITS;

export function codeOf(number: string, right: readonly boolean[]): string {
  const plain = [...right, ...check(number, right)];
  const over = mask(number, length(right.length));
  const bits = over.map((m, i) => m !== (plain[i] ?? false));
  const digits = Array.from({ length: bits.length / BITS }, (_, d) => {
    const five = bits.slice(d * BITS, (d + 1) * BITS);
    return DIGITS[five.reduce((sum, b) => 2 * sum + Number(b), 0)] ?? "";
  });
  return digits.join("").replace(new RegExp(`(.{${GROUP}})(?=.)`, "g"), "$1-");
}

/** Which questions are right by a code; none if it is no code of this number. */
export function readCode(number: string, code: string, questions: number): boolean[] | undefined {
  const plain = code.toUpperCase().replace(/[\s-]/g, "");
  const digits = [...plain.replace(/O/g, "0").replace(/[IL]/g, "1")].map((c) => DIGITS.indexOf(c));
  if (digits.length * BITS !== length(questions) || digits.includes(-1)) return undefined;
  const bits = digits.flatMap((d) =>
    Array.from({ length: BITS }, (_, i) => ((d >>> (BITS - 1 - i)) & 1) === 1),
  );
  const over = mask(number, bits.length);
  const right = bits.map((b, i) => b !== over[i]).slice(0, questions);
  return codeOf(number, right).replace(/-/g, "") === digits.map((d) => DIGITS[d]).join("")
    ? right
    : undefined;
}
