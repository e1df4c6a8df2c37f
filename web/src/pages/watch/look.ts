/** Colors, textures and letters of packets: a class is never told by its color alone. */

/** What the page's style says, read anew when the theme changes. */
export interface Look {
  ink: string;
  soft: string;
  paper: string;
  sunk: string;
  line: string;
  strong: string;
  accent: string;
  bad: string;
  unsure: string;
  /** A color for each class, again from the first after the last. */
  colors: string[];
  /** What is read on each of them: black or white. */
  onColors: string[];
  font: string;
  /** Device pixels in a pixel of ours. */
  ratio: number;
}

const COLORS = 8;

export function lookOf(element: Element, ratio: number): Look {
  const style = getComputedStyle(element);
  const of = (name: string) => style.getPropertyValue(name).trim() || "#888888";
  const colors = Array.from({ length: COLORS }, (_, at) => of(`--class-${at}`));
  return {
    ink: of("--ink"),
    soft: of("--ink-soft"),
    paper: of("--paper"),
    sunk: of("--paper-sunk"),
    line: of("--line"),
    strong: of("--line-strong"),
    accent: of("--accent"),
    bad: of("--bad"),
    unsure: of("--unsure"),
    colors,
    onColors: colors.map(readable),
    font: style.fontFamily || "sans-serif",
    ratio,
  };
}

/** Black or white, whichever has the higher contrast on `color` (#rrggbb). */
export function readable(color: string): string {
  const part = (from: number) => {
    const value = Number.parseInt(color.slice(from, from + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const luminance = 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
  // WCAG 2: (1.05) / (L + 0.05) against (L + 0.05) / 0.05.
  return (luminance + 0.05) ** 2 > 1.05 * 0.05 ? "#000000" : "#ffffff";
}

/** A letter or digit for each name, all different as long as there are any. */
export function lettersOf(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const own = [...name.toUpperCase()].filter((char) => /[\p{L}\p{N}]/u.test(char));
    const found = [...own, ..."123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"].find((c) => !taken.has(c));
    taken.add(found ?? "");
    return found ?? own[0] ?? "?";
  });
}

export function colorOf(look: Look, key: number): string {
  return look.colors[key % COLORS] ?? look.ink;
}

export function onColorOf(look: Look, key: number): string {
  return look.onColors[key % COLORS] ?? look.paper;
}

/** The eight textures, as strokes in a tile of 8 by 8 pixels: [x, y, x, y] each. */
const TEXTURES: readonly (readonly number[][])[] = [
  [],
  [
    [-2, 2, 2, -2],
    [-2, 10, 10, -2],
    [6, 10, 10, 6],
  ],
  [
    [1, 4, 3, 4],
    [5, 0, 7, 0],
    [5, 8, 7, 8],
  ],
  [
    [2, 0, 2, 8],
    [6, 0, 6, 8],
  ],
  [
    [0, 2, 8, 2],
    [0, 6, 8, 6],
  ],
  [
    [-2, 6, 2, 10],
    [-2, -2, 10, 10],
    [6, -2, 10, 2],
  ],
  [
    [4, 0, 4, 8],
    [0, 4, 8, 4],
  ],
  [
    [0, 4, 4, 0],
    [4, 0, 8, 4],
    [8, 4, 4, 8],
    [4, 8, 0, 4],
  ],
];

/** Which texture a class has: with its color a different pair for the first 64. */
export function textureOf(key: number): number {
  return (key + Math.floor(key / COLORS)) % TEXTURES.length;
}

/** How packets of each class are filled where they are wide enough to show it. */
export class Fills {
  private readonly patterns = new Map<number, CanvasPattern | string>();

  constructor(private readonly look: Look) {}

  of(key: number): CanvasPattern | string {
    let found = this.patterns.get(key);
    if (found === undefined) {
      found = this.pattern(key) ?? colorOf(this.look, key);
      this.patterns.set(key, found);
    }
    return found;
  }

  private pattern(key: number): CanvasPattern | null {
    const strokes = TEXTURES[textureOf(key)] ?? [];
    if (strokes.length === 0 || !globalThis.document) {
      return null;
    }
    const { ratio } = this.look;
    const tile = document.createElement("canvas");
    tile.width = tile.height = Math.round(8 * ratio);
    const context = tile.getContext("2d");
    if (!context) {
      return null;
    }
    const scale = tile.width / 8;
    context.scale(scale, scale);
    paintTexture(context, this.look, key);
    const pattern = context.createPattern(tile, "repeat");
    pattern?.setTransform(new DOMMatrix([1 / scale, 0, 0, 1 / scale, 0, 0]));
    return pattern;
  }
}

/** Fills a tile of 8 by 8 pixels as packets of a class are filled. */
function paintTexture(context: CanvasRenderingContext2D, look: Look, key: number): void {
  context.fillStyle = colorOf(look, key);
  context.fillRect(0, 0, 8, 8);
  context.strokeStyle = onColorOf(look, key);
  context.globalAlpha = 0.35;
  context.lineWidth = 1.25;
  context.beginPath();
  for (const [fromX = 0, fromY = 0, toX = 0, toY = 0] of TEXTURES[textureOf(key)] ?? []) {
    context.moveTo(fromX, fromY);
    context.lineTo(toX, toY);
  }
  context.stroke();
}
