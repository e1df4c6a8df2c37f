import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  ceiling,
  cell,
  column,
  count,
  fitting,
  general,
  number,
  ofDifference,
  rough,
  roundedUp,
  value,
  whole,
  withInterval,
} from "./format";

// The core's own vectors: `base mean half factor decimals => value | number | cell | %.3g | %.6g`.
const vectors = readFileSync(
  new URL("../../../crates/core/src/show/vectors.txt", import.meta.url),
  "utf8",
)
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"));

const read = (text = "") =>
  text === "nan" ? Number.NaN : text === "inf" ? Infinity : Number(text);

describe("numbers as the command line writes them", () => {
  test("there are many vectors", () => expect(vectors.length).toBeGreaterThan(250));

  test.each(vectors)("%s", (line) => {
    const [given = "", want] = line.split(" => ");
    const [base = "", mean, half, factor, places] = given.split(" ");
    const [m, h, f, d] = [read(mean), read(half), read(factor), read(places)];
    const said = [
      value(m, base),
      number(m, h, f, true),
      cell(m, h, f, d, true),
      general(m, 3),
      general(m, 6),
    ];
    expect(said.join(" | ")).toBe(want);
  });

  test("ceilings are rounded up and no further", () => {
    const said = (x: number) => ceiling(x, "s");
    expect([0.06697979798, 0.066970001, 0.0662, 9.9995001].map(said)).toEqual([
      "66.98 ms",
      "66.98 ms",
      "66.2 ms",
      "10 s",
    ]);
    expect(ceiling(75_000, "B")).toBe("75 kB");
  });

  test("counts, rough values and times", () => {
    expect([0, 0.5, 12, 999.25, 1234.5, 12345.678, 1234567].map(count)).toEqual([
      "0",
      "0.5",
      "12",
      "999.25",
      "1,234.5",
      "12,345.7",
      "1,234,567",
    ]);
    expect([0, 1e-8, 0.12345, 1].map((x) => rough(x, "1"))).toEqual([
      "0 %",
      "<0.0001 %",
      "12.3 %",
      "100 %",
    ]);
    expect([12.31, 0.2, 0].map(roundedUp)).toEqual([13, 0.2, 0]);
    expect([0, 999, 1000, 1234567].map(whole)).toEqual(["0", "999", "1,000", "1,234,567"]);
  });

  test("what is undefined is a dash, what is without end a sign", () => {
    expect([null, undefined, Number.NaN].map((x) => value(x, "s"))).toEqual(["–", "–", "–"]);
    expect([Infinity, -Infinity].map((x) => value(x, "s"))).toEqual(["∞", "−∞"]);
    expect(withInterval(0.02, null, "s")).toBe("20 ms");
  });

  test("units of a column and of differences", () => {
    expect(fitting("s", [0.002, null, Infinity])).toEqual({ factor: 1e3, unit: "ms" });
    expect(fitting("packets", [3])).toEqual({ factor: 1, unit: "packets" });
    expect(fitting("constructor", [3])).toEqual({ factor: 1, unit: "constructor" });
    expect(ofDifference(fitting("1", [0.2])).unit).toBe("% points");
    expect(column(1e3, [0.0123, null])).toBe(2);
  });
});
