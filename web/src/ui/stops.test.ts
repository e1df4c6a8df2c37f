import { describe, expect, test } from "vitest";
import { nearest, stops } from "./stops";

describe("stops of sliders", () => {
  test("are ascending from end to end, whatever the range", () => {
    let seed = 7;
    const random = () => {
      seed = (seed * 48271) % 2147483647;
      return seed / 2147483647;
    };
    for (let i = 0; i < 500; i++) {
      const min = i % 5 === 0 ? 0 : 10 ** (12 * random() - 6);
      const max = min + 10 ** (12 * random() - 6);
      const along = i % 2 ? "log" : "linear";
      const list = stops({ min, max, along });
      expect(list[0]).toBe(min);
      expect(list.at(-1)).toBe(max);
      expect(list.every((x, k) => k === 0 || x > (list[k - 1] ?? 0))).toBe(true);
      expect(list.length).toBeLessThan(2000);
    }
  });

  test("are whole where only whole numbers count", () => {
    for (const along of ["log", "linear"] as const) {
      const list = stops({ min: 1, max: 1000, along, whole: true });
      expect(list.every(Number.isInteger)).toBe(true);
      expect(list.slice(0, 3)).toEqual(along === "log" ? [1, 2, 3] : [1, 5, 10]);
    }
  });

  test("are numbers that people would write", () => {
    const list = stops({ min: 1e6, max: 1e8, along: "log" });
    expect(list).toContain(2e6);
    expect(list).toContain(1.5e7);
    expect(stops({ min: 0, max: 1, along: "linear" })).toContain(0.35);
    expect(stops({ min: 3, max: 3, along: "log" })).toEqual([3]);
  });

  test("the nearest is found by difference or by ratio", () => {
    expect(nearest([1, 10, 100], 40, "linear")).toBe(1);
    expect(nearest([1, 10, 100], 40, "log")).toBe(2);
    expect(nearest([0, 1], 0, "log")).toBe(0);
  });
});
