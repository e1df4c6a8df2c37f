import { describe, expect, test } from "vitest";
import { onKey } from "./charts";

describe("charts by keyboard", () => {
  const all: [number, number] = [0, 100];
  const whole = { zoom: null, at: 50 };

  test("arrows point, with Shift farther, never out of the chart", () => {
    expect(onKey("ArrowRight", whole, all, false)).toEqual({ zoom: null, at: 51 });
    expect(onKey("ArrowLeft", whole, all, true)).toEqual({ zoom: null, at: 40 });
    expect(onKey("ArrowLeft", { zoom: null, at: 0.5 }, all, true)?.at).toBe(0);
    expect(onKey("End", whole, all, false)?.at).toBe(100);
  });

  test("what is pointed at comes into view", () => {
    const zoomed = { zoom: [10, 20] as [number, number], at: 20 };
    expect(onKey("ArrowRight", zoomed, all, true)).toEqual({ zoom: [11, 21], at: 21 });
    expect(onKey("Home", zoomed, all, true)).toEqual({ zoom: [0, 10], at: 0 });
  });

  test("plus and minus zoom about what is pointed at", () => {
    const nearer = onKey("+", { zoom: null, at: 20 }, all, false);
    expect(nearer).toEqual({ zoom: [10, 60], at: 20 });
    expect(onKey("-", nearer ?? whole, all, false)?.zoom).toBe(null);
    expect(onKey("0", nearer ?? whole, all, false)?.zoom).toBe(null);
    expect(onKey("PageDown", nearer ?? whole, all, false)?.zoom).toEqual([35, 85]);
  });

  test("other keys do nothing", () => expect(onKey("x", whole, all, false)).toBe(undefined));
});
