import { describe, expect, test } from "vitest";
import { floorOf, longer, reach, tail, ticks } from "./cdf";

const curve = { q: [0, 0.5, 0.99, 0.999, 1], owd: [0.01, 0.02, 0.03, 0.04, 0.04] };

describe("distributions of delays", () => {
  test("points fall from 1 to 0; undefined ones are left out", () => {
    expect(tail({ q: [0, 0.5, 1], owd: [0.1, null, 0.3] })).toEqual([
      { delay: 0.1, share: 1 },
      { delay: 0.3, share: 0 },
    ]);
  });

  test("the share that takes longer lies between quantiles", () => {
    expect(longer(curve, 0)).toBe(1);
    expect(longer(curve, 0.02)).toBeCloseTo(0.5);
    expect(longer(curve, 0.025)).toBeCloseTo(0.255);
    expect(longer(curve, 0.05)).toBe(0);
    expect(longer({ q: [], owd: [] }, 1)).toBe(Number.NaN);
    for (let d = 0; d < 0.05; d += 0.0007) {
      expect(longer(curve, d)).toBeGreaterThanOrEqual(longer(curve, d + 0.0007));
    }
  });

  test("the axis ends where quantiles are the largest delay itself", () => {
    expect(floorOf([curve])).toBe(0.01);
    expect(floorOf([{ q: [0, 0.9995, 1], owd: [1, 2, 3] }])).toBe(1e-4);
    expect(floorOf([])).toBe(0.01);
  });

  test("the reach covers curves and marks", () => {
    expect(reach([curve], [0.1])).toEqual([0.01, 0.1]);
    expect(reach([], [])).toBe(null);
    expect(reach([{ q: [0, 1], owd: [0.02, 0.02] }], [])).toEqual([0.01, 0.04]);
  });

  test("ticks are round, within, and few", () => {
    expect(ticks(0, 0.052, 6, false)).toEqual([0, 0.01, 0.02, 0.03, 0.04, 0.05]);
    expect(ticks(0.004, 0.3, 6, true)).toEqual([0.005, 0.01, 0.02, 0.05, 0.1, 0.2]);
    expect(ticks(1e-6, 1, 3, true)).toEqual([1e-6, 1e-4, 0.01, 1]);
  });
});
