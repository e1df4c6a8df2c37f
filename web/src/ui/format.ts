/**
 * Numbers for people: units that fit, prefixes and sensible digits, as the command line writes
 * them (`crates/core/src/show.rs`, whose test vectors this module passes too).
 *
 * Values are in base units everywhere (s, b/s, ratios, packets, B); only here they become text.
 */

/** A value that may be undefined. */
export type Maybe = number | null | undefined;

/** A unit of display: the factor to it from the base unit, and its name. */
export interface Scale {
  factor: number;
  unit: string;
}

/** Significant digits of a mean; more are noise to a reader. */
const SIGNIFICANT = 4;
/** The most decimals that are shown. */
const MOST = 6;
/** What stands for a value that is undefined. */
export const NONE = "–";

const UNITS: Record<string, [number, string][]> = {
  s: [
    [1, "s"],
    [1e3, "ms"],
    [1e6, "µs"],
    [1e9, "ns"],
  ],
  "b/s": [
    [1e-12, "Tb/s"],
    [1e-9, "Gb/s"],
    [1e-6, "Mb/s"],
    [1e-3, "kb/s"],
    [1, "b/s"],
  ],
  B: [
    [1e-9, "GB"],
    [1e-6, "MB"],
    [1e-3, "kB"],
    [1, "B"],
  ],
  "1": [[100, "%"]],
  score: [[1, ""]],
  factor: [[1, ""]],
};

/** The unit that suits the largest of the values; those that are not finite do not count. */
export function fitting(base: string, values: Iterable<Maybe>): Scale {
  let top = 0;
  for (const v of values) {
    if (typeof v === "number" && Number.isFinite(v)) top = Math.max(top, Math.abs(v));
  }
  const family = Object.hasOwn(UNITS, base) ? UNITS[base] : undefined;
  if (!family) return { factor: 1, unit: base };
  // The unit that is usual for zeros: ms, Mb/s, B. A shade below 1 keeps 999.9999 of rounding from
  // choosing the smaller unit.
  const suits = ([factor, unit]: [number, string]) =>
    top === 0 ? unit === "ms" || unit === "Mb/s" || unit === "B" : top * factor >= 0.9999;
  const found = family.find(suits) ?? family[family.length - 1];
  return found ? { factor: found[0], unit: found[1] } : { factor: 1, unit: base };
}

/** The same for a difference of two values: of 15 and 17 % it is 2 points, not 2 %. */
export function ofDifference(scale: Scale): Scale {
  return scale.unit === "%" ? { ...scale, unit: "% points" } : scale;
}

/** Digits and decimal exponent of the shortest text of a positive number. */
function parts(x: number): [number, number] {
  const [digits = "1", exponent = "0"] = x.toExponential().split("e");
  return [Number(digits), Number(exponent)];
}

/**
 * A text rounded half away from zero, as JavaScript does it, made half to even: what the core
 * says of values that lie exactly between two. `more` is the same number with many more decimals.
 */
function halfToEven(text: string, more: string, decimals: number): string {
  const kept = decimals > 0 ? more.indexOf(".") + 1 + decimals : more.indexOf(".");
  const rest = more.slice(kept).replace(".", "");
  if (!/^50*$/.test(rest)) return text;
  const cut = more.slice(0, kept);
  return "02468".includes(cut.at(-1) ?? "") ? cut : text;
}

/** A number with some decimals, ties to even. */
export function fixed(x: number, decimals: number): string {
  if (!Number.isFinite(x)) return NONE;
  const places = Math.max(0, decimals);
  if (Math.abs(x) >= 1e21) {
    const zeros = places > 0 ? `.${"0".repeat(places)}` : "";
    return BigInt(x).toString() + zeros;
  }
  const sign = x < 0 || Object.is(x, -0) ? "-" : "";
  const size = Math.abs(x);
  return sign + halfToEven(size.toFixed(places), size.toFixed(80), places);
}

/** Mantissa and exponent with some decimals of the mantissa, ties to even. */
function exponential(x: number, decimals: number): [string, number] {
  const [text = "0", exponent = "0"] = x.toExponential(decimals).split("e");
  const [more = "0", same] = x.toExponential(80).split("e");
  return [same === exponent ? halfToEven(text, more, decimals) : text, Number(exponent)];
}

/**
 * How many decimals a mean deserves whose interval has this half-width, 0 if it has none: the
 * half-width keeps one significant digit, two if it begins with 1.
 */
function decimalsOf(mean: number, half: number): number {
  const most = mean === 0 ? 2 : Math.max(0, SIGNIFICANT - 1 - parts(Math.abs(mean))[1]);
  let deserved = most;
  if (half > 0) {
    const [leading, exponent] = parts(half);
    deserved = Math.max(0, (leading < 1.95 ? 1 : 0) - exponent);
  }
  return Math.min(MOST, most, deserved);
}

const HALVES = [0.5, 0.05, 0.005, 0.0005, 0.5e-4, 0.5e-5, 0.5e-6];

/** Half a unit of the last of some decimals: what is below is not seen. */
function unseen(decimals: number): number {
  return HALVES[Math.min(MOST, Math.max(0, decimals))] ?? 0.5;
}

function withoutZeros(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function finite(x: Maybe): x is number {
  return typeof x === "number" && Number.isFinite(x);
}

/** A mean with its half-width in the display unit, which is not named. */
export function number(mean: Maybe, half: Maybe, factor: number, interval: boolean): string {
  if (!finite(mean)) return NONE;
  const value = mean * factor;
  const width = finite(half) ? half * factor : 0;
  const decimals = decimalsOf(value, width);
  const shown = fixed(value, decimals);
  if (width >= unseen(decimals)) {
    return interval ? `${shown} ±${fixed(width, decimals)}` : shown;
  }
  const short = withoutZeros(shown);
  return short === "-0" ? "0" : short;
}

/** Decimals that suit a whole column: the largest value gets four digits. */
export function column(factor: number, values: Iterable<Maybe>): number {
  let top = 0;
  for (const v of values) if (finite(v)) top = Math.max(top, Math.abs(v));
  return Math.min(3, decimalsOf(top * factor, 0));
}

/** A value of a column whose decimals are given; `<0.01` of one too small for it. */
export function cell(
  mean: Maybe,
  half: Maybe,
  factor: number,
  decimals: number,
  interval: boolean,
): string {
  if (!finite(mean)) return NONE;
  if (mean === 0 && !(half && !Number.isNaN(half))) return "0";
  const value = mean * factor;
  const width = finite(half) ? half * factor : 0;
  const least = unseen(decimals);
  const shown =
    value > 0 && value < least ? `<${fixed(2 * least, decimals)}` : fixed(value, decimals);
  return interval && width >= least ? `${shown} ±${fixed(width, decimals)}` : shown;
}

/** A value with a fitting unit: `20 ms`, `0.1 %`. */
export function value(x: Maybe, base: string): string {
  return withInterval(x, undefined, base);
}

/** A mean with its half-width and a fitting unit: `4.80 ±0.10 ms`. */
export function withInterval(mean: Maybe, half: Maybe, base: string): string {
  if (mean === null || mean === undefined || Number.isNaN(mean)) return NONE;
  if (!Number.isFinite(mean)) return mean > 0 ? "∞" : "−∞";
  const scale = fitting(base, [mean]);
  return `${number(mean, half, scale.factor, true)} ${scale.unit}`.trimEnd();
}

/** What something cannot exceed: four digits, the last rounded up. */
export function ceiling(x: Maybe, base: string): string {
  if (!finite(x) || x <= 0) return value(x, base);
  const step = Number(`1e${parts(x)[1] + 1 - SIGNIFICANT}`);
  // A whole number of steps may be a little more or less in binary.
  return value(Math.ceil(x / step - 1e-9) * step, base);
}

/** A value of three digits with a fitting unit; a share that would not be seen is shown as such. */
export function rough(x: Maybe, base: string): string {
  if (!finite(x)) return value(x, base);
  return base === "1" && x > 0 && x < 5e-7 ? "<0.0001 %" : value(rounded(x, 3), base);
}

/** A number without a unit, of about four digits. */
export function plain(x: Maybe): string {
  return number(x, undefined, 1, false);
}

/** A number rounded to some significant digits. */
export function rounded(x: number, digits: number): number {
  const [mantissa, exponent] = exponential(x, Math.max(0, digits - 1));
  return Number(`${mantissa}e${exponent}`);
}

/** Seconds rounded up to two digits, 0 for those below. */
export function roundedUp(seconds: number): number {
  if (!(seconds > 0)) return 0;
  const unit = Number(`1e${parts(seconds)[1] - 1}`);
  // What a picosecond is off must not cost a unit.
  return Number(fixed(Math.ceil(seconds / unit - 1e-6) * unit, 12));
}

/** A number of some significant digits in the shortest form, as `%g` of C has it. */
export function general(x: Maybe, digits: number): string {
  if (!finite(x)) return NONE;
  const [mantissa, exponent] = exponential(x, Math.max(0, digits - 1));
  if (exponent >= -4 && exponent < digits) return withoutZeros(fixed(x, digits - 1 - exponent));
  const sign = exponent < 0 ? "-" : "+";
  return `${withoutZeros(mantissa)}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** A whole number with commas between thousands. */
export function whole(n: number | bigint): string {
  return n.toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** A mean number of things of about six digits, with commas between thousands. */
export function count(n: number): string {
  if (n >= 999_999.5) return whole(BigInt(Math.round(n)));
  const text = general(n, 6);
  if (n < 1000) return text;
  const [before = "0", after] = text.split(".");
  return after === undefined ? whole(Number(before)) : `${whole(Number(before))}.${after}`;
}
