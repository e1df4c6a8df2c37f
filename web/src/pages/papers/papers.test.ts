import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { found as inDocs } from "../../../build/papers.mjs";
import type { Outcome, SampleRow } from "../../engine/api";
import { de } from "../../texts/de";
import { en } from "../../texts/en";
import { axisOf, type Drawn, extent } from "./draw";
import {
  type Figure,
  keyOf,
  type Measured,
  type Point,
  projectOf,
  readSettings,
  type Settings,
  startOf,
  writeSettings,
} from "./figure";
import { figures } from "./figures";
import { chien } from "./figures/chien";
import { domzal } from "./figures/domzal";
import { inOrder, mitroi, OFFERED } from "./figures/mitroi";
import { shrivastav } from "./figures/shrivastav";
import { zheng } from "./figures/zheng";
import { papers, stated } from "./found";
import found from "./found.json";
import { linesOf } from "./lines";
import { estimate, paired, slope } from "./statistics";
import { lookup } from "./useRuns";

const each = figures.map((f) => [f.name, f] as const);
const at = (f: Figure, query: string) => readSettings(f, new URLSearchParams(query));

/** Other settings of each figure, all of them changed. */
const OTHERS: Record<string, string> = {
  chien: "fixed=70&highest=100&flows=6",
  domzal: "mechanism=RAEF&trigger=admitted&flows=100",
  mitroi: "start=order&load=98&limit=300",
  shrivastav: "nu=0.125&sessions=400&fabric=crossbar",
  zheng: "weight=0.002&max_p=0.02&contract=UBR",
};

describe("statistics", () => {
  it("give the interval of Student's t", () => {
    // 1, 2, 3: s = 1, t(2) = 4.303, half = 4.303 / sqrt(3)
    const e = estimate([1, 2, 3]);
    expect(e?.mean).toBe(2);
    expect(e?.half).toBeCloseTo(4.30265 / Math.sqrt(3), 4);
    expect(estimate([5])).toEqual({ mean: 5, half: null, runs: 1 });
    expect(estimate([])).toBeUndefined();
    expect(estimate([1, Number.NaN])).toBeUndefined();
  });

  it("pair runs of one number", () => {
    expect(paired([3, 5], [1, 4], (a, b) => a - b)).toEqual([2, 1]);
    expect(paired([3, 5], [1], (a, b) => a - b)).toBeUndefined();
    expect(paired(undefined, [1], (a, b) => a - b)).toBeUndefined();
  });

  it("find a slope", () => {
    expect(
      slope([
        [1, 1.5],
        [2, 2],
        [5, 3.5],
      ]),
    ).toBeCloseTo(0.5, 12);
  });
});

describe("what the reproductions found", () => {
  it("is what stands in their pages (node build/papers.mjs)", () => {
    expect(found).toEqual(JSON.parse(JSON.stringify(inDocs())));
  });

  it.each(each)("has a claim, words and a page for each reading of %s", (name, figure) => {
    const { claims, citation } = papers[name];
    expect(citation).toMatch(/".+"/);
    expect(existsSync(new URL(`../../../../docs/papers/${name}.md`, import.meta.url))).toBe(true);
    for (const { claim } of figure.readings) {
      expect(claims[claim]?.says).toBe((en.papers.set[name].says as Settings)[claim]);
      for (const texts of [en, de]) {
        const words = texts.papers.set[name];
        expect(Object.keys(words.says)).toContain(claim);
        expect(Object.keys(words.readings)).toContain(claim);
        expect(texts.papers.verdicts[claims[claim]?.verdict ?? ""]).toBeTruthy();
      }
    }
  });

  it("has what the papers' tables state", () => {
    expect(stated.peaks).toEqual({ DSRED: 100, RED: 118 });
    expect(stated.waits.EFM).toEqual([0.46, 0.1]);
  });
});

describe.each(each)("the figure of %s", (name, figure) => {
  it("has words for controls, options and panels in both languages", () => {
    for (const texts of [en, de]) {
      const words = texts.papers.set[name];
      for (const c of figure.controls) {
        expect(words.controls).toHaveProperty([c.key]);
        if (c.kind === "choice")
          for (const o of c.options) expect(words.options).toHaveProperty([o]);
      }
      for (const [key, tried] of Object.entries(figure.tries)) {
        expect(words.tries).toHaveProperty([key]);
        const there = { ...startOf(figure), ...tried };
        expect(at(figure, writeSettings(figure, there))).toEqual(there);
        expect(writeSettings(figure, there)).not.toBe("");
      }
      if (figure.kind !== "times") {
        for (const p of figure.panels) expect(words.panels).toHaveProperty([p.name]);
      }
    }
  });

  it("runs points that the scenario has, each once", () => {
    const known = pointsOf(projectOf(figure).files[`paper-${name}.yaml`] as string);
    for (const query of ["", OTHERS[name] ?? ""]) {
      const points = figure.points(at(figure, query));
      for (const p of points) expect(known).toContain(p.variant);
      expect(new Set(points.map(keyOf)).size).toBe(points.length);
    }
  });

  it("sets nothing where it is as the reproduction has it, and much where it is not", () => {
    const start = startOf(figure);
    expect(figure.set(start)).toEqual([]);
    for (const p of figure.points(start)) expect(p.set).toEqual([]);
    const others = at(figure, OTHERS[name] ?? "");
    expect(figure.set(others).length).toBeGreaterThan(0);
    const all = new Set(figure.set(others));
    for (const p of figure.points(others).slice(0, 1))
      for (const s of p.set) expect(all).toContain(s);
  });

  it("keeps settings in a link, and takes nothing else from one", () => {
    const query = OTHERS[name] ?? "";
    const others = at(figure, query);
    expect(writeSettings(figure, others)).toBe(query);
    expect(writeSettings(figure, startOf(figure))).toBe("");
    for (const c of figure.controls) {
      for (const bad of ["", "x", "NaN", "<b>", "-1e999"]) {
        const read = at(figure, `${c.key}=${encodeURIComponent(bad)}`);
        const value = read[c.key];
        if (c.kind === "choice") expect(c.options).toContain(value);
        else expect(value).toBe(c.start);
      }
      if (c.kind === "slider") {
        expect(at(figure, `${c.key}=1e9`)[c.key]).toBe(c.range.max);
        expect(at(figure, `${c.key}=-5`)[c.key]).toBe(c.range.min);
      }
    }
  });
});

/** The names of a scenario's points. */
function pointsOf(text: string): string[] {
  const { variants, axes } = parse(text);
  const [axis] = axes ?? [];
  return variants.flatMap(({ name }: { name: string }) =>
    axis ? axis.values.map((v: unknown) => `${name} (${axis.name}=${v})`) : [name],
  );
}

describe("what is measured", () => {
  const row = (scope: string, name: string, metric: string, values: number[]): SampleRow => ({
    ...{ variant: "", scope, name, metric, unit: "" },
    runs: values.map((_, i) => i),
    values,
  });
  const outcome = (of: Partial<Outcome>) => of as Outcome;

  it("is the share of the core, of chien", () => {
    const samples = [
      row("class", "best-effort", "throughput", [5e6, 6e6]),
      row("link", "core", "carried", [8e6, 9e6]),
      row("link", "core", "utilization", [0.8, 0.9]),
    ];
    expect(chien.measure(outcome({ samples })).values.use?.map((x) => x.toFixed(6))).toEqual([
      "0.500000",
      "0.600000",
    ]);
  });

  it("is the mean over ports, of shrivastav", () => {
    const metric = "backlog_packets_mean";
    const samples = [
      ...[1, 2, 3, 6].map((v, i) => row("queue", `out-${i}/red`, metric, [v])),
      row("queue", "acks-0/fifo", metric, [100]),
      ...[4, 4, 4, 4].map((v, i) => row("switch-input", `in-${i}`, metric, [v])),
    ];
    expect(shrivastav.measure(outcome({ samples })).values).toEqual({ output: [3], input: [4] });
  });

  it("is the wait of calls at R2 alone, of domzal", () => {
    const flow = { link: "L3", class: "streams", direction: "data", run: 0, waiting_s: 1 };
    const admission = [
      flow,
      { ...flow, waiting_s: 3 },
      { ...flow, link: "L5", waiting_s: 99 },
      { ...flow, class: "elastic to d1", waiting_s: 99 },
      { ...flow, direction: "acknowledgments", waiting_s: 99 },
      { ...flow, run: 1, waiting_s: 5 },
    ] as Outcome["admission"] & object;
    const { values, singles } = domzal.measure(outcome({ admission }));
    expect(values.wait).toEqual([2, 5]);
    expect(singles).toEqual([1, 3, 5]);
  });

  it("complains of what the run does not have", () => {
    expect(() => zheng.measure(outcome({ samples: [] }))).toThrow(/no sojourn_mean/);
  });
});

describe("readings", () => {
  /** As if each point had been run, with values by line and place. */
  const ran = (figure: Figure, value: (p: Point, quantity: string) => number[]) => {
    const of = (p: Point): Measured => ({
      values: new Proxy({}, { get: (_, quantity) => value(p, String(quantity)) }),
    });
    const points = figure.points(startOf(figure));
    const find = lookup(points, of);
    return Object.fromEntries(
      figure.readings.map((r) => [r.claim, r.values(find, startOf(figure))]),
    );
  };

  it("of domzal are the slope of what stands on a line", () => {
    const { D7, D8, D3 } = ran(domzal, (p) => [p.x / 2 + 1]);
    expect(D7?.[0]).toBeCloseTo(0.5, 12);
    expect(D8).toBeUndefined();
    expect(D3).toEqual([3.5]);
  });

  it("of chien are paired gains in points", () => {
    const { C4, C5 } = ran(chien, (p) => [0.5 + (p.line === "A-RIO" ? p.x / 1000 : 0)]);
    expect(C4?.[0]).toBeCloseTo(6, 9);
    expect(C5?.[0]).toBeCloseTo(5, 9);
  });

  it("of mitroi are in percent, the largest of all policies with classes", () => {
    const loss = (p: Point, q: string) => [p.x === 0 ? (q === "voice" ? 0.2 : 0.18) : p.x / 1000];
    const { M1, M2, M3 } = ran(mitroi, loss);
    expect([M1, M2]).toEqual([[20], [18]]);
    expect(M3?.[0]).toBeCloseTo(0.7, 9);
  });

  it("wait until all that they need has been run", () => {
    const nothing = lookup(domzal.points(startOf(domzal)), () => undefined);
    for (const f of figures) {
      for (const r of f.readings) expect(r.values(nothing, startOf(f)) ?? []).toEqual([]);
    }
  });
});

describe("lines", () => {
  const panel = chien.panels[1];
  const of = (p: Point): Measured => ({
    values: { use: p.line === "RIO" ? [0.5, 0.7] : [0.4, 0.5] },
  });

  it("show differences run by run, below zero, too", () => {
    if (!panel) throw new Error("there is no second panel");
    const [gain] = linesOf(chien, panel, startOf(chien), of, {});
    expect(gain?.spots.map((s) => s.value.mean.toFixed(3))).toEqual(Array(5).fill("-0.150"));
    const [least, most] = extent(gain ? [gain] : [], []);
    expect(least).toBeLessThan(-0.15);
    expect(most).toBeGreaterThan(0);
    expect(axisOf("1", [least, most], 5, true).scale.unit).toBe("% points");
  });

  it("are compared with the reproduction's where settings are others", () => {
    const [first] = chien.panels;
    if (!first) throw new Error("there is no panel");
    expect(linesOf(chien, first, startOf(chien), of, {})[0]?.before).toEqual([]);
    expect(linesOf(chien, first, at(chien, "fixed=70"), of, {})[0]?.before).toHaveLength(5);
  });

  it("have an axis that ends at 100 % for shares, and is there without any", () => {
    expect(axisOf("1", [0, 0.99], 5).most).toBe(1);
    expect(axisOf("packets", extent([] as Drawn[], []), 5).most).toBeGreaterThan(0);
  });
});

describe("settings", () => {
  // Python runs these, and the papers' own points that they are to be (`test_lab_papers.py`).
  const known = parse(
    readFileSync(new URL("../../../tests/fixtures/papers/points.json", import.meta.url), "utf8"),
  ) as { paper: string; query: string; variant: string; set: string[] }[];

  it.each(known)("of $paper mean what they meant: $query", ({ paper, query, variant, set }) => {
    const figure = figures.find((f) => f.name === paper);
    const points = figure?.points(at(figure, query)) ?? [];
    expect(points.find((p) => p.variant === variant)?.set).toEqual(set);
  });
});

describe("traffic in the order of table 1", () => {
  it("is that of the paper", () => {
    const table = readFileSync(
      new URL("../../../../papers/spillgate_papers/mitroi/system/traffic.csv", import.meta.url),
      "utf8",
    );
    const rows = table
      .split("\n")
      .filter((l) => l && !l.startsWith("#"))
      .slice(1)
      .map((l) => l.split(","));
    const flows = inOrder(1) as { flow: { name: string; source: { cbr: { rate: string } } } }[];
    const names = rows.flatMap(([name, count]) =>
      Array.from({ length: Number(count) }, (_, i) => `${name}-${i}`),
    );
    expect(flows.map((f) => f.flow.name)).toEqual([...names, "filler"]);
    const offered = rows.reduce((sum, r) => sum + Number(r[1]) * Number.parseFloat(r[4] ?? ""), 0);
    expect(OFFERED).toBeCloseTo(offered, 9);
    expect(flows[49]?.flow.source.cbr).toMatchObject({
      phase: `${49 * 90} us`,
      rate: "888000 b/s",
    });
  });
});
