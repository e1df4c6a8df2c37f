// @vitest-environment happy-dom
import { beforeEach, describe, expect, test } from "vitest";
import { outcome } from "../../../tests/fake/engine";
import type { Curve, Project } from "../../engine/api";
import { en } from "../../texts/en";
import { chartOfPlace, chartsOfVariant, metricsOf, partsOf, placesOf, runsOf } from "./curves";
import { resultsJson, seriesCsv, summaryCsv } from "./download";
import { aside, keep, opened, recalled, setAside, withFiles, withoutFile, withText } from "./draft";
import { examples } from "./examples";
import { aboutTime, excess, shorter, shorterOptions } from "./shorter";

test("runs are of each variant where there are several", () => {
  expect(en.scenario.valid(1, 2, 2, 1)).toBe("2 classes, 2 flows, 1 run.");
  expect(en.scenario.valid(2, 1, 2, 10)).toBe("2 variants, 1 class, 2 flows, 10 runs each.");
});

describe("drafts", () => {
  beforeEach(() => localStorage.clear());
  const project: Project = {
    path: "scenario.yaml",
    files: { "scenario.yaml": "name: </script> é", "x.pcap": Uint8Array.of(0, 255) },
  };

  test("are kept, files of bytes too", () => {
    expect(recalled()).toBe(null);
    expect(keep({ project, options: { runs: 3 } })).toBe(true);
    expect(recalled()).toEqual({ project, options: { runs: 3 } });
  });

  test("that are broken are as none, and long ones are not kept", () => {
    localStorage.setItem("spillgate.scenario", "{");
    expect(recalled()).toBe(null);
    const long = withText(project, "scenario.yaml", "x".repeat(3_000_000));
    expect(keep({ project: long, options: {} })).toBe(false);
  });

  test("are set aside where something else takes their place, but no examples", () => {
    const next = { project: examples.tcp, options: {} };
    setAside({ project: examples.first, options: {} }, next);
    setAside(next, next);
    setAside(null, next);
    expect(aside()).toBe(null);
    setAside({ project, options: { seed: 7 } }, next);
    expect(aside()).toEqual({ project, options: { seed: 7 } });
  });

  test("files are texts where they can be, and come and go", async () => {
    const files = [new File(["hostname r1"], "r.cfg"), new File([Uint8Array.of(0xff, 0)], "b.bin")];
    const more = await withFiles(project, files);
    expect(more.files["r.cfg"]).toBe("hostname r1");
    expect(more.files["b.bin"]).toEqual(Uint8Array.of(0xff, 0));
    expect(Object.keys(withoutFile(more, "b.bin").files)).not.toContain("b.bin");
    expect(opened({ "a.cfg": "", "b.yml": "" })?.path).toBe("b.yml");
    expect(opened({ "a.cfg": "" })).toBe(null);
  });

  test("examples have the files that they name", () => {
    for (const { path, files } of Object.values(examples)) {
      const text = files[path] as string;
      for (const [, file] of text.matchAll(/\b(?:ios|file): ([\w.-]+)/g)) {
        expect(Object.keys(files)).toContain(file);
      }
    }
  });
});

describe("runs that are too long", () => {
  const measurement = { warmup: 5, duration: 60, interval: 1 };
  const estimate = (seconds: number, memoryBytes = 1e7) => ({ seconds, memoryBytes });

  test("are those of more than 20 s or 1 GB", () => {
    expect(excess(estimate(20))).toBe(null);
    expect(excess(estimate(21))).toBe("time");
    expect(excess(estimate(1, 2e9))).toBe("memory");
  });

  test("have fewer runs first, then a shorter measured period", () => {
    expect(shorter(estimate(24), { runs: 10, measurement })).toEqual({ runs: 5, duration: 60 });
    expect(shorter(estimate(240), { runs: 10, measurement })).toEqual({ runs: 2, duration: 10 });
    expect(shorter(estimate(1e5), { runs: 1, measurement })).toEqual({ runs: 1, duration: 1 });
  });

  test("take about what is aimed at, whatever the scenario", () => {
    for (let k = 1; k < 200; k++) {
      const runs = 1 + (k % 13);
      const m = { warmup: k % 7, duration: 10 + k, interval: 1 };
      const seconds = 20 + k * 3;
      const s = shorter(estimate(seconds), { runs, measurement: m });
      const took = (seconds * s.runs * (m.warmup + s.duration)) / (runs * (m.warmup + m.duration));
      expect(s.runs <= runs && s.duration <= m.duration).toBe(true);
      expect(took <= 18 || s.duration === 1, JSON.stringify({ k, s, took })).toBe(true);
    }
  });

  test("keep the other options", () => {
    const options = { set: ["a=1", "measurement.duration=60 s"], seed: 7 };
    expect(shorterOptions(options, { runs: 2, duration: 10 })).toEqual({
      seed: 7,
      runs: 2,
      set: ["a=1", "measurement.duration=10 s"],
    });
  });

  test("times in words", () => {
    expect([0.2, 3.2, 47.3, 600, 6000].map(aboutTime)).toEqual([
      "1 s",
      "4 s",
      "48 s",
      "10 min",
      "1.7 h",
    ]);
  });
});

describe("charts over time", () => {
  const { series } = outcome();

  test("places have a group and a name", () => {
    expect(["up/voice", "class voice", "a/b/c", "x"].map(partsOf)).toEqual([
      { group: "up", name: "voice" },
      { group: "class", name: "voice" },
      { group: "a/b", name: "c" },
      { group: "", name: "x" },
    ]);
  });

  test("one a link of a variant, with the colors of classes", () => {
    expect(metricsOf(series)).toContain("backlog_packets");
    const charts = chartsOfVariant(series, "backlog_packets", "llq", 0, ["voice", "data"]);
    expect(charts.map((c) => [c.title, c.unit, ...c.lines.map((l) => l.name)])).toEqual([
      ["uplink", "packets", "voice", "class-default"],
    ]);
    expect(charts[0]?.lines.map((l) => l.paint?.index)).toEqual([0, 2]);
  });

  test("one place in all variants, in their order", () => {
    expect(placesOf(series, "throughput")).toEqual(["class voice", "class data"]);
    expect(runsOf(series)).toEqual([0]);
    const chart = chartOfPlace(series, "throughput", "class data", 0, ["fifo", "llq"]);
    expect(chart.lines.map((l) => l.name)).toEqual(["fifo", "llq"]);
  });

  test("many curves are split over charts", () => {
    const many = Array.from({ length: 30 }, (_, i): Curve => {
      const [one] = series as [Curve];
      return { ...one, metric: "m", variant: "v", place: `l/q${i}` };
    });
    const sizes = chartsOfVariant(many, "m", "v", 0, []).map((c) => c.lines.length);
    expect(sizes).toEqual([12, 12, 6]);
  });
});

describe("files of results", () => {
  test("CSV has a row a value, and quotes what must be quoted", () => {
    const o = outcome();
    const [row] = o.summary;
    if (!row) throw new Error("no rows");
    const csv = summaryCsv([{ ...row, name: 'a,"b"', mean: null }]).split("\r\n");
    expect(csv[0]).toBe("variant,scope,name,metric,unit,mean,low,high,n,bound");
    expect(csv[1]).toContain(',"a,""b""",');
    expect(csv[1]).toContain(`,${row.unit},,${row.low},`);
    const series = seriesCsv(o.series).trimEnd().split("\r\n");
    expect(series).toHaveLength(1 + o.series.reduce((n, c) => n + c.values.length, 0));
  });

  test("JSON can be read again", () => {
    const back = JSON.parse(resultsJson(outcome()));
    expect(back.verdicts).toEqual(outcome().verdicts);
    expect(back.series[0].values).toHaveLength(outcome().series[0]?.values.length ?? 0);
  });
});
