import { describe, expect, test } from "vitest";
import { contextAt } from "./context";

/** What is meant where `|` stands. */
function meant(text: string): string {
  const { steps, want, typed } = contextAt(text, text.indexOf("▮"));
  return `${steps.join(".")} ${want} ${typed}`.trim();
}

describe("where a position of a text is", () => {
  test("in blocks", () => {
    expect(meant("▮")).toBe("key");
    expect(meant("topo▮")).toBe("key topo");
    expect(meant("topology:\n  ▮")).toBe("topology key");
    expect(meant("topology:\n  links:\n    up:\n      ra▮")).toBe("topology.links.up key ra");
    expect(meant("topology:\n  links:\n    up:\n      rate: 10▮")).toBe(
      "topology.links.up.rate value 10",
    );
    expect(meant("topology:\n  nodes: [a]\nrun▮")).toBe("key run");
    expect(meant("a:\n  b: 1\n  ▮")).toBe("a key");
    expect(meant("a:\n  b:\n    c: 1\n  ▮")).toBe("a key");
  });

  test("in lists", () => {
    expect(meant("traffic:\n  - flow:\n      ▮")).toBe("traffic.0.flow key");
    expect(meant("traffic:\n  - flow: {}\n  - ▮")).toBe("traffic.1 key");
    expect(meant("traffic:\n- flow:\n    name: a\n- fl▮")).toBe("traffic.1 key fl");
    expect(meant("sla:\n  - class: a\n    metric: ▮")).toBe("sla.0.metric value");
    expect(meant("sla:\n- class: a\nruns:\n  ▮")).toBe("runs key");
  });

  test("in braces and brackets", () => {
    expect(meant("sla:\n  - {class: voice, me▮")).toBe("sla.0 key me");
    expect(meant("sla:\n  - {class: voice, metric: owd▮}")).toBe("sla.0.metric value owd");
    expect(meant("p: {fifo: {limit: 5 packets, aqm: {▮}}}")).toBe("p.fifo.aqm key");
    expect(meant("p: {fifo: {limit: 5 packets}, ▮")).toBe("p key");
    expect(meant("nodes: [a, b▮]")).toBe("nodes.1 value b");
    expect(meant('x: {"a, b": 1, c: {d: "}, {" ,\n  e▮')).toBe("x.c key e");
    expect(meant("x: {a: 1}\n▮")).toBe("key");
    expect(meant("x: {a: 1} # {\ny▮")).toBe("key y");
  });

  test("in literal texts and comments nothing is meant", () => {
    expect(meant("description: >\n  one: two\n  thr▮")).toBe("nothing");
    expect(meant("description: |\n  one: two\nru▮")).toBe("key ru");
    expect(meant("# to▮")).toBe("nothing");
  });

  test("times, addresses and quotes are no keys", () => {
    expect(meant("a: 10:20▮")).toBe("a value 10:20");
    expect(meant('"wan.1":\n  ra▮')).toBe("wan.1 key ra");
    expect(meant("'it''s': ▮")).toBe("it''s value");
  });

  test("whatever is typed, nothing fails", () => {
    const alphabet = [..."{}[]:,-#|>'\"\n \t  a1\\"];
    let seed = 5;
    for (let i = 0; i < 3000; i++) {
      let text = "";
      for (let k = 0; k < 30; k++) {
        seed = (seed * 48271) % 2147483647;
        text += alphabet[seed % alphabet.length];
      }
      const { want } = contextAt(text, text.length);
      expect(["key", "value", "nothing"]).toContain(want);
    }
  });
});
