import { describe, expect, test, vi } from "vitest";
import {
  type Engine,
  InputProblem,
  MOST_CAPTURE,
  type Outline,
  type Understood,
} from "../../src/engine/api";
import { leavesOf } from "../../src/pages/router/classes";
import { isCapture, refusedCapture, textOf } from "../../src/pages/router/files";
import { keyOf } from "../../src/pages/router/ios";
import { lineRate, rowsByRule } from "../../src/pages/router/loads";
import { covered, marksOf } from "../../src/pages/router/marks";
import { bandsOf, broken, place } from "../../src/pages/router/picture";
import {
  readBytes,
  readCount,
  readPercent,
  readRate,
  readTime,
} from "../../src/pages/router/quantity";
import { build, quoted, rateWords, scaled, timeWords } from "../../src/pages/router/scenario";
import { Bench } from "../../src/pages/router/state";
import { differs, resultsOf } from "../../src/pages/router/verdict";
import branch from "../fixtures/router/branch.json";
import edge from "../fixtures/router/edge.json";

const EDGE = edge as unknown as Understood;
const CONFIG =
  "policy-map WAN\n class VOICE\n  priority percent 33\ninterface Serial0/1/0\n bandwidth 2048\n service-policy output WAN\n";

/** An engine that understands every text as the edge router of the example. */
function fake(over: Partial<Engine> = {}): Engine {
  return {
    understand: vi.fn(async () => EDGE),
    lintConfig: vi.fn(async () => []),
    showOutput: vi.fn(async () => null),
    run: vi.fn(async () => ({ summary: [], verdicts: [], bounds: [], runs: [] })),
    ...over,
  } as unknown as Engine;
}

async function given(engine = fake()): Promise<Bench> {
  const bench = new Bench(engine);
  await bench.take("edge.cfg", CONFIG);
  return bench;
}

describe("the page's state", () => {
  test("a text is read for the first interface with a policy, and loads are proposed", async () => {
    const bench = await given();
    expect(bench.analysis.value?.target).toEqual({ iface: "Serial0/1/0" });
    expect(bench.rate.value).toBe(2.048e6);
    expect(bench.rateAssumed.value).toBe(false);
    expect(bench.overhead.value).toBe("ppp");
    expect(bench.loads.value.map((l) => l.name)).toEqual([
      "VOICE",
      "VIDEO",
      "BUSINESS",
      "class-default",
    ]);
    expect(bench.knobs.value.map((k) => k.value)).toEqual([33]);
  });

  test("what is refused shows why, and nothing of before stays", async () => {
    let bad = false;
    const engine = fake({
      understand: async () => {
        if (bad) throw new InputProblem([{ severity: "error", code: "E0718", message: "no" }]);
        return EDGE;
      },
    });
    const bench = await given(engine);
    bad = true;
    bench.type("set policy");
    await bench.read();
    expect(bench.analysis.value).toBeNull();
    expect(bench.problems.value.map((d) => d.code)).toEqual(["E0718"]);
    bad = false;
    await bench.read();
    expect(bench.problems.value).toEqual([]);
  });

  test("of two texts the later counts, whichever is read first", async () => {
    const waiting: (() => void)[] = [];
    const engine = fake({
      understand: () => new Promise((resolve) => waiting.push(() => resolve(EDGE))),
    });
    const bench = new Bench(engine);
    bench.text.value = "one";
    const one = bench.read();
    bench.text.value = "two";
    const two = bench.read();
    while (waiting.length > 0) {
      waiting.pop()?.();
      await new Promise((r) => setTimeout(r));
    }
    await Promise.all([one, two]);
    expect(bench.analysis.value?.text).toBe("two");
  });

  test("rows that were edited stay as long as their class does", async () => {
    const bench = await given();
    bench.edit("VIDEO", { rate: 123_000 });
    bench.type(`${CONFIG}!\n`);
    await bench.read();
    expect(bench.loads.value[1]).toMatchObject({ rate: 123_000, origin: "you" });
    bench.fill();
    expect(bench.loads.value[1]?.origin).toBe("rule");
  });

  test("a slider changes the configuration's number, its line, and what is run", async () => {
    const engine = fake();
    const bench = await given(engine);
    const knob = bench.knobs.value[0];
    if (!knob) throw new Error("no number");
    bench.turn(keyOf(knob), 20, knob.value);
    expect(bench.changes.value).toEqual([
      "policy-map WAN",
      " class VOICE",
      "  priority percent 20",
    ]);
    // Nothing runs before the first run was asked for.
    await new Promise((r) => setTimeout(r, 200));
    expect(engine.run).toHaveBeenCalledTimes(0);
    await bench.run();
    await vi.waitFor(() => expect(bench.tried.value).not.toBeNull());
    const [first, second] = vi.mocked(engine.run).mock.calls.map(([p]) => p.files["router.cfg"]);
    expect(first).toBe(CONFIG);
    expect(second).toBe(CONFIG.replace("33", "20"));
    bench.turn(keyOf(knob), knob.value, knob.value);
    expect(bench.changes.value).toEqual([]);
  });

  test("clear forgets everything", async () => {
    const bench = await given();
    await bench.run();
    bench.clear();
    expect([bench.text.value, bench.analysis.value, bench.base.value]).toEqual(["", null, null]);
    expect([bench.loads.value, bench.setup.value]).toEqual([[], null]);
  });

  test("a run that is stopped leaves nothing", async () => {
    const engine = fake({
      run: (_p, _o, g) =>
        new Promise((_, reject) =>
          g?.signal?.addEventListener("abort", () =>
            reject(new DOMException("stopped", "AbortError")),
          ),
        ),
    });
    const bench = await given(engine);
    const run = bench.run();
    bench.going.value?.stop();
    await run;
    expect([bench.going.value, bench.base.value, bench.crash.value]).toEqual([null, null, null]);
  });
});

describe("scenarios", () => {
  const loads = rowsByRule(leavesOf(EDGE.interfaces[0]?.policy ?? null), 2.048e6);
  const setup = {
    text: CONFIG,
    tc: false,
    platform: "ios-hqf",
    iface: "Serial0/1/0",
    rate: 2.048e6,
    delay: 0.01,
    overhead: "ppp",
    loads,
  };

  test("have the line, the configuration, a flow a class and its requirement", async () => {
    const project = build(setup);
    expect(Object.keys(project.files)).toEqual(["router.cfg", "scenario.yaml"]);
    await expect(project.files["scenario.yaml"]).toMatchFileSnapshot(
      "../fixtures/router/edge-scenario.txt",
    );
  });

  test("with a changed configuration have two variants", () => {
    const project = build(setup, CONFIG.replace("33", "20"));
    expect(project.files["changed.cfg"]).toContain("percent 20");
    expect(project.files["scenario.yaml"]).toContain('set: {"configs[0].ios": changed.cfg}');
    expect(build(setup, CONFIG).files["changed.cfg"]).toBeUndefined();
  });

  test("quote what YAML would take for something else", () => {
    expect(["VOICE", "Gi0/1.10", "a b"].map(quoted)).toEqual(["VOICE", "Gi0/1.10", "a b"]);
    const odd = ["yes", "1:10", "a: b", "{x}", "#", "", "'", "<script>", "a\nb", "- x"];
    for (const name of odd) expect(JSON.parse(quoted(name))).toBe(name);
  });

  test("write rates and times exactly", () => {
    expect([1, 999, 64000, 2048000, 1e9, 1544000].map(rateWords)).toEqual([
      "1 b/s",
      "999 b/s",
      "64 kb/s",
      "2.048 Mb/s",
      "1 Gb/s",
      "1.544 Mb/s",
    ]);
    expect([0, 0.0005, 0.0125, 60].map(timeWords)).toEqual(["0 s", "500 us", "12.5 ms", "60 s"]);
    const source = { "on-off": { peak: "84.9 Mb/s", on: "1 ms", packet: { fixed: "200 B" } } };
    expect(scaled(source, 2)).toEqual({
      "on-off": { peak: "169.8 Mb/s", on: "1 ms", packet: { fixed: "200 B" } },
    });
    expect(scaled(source, 1)).toEqual(source);
  });

  test("take the peak of a circuit for its line", () => {
    const circuit = { rate: 384000, circuit: { pcr: 768000 }, policy: null };
    expect(lineRate(circuit as unknown as Understood["interfaces"][number])).toBe(768000);
    expect(lineRate(undefined)).toBeUndefined();
  });
});

test("quantities are read as they are typed", () => {
  expect(["2.048 Mb/s", "64k", "64000", "1,5 Gbps", "0", "x", ""].map(readRate)).toEqual([
    2.048e6,
    64000,
    64000,
    1.5e9,
    undefined,
    undefined,
    undefined,
  ]);
  expect(["20 ms", "20", "0.1 s", "5 us", "1 h"].map(readTime)).toEqual([
    0.02,
    0.02,
    0.1,
    expect.closeTo(5e-6),
    undefined,
  ]);
  expect(["1 %", "0.1", "101"].map(readPercent)).toEqual([0.01, 0.001, undefined]);
  expect(["0", "12", "1.5"].map(readCount)).toEqual([undefined, 12, undefined]);
  expect(["27", "1500 B", "9217"].map(readBytes)).toEqual([undefined, 1500, undefined]);
});

describe("the picture", () => {
  const policy = (branch as unknown as Understood).interfaces[0]?.policy ?? null;

  test("has a band for each class, shares of the line, and nothing overlaps", () => {
    const bands = bandsOf(policy, 100e6);
    expect(bands.map((b) => [b.name, b.depth, b.holds])).toEqual([
      ["class-default", 0, true],
      ["VOICE", 1, false],
      ["VOICE-SIGNALING", 1, false],
      ["INTERACTIVE", 1, false],
      ["SCAVENGER", 1, false],
      ["MGMT-TAGGED", 1, false],
      ["class-default", 1, false],
    ]);
    expect(bands[0]?.shaped).toBeCloseTo(0.2);
    for (const width of [280, 400, 800, 1400, 2560]) {
      const { placed, height } = place(bands, width);
      placed.forEach((p, i) => {
        const next = placed[i + 1];
        expect(p.y + p.height).toBeLessThanOrEqual(next?.y ?? height);
        expect(p.bar.x + p.bar.width).toBeLessThanOrEqual(width);
      });
    }
  });

  test("of names of any length stays within its width", () => {
    const outline = { ...(policy as Outline), name: "x".repeat(500), classes: [] };
    const [only] = place(bandsOf(outline, 1e6), 400).placed;
    expect(only?.title.length).toBeLessThan(60);
    expect(broken("a ".repeat(300), 200, 2)).toHaveLength(2);
  });

  test("of no policy is empty", () => expect(bandsOf(null, 1e6)).toEqual([]));
});

describe("lines", () => {
  test("with secrets are shown without them", () => {
    expect(covered("username x password 7 0822455D0A16")).toBe("username x password …");
    expect(covered("snmp-server community s3cret RO")).toBe("snmp-server community …");
    expect(covered("match protocol youtube")).toBe("match protocol youtube");
  });

  test("have their marks in order, at their first word", async () => {
    const analysis = (await given()).analysis.value;
    if (!analysis) throw new Error("nothing was understood");
    const unmodelled = [{ line: 3, text: "  priority", reason: "why", understood: true }];
    const warnings = [{ line: 2, column: 2, message: "doubtful", hint: "do this" }];
    const marks = marksOf({ ...analysis, found: { ...EDGE, unmodelled, warnings } });
    expect(marks.map((m) => [m.line, m.column, m.kind, m.why])).toEqual([
      [2, 2, "warning", "doubtful (do this)"],
      [3, 3, "idle", "why"],
    ]);
  });
});

describe("files", () => {
  test("captures are told by their first bytes", async () => {
    expect(await isCapture(new Blob([Uint8Array.of(0xd4, 0xc3, 0xb2, 0xa1, 0, 0)]))).toBe(true);
    expect(await isCapture(new Blob(["policy-map"]))).toBe(false);
    expect(await isCapture(new Blob([]))).toBe(false);
  });

  test("a capture that is too large is refused unread, with the command", () => {
    const file = { name: "my $edge.pcap", size: 2e9 } as File;
    expect(file.size).toBeGreaterThan(MOST_CAPTURE);
    expect(refusedCapture(file, "").command).toBe("spillgate profile 'my $edge.pcap'");
  });

  test("text is UTF-8, else Latin-1", async () => {
    expect(await textOf(new Blob(["größe"]))).toBe("größe");
    expect(await textOf(new Blob([Uint8Array.of(0x67, 0xf6)]))).toBe("gö");
  });
});

test("values differ only if their intervals do", () => {
  const v = (low: number, high: number) => ({ mean: (low + high) / 2, half: 0, low, high });
  expect(differs(v(1, 2), v(2.5, 3))).toBe(true);
  expect(differs(v(1, 2), v(1.9, 3))).toBe(false);
  expect(differs(v(1, 2), { mean: 3, half: null, low: null, high: null })).toBe(false);
});

test("classes without results have none", () => {
  const loads = rowsByRule(leavesOf(null), 1e6);
  const outcome = { summary: [], verdicts: [], bounds: [] };
  expect(resultsOf(outcome as never, loads)[0]).toMatchObject({ verdict: null, bound: null });
});
