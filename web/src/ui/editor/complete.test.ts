import { describe, expect, test } from "vitest";
import { schema } from "../../../tests/fake/engine";
import { noteAt, offers } from "./complete";

const words = { required: "required", oneOf: "one of" };

function offered(text: string): string[] {
  const at = text.indexOf("▮");
  return offers(schema, text.replace("▮", ""), at, words).offers.map((o) => o.label);
}

function noted(text: string) {
  const at = text.indexOf("▮");
  return noteAt(schema, text.replace("▮", ""), at, words);
}

describe("what may be written", () => {
  test("keys of the format where they may stand", () => {
    expect(offered("▮")).toContain("topology");
    expect(offered("topology:\n  links:\n    up: {from: a, ▮")).toEqual(
      expect.arrayContaining(["rate", "delay", "policy"]),
    );
    expect(offered("policies:\n  p:\n    ▮")).toEqual(["fifo", "class-based", "fq-codel"]);
    expect(offered("name: x\nnothing:\n  ▮")).toEqual([]);
  });

  test("words and examples as values", () => {
    expect(offered("traffic:\n  - flow: {ecn: ▮")).toContain("not-ect");
    expect(offered("topology:\n  links:\n    up:\n      rate: ▮")).toContain("100 Mb/s");
    expect(offered("policies: {p: {fifo: {aqm: ▮")).toEqual(
      expect.arrayContaining(["red", "codel"]),
    );
  });

  test("an offer replaces what is typed of it, and goes on to the value", () => {
    const text = "measurement:\n  dur";
    const found = offers(schema, text, text.length, words);
    expect(text.slice(found.from)).toBe("dur");
    const duration = found.offers.find((o) => o.label === "duration");
    expect(duration).toMatchObject({ apply: "duration: ", detail: "20 ms", required: false });
    const top = offers(schema, "", 0, words).offers.find((o) => o.label === "topology");
    expect(top).toMatchObject({ apply: "topology:", required: true });
  });
});

describe("what is said of a word", () => {
  test("of a key and of its value, with limits", () => {
    const key = noted("runs: {co▮unt: 10}");
    expect(key).toMatchObject({ title: "count", from: 7, to: 12 });
    expect(key?.text).toContain("Independent runs");
    expect(key?.facts).toEqual(["1 … 100000"]);
    expect(noted("measurement:\n  warmup: 5▮ s")?.title).toBe("warmup");
  });

  test("nothing where the format says nothing", () => {
    expect(noted("# run▮s")).toBe(undefined);
    expect(noted("unheard: ▮x")).toBe(undefined);
    expect(noted("runs: ▮   ")).toBe(undefined);
  });
});
