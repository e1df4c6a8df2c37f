import { describe, expect, it } from "vitest";
import { buffers, Desk, type Methods, type Task } from "../../src/engine/desk";
import type { FromWorker, Method } from "../../src/engine/wire";

const EMPTY = new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));

/** A desk with one method that a test plays, as `run`. */
async function desk(run: (task: Task) => unknown) {
  const said: FromWorker[] = [];
  const desk = new Desk(
    (message) => said.push(message),
    async () => ({ run }) as unknown as Methods,
  );
  await desk.heard({ begin: EMPTY });
  return { desk, said };
}

const call = (call: number, method: Method = "run") => ({ call, method, args: [] });
const far = (fraction: number) => ({
  fraction,
  runsDone: 0,
  runs: 1,
  events: 0,
  remaining: Number.NaN,
});

describe("the worker's side of the engine", () => {
  it("keeps calls that come before the module", async () => {
    const said: FromWorker[] = [];
    const early = new Desk(
      (message) => said.push(message),
      async () => ({ format: () => ["1 s"] }) as unknown as Methods,
    );
    await early.heard(call(0, "format"));
    await early.heard(call(1, "format"));
    await early.heard({ cancel: 1 });
    expect(said).toEqual([]);
    await early.heard({ begin: EMPTY });
    await Promise.resolve();
    expect(said).toEqual([{ call: 0, value: ["1 s"] }]);
  });

  it("stops a call between two slices, and others go on", async () => {
    let slices = 0;
    const { desk: one, said } = await desk(async (task) => {
      for (;;) {
        slices += 1;
        if (slices > 1000) return "too late";
        await task.pause();
      }
    });
    const going = one.heard(call(3));
    await one.heard({ cancel: 3 });
    await going;
    expect(said).toEqual([{ call: 3, aborted: true }]);
    expect(slices).toBe(1);
  });

  it("says bad input with its places, and all else as a crash", async () => {
    const thrown = [
      { diagnostics: [{ severity: "error", code: "E0205", message: "no unit" }] },
      new WebAssembly.RuntimeError("unreachable"),
    ];
    const { desk: one, said } = await desk(() => {
      throw thrown.shift();
    });
    await one.heard(call(0));
    await one.heard(call(1));
    expect(said).toEqual([
      { call: 0, problem: [{ severity: "error", code: "E0205", message: "no unit" }] },
      { crash: "RuntimeError: unreachable" },
    ]);
  });

  it("tells how far it is twenty times a second at most, and always the end", async () => {
    const { desk: one, said } = await desk((task) => {
      const end = performance.now() + 200;
      while (performance.now() < end) task.progress(far(0.5));
      task.progress(far(1));
      return null;
    });
    await one.heard(call(0));
    const told = said.filter((message) => "progress" in message);
    expect(told.length).toBeGreaterThan(2);
    expect(told.length).toBeLessThanOrEqual(6);
    expect(told.at(-1)).toEqual({ call: 0, progress: far(1) });
  });

  it("hands columns over, each once", () => {
    const shared = new ArrayBuffer(16);
    const value = {
      time: new Float64Array(shared, 0, 1),
      until: new Float64Array(shared, 8, 1),
      series: [{ values: new Float64Array(2) }],
      classes: ["voice"],
    };
    expect(buffers(value)).toEqual([shared, value.series[0]?.values.buffer]);
  });
});
