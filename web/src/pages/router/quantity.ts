/** Numbers with units as people type them. */

const RATE: Record<string, number> = { "": 1, k: 1e3, m: 1e6, g: 1e9 };

/** `2.048 Mb/s`, `64k`, `64000`: b/s; none where it is no rate. */
export function readRate(text: string): number | undefined {
  const found = /^\s*(\d+(?:[.,]\d+)?)\s*([kmg]?)(?:b(?:it)?(?:\/s|ps)?)?\s*$/i.exec(text);
  if (found === null) return undefined;
  const value = Number(found[1]?.replace(",", ".")) * (RATE[found[2]?.toLowerCase() ?? ""] ?? 1);
  return value > 0 ? value : undefined;
}

const TIME: Record<string, number> = { s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, "": 1e-3 };

/** `20 ms`, `0.1 s`; a bare number is of milliseconds. */
export function readTime(text: string): number | undefined {
  const found = /^\s*(\d+(?:[.,]\d+)?)\s*(s|ms|us|µs|)\s*$/i.exec(text);
  if (found === null) return undefined;
  return Number(found[1]?.replace(",", ".")) * (TIME[found[2]?.toLowerCase() ?? ""] ?? 1);
}

/** `1 %`, `1`: of hundred. */
export function readPercent(text: string): number | undefined {
  const found = /^\s*(\d+(?:[.,]\d+)?)\s*%?\s*$/.exec(text);
  const value = found === null ? Number.NaN : Number(found[1]?.replace(",", ".")) / 100;
  return value <= 1 ? value : undefined;
}

/** A whole number from 1 on. */
export function readCount(text: string): number | undefined {
  const value = /^\s*\d{1,5}\s*$/.test(text) ? Number(text) : 0;
  return value >= 1 ? value : undefined;
}

/** Bytes of an IP packet: `1500`, `1500 B`. */
export function readBytes(text: string): number | undefined {
  const found = /^\s*(\d{1,5})\s*B?\s*$/i.exec(text);
  const value = Number(found?.[1] ?? 0);
  return value >= 28 && value <= 9216 ? value : undefined;
}
