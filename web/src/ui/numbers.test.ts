import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse as yaml } from "yaml";
import { schema } from "../../tests/fake/engine";
import { assignment, type Knob, numbersOf, parse, quoted, text, write } from "./numbers";
import { readQuantity, writeQuantity } from "./quantities";
import { stops } from "./stops";

function example(name: string): unknown {
  const file = new URL(`../../../examples/${name}/scenario.yaml`, import.meta.url);
  return yaml(readFileSync(file, "utf8"));
}

function knob(knobs: readonly Knob[], path: string): Knob {
  const found = knobs.find((k) => k.path === path);
  if (!found) throw new Error(`no ${path} among ${knobs.map((k) => k.path).join(", ")}`);
  return found;
}

/** The value at some steps of a document. */
function at(document: unknown, steps: readonly (string | number)[]): unknown {
  return steps.reduce<unknown>((d, s) => (d as Record<string | number, unknown>)[s], document);
}

describe("numbers of a scenario", () => {
  const first = numbersOf(example("first"), schema);
  const given = first.filter((k) => k.given);

  test("are all that are written, the sizes of buffers first, then rates", () => {
    expect(given.map((k) => k.path)).toEqual([
      "policies.fifo.fifo.limit",
      "policies.llq.class-based.classes.class-default.queue_limit",
      "topology.links.uplink.rate",
      "policies.llq.class-based.classes.voice.priority.rate",
      "topology.links.uplink.delay",
      "traffic.voice.source.cbr.rate",
      "traffic.voice.source.cbr.packet",
      "traffic.data.count",
      "traffic.data.source.poisson.rate",
      "traffic.data.source.poisson.packet",
      "measurement.warmup",
      "measurement.duration",
      "runs.count",
    ]);
  });

  test("say whose they are, in base units, and what they mean", () => {
    const rate = knob(first, "traffic.data.source.poisson.rate");
    expect(rate).toMatchObject({
      label: "data: source rate",
      value: 3e6,
      base: "b/s",
      unit: "Mb/s",
      hint: "Mean rate.",
    });
    expect(rate.steps).toEqual(["traffic", 1, "flow", "source", "poisson", "rate"]);
    expect(knob(first, "policies.llq.class-based.classes.voice.priority.rate").label).toBe(
      "llq / voice: priority rate",
    );
  });

  test("that are not written have the format's defaults", () => {
    const level = knob(first, "policies.llq.class-based.classes.voice.priority.level");
    expect(level).toMatchObject({ given: false, value: 1 });
    expect(knob(first, "measurement.interval")).toMatchObject({ given: false, value: 1 });
  });

  test("of an empty scenario, or of none, are only defaults", () => {
    for (const empty of [{}, null, [], "text", 3]) {
      expect(numbersOf(empty, schema).every((k) => !k.given)).toBe(true);
    }
  });

  test("stand where their steps say, in every example", () => {
    for (const name of ["first", "home-line", "tcp", "dsl", "voice-edge"]) {
      const scenario = example(name);
      for (const k of numbersOf(scenario, schema).filter((n) => n.given)) {
        const written = at(scenario, k.steps);
        const value = typeof written === "number" ? written : readQuantity(String(written))?.value;
        expect(value, `${name} ${k.path}`).toBe(k.value);
      }
    }
  });

  test("lie in their ranges, and stops can be written and read", () => {
    for (const k of first) {
      const list = stops(k.range);
      expect(list.length, k.path).toBeGreaterThan(1);
      expect(k.range.min <= k.value && k.value <= k.range.max, k.path).toBe(true);
      for (const x of list) {
        expect(parse(k, write(k, x)), `${k.path} ${x}`).toBe(x);
        expect(parse(k, text(k, k.value)), k.path).toBe(k.value);
      }
    }
  });

  test("are addressed by number where names are missing or the same, else by name", () => {
    const flow = (name: string) => ({ flow: { name, count: 2 } });
    const paths = (...names: string[]) =>
      numbersOf({ traffic: names.map(flow) }, schema)
        .filter((k) => k.given)
        .map((k) => k.path);
    expect(paths("a", "b")).toEqual(["traffic.a.count", "traffic.b.count"]);
    expect(paths("a", "a")).toEqual(["traffic.0.flow.count", "traffic.1.flow.count"]);
    expect(paths("a.b", "1")).toEqual(['traffic."a.b".count', 'traffic."1".count']);
  });

  test("are written with the unit of before", () => {
    const limit = knob(first, "policies.fifo.fifo.limit");
    expect(assignment(limit, 12.4)).toBe("policies.fifo.fifo.limit=12 packets");
    const rate = knob(first, "topology.links.uplink.rate");
    expect(write(rate, 123_456)).toBe("0.123456 Mb/s");
    expect(write(knob(first, "traffic.data.count"), 3.7)).toBe("4");
  });

  test("are read with any unit that fits", () => {
    const rate = knob(first, "topology.links.uplink.rate");
    expect(["8", "800 kb/s", "8 ms", "x", "", "1,5"].map((t) => parse(rate, t))).toEqual([
      8e6,
      800e3,
      undefined,
      undefined,
      undefined,
      1.5e6,
    ]);
    const count = knob(first, "traffic.data.count");
    expect(["3", "3.5", "", "3 kb/s"].map((t) => parse(count, t))).toEqual([
      3,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("hostile names make paths that are one segment, whatever they are", () => {
    expect(["up", "wan.1", "a[0]", "7", 'q"', "a=b", " x", "", "é ü"].map(quoted)).toEqual([
      "up",
      '"wan.1"',
      '"a[0]"',
      '"7"',
      '"q\\""',
      '"a=b"',
      '" x"',
      '""',
      "é ü",
    ]);
    const scenario = { policies: { __proto__x: 1, constructor: { fifo: { limit: "5 packets" } } } };
    expect(numbersOf(scenario, schema)[0]?.path).toBe("policies.constructor.fifo.limit");
  });
});

describe("quantities", () => {
  test("are read in base units", () => {
    const read = (t: string) => readQuantity(t)?.value;
    expect(["1.5 Mb/s", "10us", "64 kB", "2 KiB", "35 %", "1_000 packets"].map(read)).toEqual([
      1.5e6, 1e-5, 64e3, 2048, 0.35, 1000,
    ]);
    expect(["", "5", "5 parsecs", "-1 s", "1.2.3 s", "s"].map(read)).toEqual(
      new Array(6).fill(undefined),
    );
  });

  test("come back as they were, whatever the unit", () => {
    let seed = 11;
    const random = () => {
      seed = (seed * 48271) % 2147483647;
      return seed / 2147483647;
    };
    const units = [
      "b/s",
      "kb/s",
      "Mbit/s",
      "GB/s",
      "s",
      "ms",
      "µs",
      "ns",
      "min",
      "B",
      "KiB",
      "kb",
      "%",
    ];
    for (let i = 0; i < 2000; i++) {
      const unit = units[i % units.length] ?? "s";
      const digits = Number((random() * 10 ** Math.floor(random() * 7 - 2)).toPrecision(6));
      const written = `${digits} ${unit}`;
      const quantity = readQuantity(written);
      if (digits < 1e-6) continue;
      expect(quantity && writeQuantity(quantity.value, unit), written).toBe(written);
    }
  });
});
