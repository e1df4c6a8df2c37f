import { describe, expect, it } from "vitest";
import { judgeNumber, readAnswer, tolerance } from "./judge";

const of = { expected: 2.5, unit: "ms", digits: 2, slips: { twice: 5 } };
const said = (text: string) => judgeNumber(text, of);

describe("an answer that is a number", () => {
  it("may have a point or a comma, a sign, an exponent and its unit", () => {
    expect(readAnswer("2.5", "ms")).toBe(2.5);
    expect(readAnswer(" 2,5 ms ", "ms")).toBe(2.5);
    expect(readAnswer("-.5e1", "")).toBe(-5);
    expect(readAnswer("12 Pakete", "packets")).toBe(12);
    expect(readAnswer("3 Mb/s", "Mb/s")).toBe(3);
  });

  it("is refused if it may mean two things, or nothing", () => {
    for (const text of [
      "",
      "abc",
      "1.250,5",
      "1 250",
      "1'250",
      "--1",
      "1e9999",
      "NaN",
      "Infinity",
    ]) {
      expect(readAnswer(text, "ms")).toBe("unreadable");
    }
    expect(readAnswer("2.5 s", "ms")).toBe("unit");
    expect(readAnswer("½", "ms")).toBe("unreadable");
    expect(readAnswer("25 x", "")).toBe("bare");
  });

  it("may have its unit in another spelling, but not bytes for bits", () => {
    for (const unit of ["Mb/s", "mb/s", "Mbit/s", "MBit/s", "Mbps", "M b/s"]) {
      expect(readAnswer(`3 ${unit}`, "Mb/s"), unit).toBe(3);
    }
    for (const unit of ["MB/s", "MBps", "kb/s"]) {
      expect(readAnswer(`3 ${unit}`, "Mb/s"), unit).toBe("unit");
    }
    expect(readAnswer("30 KB", "kB")).toBe(30);
    expect(readAnswer("30 kb", "kB")).toBe("unit");
    expect(readAnswer("12 PAKETE", "packets")).toBe(12);
    expect(readAnswer("\u22122,5 MS", "ms")).toBe(-2.5);
  });

  it("may be off by half a unit of the last digit that is asked for", () => {
    expect(tolerance(2.5, 2)).toBeCloseTo(0.05);
    expect(tolerance(1000, 3)).toBeCloseTo(5);
    expect(tolerance(0.02, 2)).toBeCloseTo(0.0005);
    expect(said("2.5").kind).toBe("right");
    expect(said("2.549").kind).toBe("right");
    expect(said("2.56").kind).toBe("near");
    expect(said("2.44").kind).toBe("near");
  });

  it("of whole numbers has to be exact", () => {
    const whole = { expected: 5, unit: "", digits: 0, slips: { fewer: 4 } };
    expect(judgeNumber("5", whole).kind).toBe("right");
    expect(judgeNumber("4", whole)).toEqual({ kind: "slip", slip: "fewer" });
    expect(judgeNumber("5.5", whole).kind).toBe("high");
    // The quotient that was not rounded up.
    expect(judgeNumber("4.7", whole).kind).toBe("low");
  });

  it("gets the hint of its mistake", () => {
    expect(said("5")).toEqual({ kind: "slip", slip: "twice" });
    expect(said("0.3125")).toEqual({ kind: "factor", factor: "bits" });
    expect(said("20")).toEqual({ kind: "factor", factor: "bits" });
    expect(said("0.0025")).toEqual({ kind: "factor", factor: "prefix" });
    expect(said("0.0003125")).toEqual({ kind: "factor", factor: "bitsAndPrefix" });
    expect(said("-2.5")).toEqual({ kind: "factor", factor: "sign" });
    expect(said("1").kind).toBe("low");
    expect(said("9").kind).toBe("high");
    expect(said("2.5 kb").kind).toBe("unit");
    const percent = { expected: 7.5, unit: "%", digits: 2, slips: {} };
    expect(judgeNumber("0.075", percent)).toEqual({ kind: "factor", factor: "percent" });
  });
});
