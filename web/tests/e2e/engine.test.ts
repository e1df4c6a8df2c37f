import { expect, it } from "vitest";
import { project } from "../module/module";
import { inBrowser } from "./browser";

/** Of the worker in a browser, whatever page uses it. */

inBrowser("the worker", (open) => {
  it("runs to the digest of the command line, tells how far it is, and stops when told to", async () => {
    const { path, files } = project("examples/voice-edge/scenario.yaml");
    const decoder = new TextDecoder();
    const texts = Object.entries(files).map(([n, c]) => [n, decoder.decode(c as Uint8Array)]);
    const voice = { path, files: Object.fromEntries(texts) };
    // A place where nothing else runs.
    const { page } = await open("#/nowhere", { faulty: true });
    const found = await page.evaluate(async (project) => {
      const script = await (await fetch("worker.js")).blob();
      const worker = new Worker(URL.createObjectURL(script));
      worker.postMessage({ begin: await WebAssembly.compileStreaming(fetch("spillgate.wasm")) });
      // biome-ignore lint/suspicious/noExplicitAny: what the worker says
      type Said = any;
      let calls = 0;
      const call = (method: string, args: unknown[], heard: (said: Said, call: number) => void) => {
        const number = calls++;
        return new Promise<Said>((resolve) => {
          const hear = ({ data }: MessageEvent) => {
            if (data.crash) resolve(data);
            if (data.call !== number) return;
            heard(data, number);
            if ("progress" in data) return;
            worker.removeEventListener("message", hear);
            resolve(data);
          };
          worker.addEventListener("message", hear);
          worker.postMessage({ call: number, method, args });
        });
      };
      const set = ["measurement.duration=5 s", "measurement.warmup=1 s"];
      const short = await call("run", [project, { set, runs: 1 }], () => {});
      // Again and again, from where it may be hard to stop: loading, running, summing up.
      const waits: number[] = [];
      const told: number[] = [];
      for (const after of [0, 30, 200, 500, 1000]) {
        let cancelled = 0;
        const cancel = (number: number) => {
          cancelled = performance.now();
          worker.postMessage({ cancel: number });
        };
        const said = call("run", [project, {}], (data) => {
          if ("progress" in data) told.push(performance.now());
        });
        const number = calls - 1;
        setTimeout(() => cancel(number), after);
        const end = await said;
        waits.push(end.aborted ? performance.now() - cancelled : Number.NaN);
      }
      const gaps = told.slice(1).map((t, i) => t - (told[i] ?? 0));
      return { short, waits, gaps };
    }, voice);
    expect(found.short.value.runs[0].digest).toBe("5bba40e1cd513dcd3344514b93c1e3b7");
    const rounded = found.waits.map((ms) => ms.toFixed(0)).join(", ");
    console.log(`cancelled after ${rounded} ms (asked: 100)`);
    expect(found.waits.every((ms) => Number.isFinite(ms))).toBe(true);
    const mean = found.gaps.reduce((a, b) => a + b, 0) / found.gaps.length;
    expect(mean).toBeGreaterThan(45);
  });

  it.each([false, true])("moves a queue before anything is clicked (alone: %s)", async (alone) => {
    const { page } = await open("#/watch", { alone, motion: true });
    await page.locator("main canvas").first().waitFor({ timeout: 20_000 });
  });
});
