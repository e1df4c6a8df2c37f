/**
 * Colors and dash patterns of classes and flows: Okabe and Ito's palette, which people with any
 * kind of color vision tell apart, in an order that is the same on every page. The colors
 * themselves are the custom properties `--class-0` to `--class-7`, so that they follow the theme.
 */

export const PALETTE = 8;

/** Dash patterns in pixels, so that color is never alone; empty is a solid line. */
const DASHES: readonly (readonly number[])[] = [
  [],
  [8, 4],
  [2, 3],
  [10, 3, 2, 3],
  [14, 5],
  [5, 2, 5, 6],
  [2, 6],
  [12, 3, 3, 3, 3, 3],
];

/** How one thing is drawn. */
export interface Paint {
  /** Its number in the order of all things. */
  index: number;
  /** A color for CSS and SVG: `var(--class-2)`. */
  color: string;
  /** The custom property: `--class-2`. */
  property: string;
  dash: readonly number[];
}

/** The paint of the thing with a number; colors repeat after eight, with other dashes. */
export function paint(index: number): Paint {
  const property = `--class-${index % PALETTE}`;
  const round = Math.floor(index / PALETTE);
  const dash = DASHES[(index + 3 * round) % DASHES.length] ?? [];
  return { index, color: `var(${property})`, property, dash };
}

/** Paints by name, in the order in which names come first. */
export function paints(names: Iterable<string>): Map<string, Paint> {
  const found = new Map<string, Paint>();
  for (const name of names) if (!found.has(name)) found.set(name, paint(found.size));
  return found;
}

/** The value of a custom property where an element stands; for canvases, which know no `var()`. */
export function resolved(element: Element, property: string): string {
  return getComputedStyle(element).getPropertyValue(property).trim() || "currentColor";
}
