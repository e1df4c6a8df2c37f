/** Numbers with units as scenarios write them: `20 ms`, `64 packets`, `1.5 Mb/s`. */

/** What a unit measures, and how many of its base unit it is. */
interface Unit {
  base: "b/s" | "s" | "B" | "packets" | "1";
  factor: number;
}

function units(base: Unit["base"], factors: Record<string, number>): [string, Unit][] {
  return Object.entries(factors).map(([name, factor]) => [name, { base, factor }]);
}

const PREFIXES: Record<string, number> = { "": 1, k: 1e3, M: 1e6, G: 1e9 };

function prefixed(name: string, factor = 1, prefixes = PREFIXES): Record<string, number> {
  return Object.fromEntries(Object.entries(prefixes).map(([p, f]) => [p + name, f * factor]));
}

/** The units of `crates/core/src/units.rs`. */
const UNITS = new Map<string, Unit>([
  ...units("b/s", prefixed("b/s", 1, { ...PREFIXES, T: 1e12, K: 1e3 })),
  ...units("b/s", prefixed("bit/s", 1, { ...PREFIXES, T: 1e12 })),
  ...units("b/s", prefixed("bps", 1, { ...PREFIXES, K: 1e3 })),
  ...units("b/s", prefixed("bit")),
  ...units("b/s", prefixed("B/s", 8)),
  ...units("s", {
    s: 1,
    ms: 1e-3,
    us: 1e-6,
    µs: 1e-6,
    "\u03bcs": 1e-6,
    ns: 1e-9,
    min: 60,
    h: 3600,
  }),
  ...units("B", prefixed("B")),
  ...units("B", { byte: 1, bytes: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }),
  ...units("B", { b: 0.125, kb: 125, Mb: 125_000 }),
  ...units("packets", { packets: 1, packet: 1, pkts: 1, p: 1 }),
  ...units("1", { "%": 0.01, percent: 0.01 }),
]);

export interface Quantity {
  /** In the base unit. */
  value: number;
  base: Unit["base"];
  /** The unit as written. */
  unit: string;
}

/** Reads a number with its unit; none if the text is none. */
export function readQuantity(text: string): Quantity | undefined {
  const parts = /^\s*([0-9][0-9_]*\.?[0-9_]*(?:[eE][+-]?[0-9]+)?)\s*([^\s0-9].*?)\s*$/u.exec(text);
  const [, digits = "", name = ""] = parts ?? [];
  const unit = UNITS.get(name);
  const number = Number(digits.replaceAll("_", ""));
  if (!unit || !Number.isFinite(number)) return undefined;
  // Rounded to the digits that a number has: 8.2 * 1e6 is not 8.2e6, and 35 * 0.01 is not 0.35.
  const value = Number((number * unit.factor).toPrecision(15));
  return { value, base: unit.base, unit: name };
}

/** A value in a unit of before: `0.5 Mb/s`. Whole where only whole numbers are read. */
export function writeQuantity(value: number, unit: string): string {
  const known = UNITS.get(unit);
  if (!known) return plainNumber(value);
  if (known.base === "packets") {
    const n = Math.max(0, Math.round(value));
    return `${n} ${n !== 1 && unit === "packet" ? "packets" : unit}`;
  }
  return `${plainNumber(Math.max(0, value) / known.factor)} ${unit}`;
}

/** A number without an exponent where it can be, and without the noise of binary fractions. */
export function plainNumber(x: number): string {
  return String(Number(x.toPrecision(12)));
}
