import { expect, it } from "vitest";
import {
  type Checked,
  type Estimate,
  MOST_CAPTURE,
  type Outcome,
  type Progress,
  type Recording,
} from "../../src/engine/api";
import { buffers, Stopped, type Task } from "../../src/engine/desk";
import { InputFault } from "../../src/engine/faults";
import { project, withModule } from "./module";

const voice = project("examples/voice-edge/scenario.yaml");
const short = { set: ["measurement.duration=5 s", "measurement.warmup=1 s"], runs: 2 };

/** A task that notes when it lets others in; `stop` says whether it is cancelled then. */
function task(stop: () => boolean = () => false) {
  const told: Progress[] = [];
  let last = performance.now();
  let longest = 0;
  const passed = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const of: Task = {
    progress: (p) => told.push(p),
    pause: async () => {
      passed();
      if (stop()) throw new Stopped();
    },
  };
  return { of, told, longest: () => longest };
}

/** What a call was refused with. */
async function refused(call: unknown): Promise<InputFault> {
  const error = await Promise.resolve(call).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(InputFault);
  return error as InputFault;
}

withModule("the module", (methods) => {
  it("runs a scenario and gives the digests that the command line gives", async () => {
    const { run } = await methods();
    const { of, told, longest } = task();
    const outcome = (await run(of, voice, short)) as Outcome;
    // Of `spillgate run` with the same options.
    expect(outcome.runs[0]).toMatchObject({ seed: 1, digest: "5bba40e1cd513dcd3344514b93c1e3b7" });
    expect(outcome.runs).toHaveLength(outcome.description.variants.length * 2);
    expect(outcome.verdicts).toHaveLength(16);
    expect(outcome.summary).toHaveLength(7064);
    expect(outcome.partial).toBe(false);
    expect(outcome.series.every((c) => c.values.length > 0)).toBe(true);
    expect(new Set(buffers(outcome)).size).toBe(outcome.series.length);
    expect(told.at(-1)).toMatchObject({ fraction: 1, runsDone: 8, runs: 8 });
    console.log(`longest time between two slices: ${longest().toFixed(0)} ms (asked: 100)`);
  });

  it("stops between slices", async () => {
    let slices = 0;
    const { of } = task(() => ++slices >= 3);
    await expect((await methods()).run(of, voice, {})).rejects.toBeInstanceOf(Stopped);
    expect(slices).toBe(3);
  });

  it("watches a port", async () => {
    const options = { ...short, variant: "G.711 with VAD", link: "wan" };
    const found = (await (await methods()).watch(task().of, voice, options)) as Recording;
    expect(found).toMatchObject({ link: "wan", rate: 2_048_000, end: 6 });
    expect(found.time).toHaveLength(found.count);
    expect(found.count).toBeGreaterThan(1000);
    const kinds = [...found.kind];
    const [arrived, left, dropped] = [0, 1, 2].map((k) => kinds.filter((of) => of === k).length);
    expect((left ?? 0) + (dropped ?? 0)).toBeLessThanOrEqual(arrived ?? 0);
    expect(dropped).toBeGreaterThan(0);
    expect(found.time.every((t, i) => i === 0 || t >= (found.time[i - 1] ?? 0))).toBe(true);
  });

  it("says where bad input is wrong", async () => {
    const set = ["measurement.duration=5"];
    const wrong = await refused((await methods()).check(task().of, voice, { set }));
    expect(wrong.diagnostics[0]).toMatchObject({
      severity: "error",
      code: "E0205",
      key: "measurement.duration",
    });
    const files = { "a.yaml": "name: [" };
    const broken = await refused((await methods()).check(task().of, { path: "a.yaml", files }));
    expect(broken.diagnostics[0]).toMatchObject({ file: "a.yaml", line: expect.any(Number) });
  });

  it("refuses a link that there is not, and goes on", async () => {
    const { watch, format } = await methods();
    const wrong = await refused(watch(task().of, voice, { link: "moon" }));
    expect(wrong.diagnostics).toEqual([
      { severity: "error", code: "", message: 'there is no link "moon"' },
    ]);
    expect(format(task().of, [0.0201, null], "s")).toHaveLength(2);
  });

  it("checks, reckons and reads configurations", async () => {
    const all = await methods();
    const checked = (await all.check(task().of, voice)) as Checked;
    expect(checked.description.name).toBe("Thirty calls on 2 Mb/s");
    expect(checked.findings.map((f) => f.id)).toContain("SG-Q006");
    const reckoned = (await all.estimate(task().of, voice)) as Estimate;
    expect(reckoned.seconds).toBeGreaterThan(0);
    expect(reckoned.memoryBytes).toBe(checked.memoryBytes);
    const text = new TextDecoder().decode(voice.files["edge.cfg"] as Uint8Array);
    const understood = await all.understand(task().of, "edge.cfg", text, "ios");
    expect(understood).toMatchObject({ interfaces: [{ name: "Serial0/1/0" }] });
    expect(await all.lintConfig(task().of, "edge.cfg", text, "ios")).not.toHaveLength(0);
    expect(await all.showOutput(task().of, "edge.cfg", text)).toBeNull();
    const exported = await all.exportPolicy(
      task().of,
      { config: "edge.cfg", text, platform: "ios" },
      "tc",
      {},
    );
    expect((exported as { text: string }).text).toContain("tc class add");
    expect(JSON.parse(JSON.stringify(await all.about(task().of)))).toMatchObject({
      version: expect.any(String),
      catalog: { aqm: expect.any(Array) },
    });
  });

  it("refuses a capture that a page cannot hold, with the command that can", async () => {
    const long = { size: MOST_CAPTURE + 1 } as Blob;
    const { profile } = await methods();
    const wrong = await refused(profile(task().of, "a.pcap", long, { by: "dscp" }));
    expect(wrong.diagnostics[0]?.hint).toContain("spillgate profile");
  });
});
