/**
 * A student's number and what is drawn by it. Everything here is stable for ever: a teacher's list
 * of answers has to fit sheets that were printed a year ago.
 */

/** The number of those who have none: the standard parameters. */
export const NOBODY = "0";
const LONGEST = 12;

/** The number in one form, `007` as `7`; none if it is no number of up to twelve digits. */
export function readNumber(text: string): string | undefined {
  const digits = text.trim();
  if (!/^\d*$/.test(digits)) return undefined;
  const short = digits.replace(/^0+/, "");
  return short.length > LONGEST ? undefined : short || NOBODY;
}

/** FNV-1a over the characters (ASCII), then the last step of MurmurHash3, which mixes all bits. */
export function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** A whole number below `count`, drawn by the student's number for a purpose; 0 for nobody. */
export function draw(number: string, purpose: string, count: number): number {
  return number === NOBODY ? 0 : hash(`${number}/${purpose}`) % count;
}

/** The same things in an order that the student's number draws; nobody's is as given. */
export function shuffled<T>(number: string, purpose: string, things: readonly T[]): T[] {
  const rank = (_: T, i: number) => (number === NOBODY ? i : hash(`${number}/${purpose}/${i}`));
  const keyed = things.map((thing, i) => ({ thing, key: rank(thing, i) }));
  return keyed.sort((a, b) => a.key - b.key).map((k) => k.thing);
}
