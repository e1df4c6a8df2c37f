import { describe, expect, test } from "vitest";
import { gist, outline, type Samples, span, valueAt } from "./outline";

const curve = (values: number[], start = 0, step = 1): Samples => ({
  start,
  step,
  values: Float64Array.from(values),
});

describe("outlines of curves", () => {
  test("few samples stay as they are", () => {
    const table = outline([curve([1, Number.NaN, 3])], 0, 2, 100);
    expect(table).toEqual({ times: [0, 1, 2], columns: [[1, null, 3]] });
  });

  test("no peak of many is lost, and their order stays", () => {
    const values = new Array(100_000).fill(0);
    values[54_321] = 7;
    values[54_322] = -7;
    const { times, columns } = outline([curve(values, 0, 0.001)], 0, 100, 500);
    expect(times.length).toBe(1000);
    expect(times.every((t, i) => i === 0 || t > (times[i - 1] ?? 0))).toBe(true);
    const [column = []] = columns;
    expect(column.indexOf(-7)).toBe(column.indexOf(7) + 1);
    // A bucket is 0.2 s long.
    expect(Math.abs((times[column.indexOf(7)] ?? 0) - 54.321)).toBeLessThan(0.2);
  });

  test("a part is drawn with its neighbors, so that lines reach the edge", () => {
    expect(outline([curve([0, 1, 2, 3, 4])], 1.5, 2.5, 100).times).toEqual([1, 2, 3]);
  });

  test("curves of different steps share the times of both", () => {
    const { times, columns } = outline([curve([1, 2, 3]), curve([5, 6], 0.5, 1)], 0, 2, 100);
    expect(times).toEqual([0, 0.5, 1, 1.5, 2]);
    expect(columns).toEqual([
      [1, undefined, 2, undefined, 3],
      [undefined, 5, undefined, 6, undefined],
    ]);
  });

  test("nothing gives nothing", () => {
    expect(outline([], 0, 1, 10)).toEqual({ times: [], columns: [] });
    expect(outline([curve([])], 0, 1, 10)).toEqual({ times: [], columns: [[]] });
    expect(span([curve([])])).toBe(null);
    expect(gist(curve([Number.NaN]))).toBe(null);
  });

  test("a curve in a few numbers", () => {
    expect(gist(curve([1, 5, Number.NaN, 0], 10, 0.1))).toEqual({
      least: 0,
      mean: 2,
      most: 5,
      when: 10.1,
      last: 0,
    });
    expect(span([curve([1, 2]), curve([1], 7)])).toEqual([0, 7]);
    expect([-1, 0, 0.9, 1, 9].map((t) => valueAt(curve([4, 5]), t))).toEqual([
      Number.NaN,
      4,
      4,
      5,
      5,
    ]);
  });
});
