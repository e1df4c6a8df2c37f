import { describe, expect, it } from "vitest";
import { Crash, InputProblem } from "../../src/engine/api";
import { Client } from "../../src/engine/client";
import type { FromWorker, ToWorker } from "../../src/engine/wire";

/** The shortest module there is. */
const EMPTY = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

/** A worker that answers what a test says. */
class Played {
  onmessage: ((event: { data: FromWorker }) => void) | null = null;
  onerror: ((event: { message: string }) => void) | null = null;
  heard: ToWorker[] = [];
  ended = false;

  postMessage(message: ToWorker) {
    this.heard.push(message);
  }

  terminate() {
    this.ended = true;
  }

  say(message: FromWorker) {
    this.onmessage?.({ data: message });
  }
}

function played(most = 1) {
  const workers: Played[] = [];
  const client = new Client(
    {
      worker: () => {
        const worker = new Played();
        workers.push(worker);
        return worker as unknown as Worker;
      },
      module: async () => new WebAssembly.Module(EMPTY),
      project: "null",
    },
    most,
  );
  const worker = () => workers.at(-1) as Played;
  return { client, workers, worker };
}

const project = { path: "a.yaml", files: { "a.yaml": "" } };

describe("the page's side of the engine", () => {
  it("gives each call its own answer, in whatever order they come", async () => {
    const { client, worker } = played();
    const first = client.format([1], "s");
    const second = client.format([2], "s");
    worker().say({ call: 1, value: ["two"] });
    worker().say({ call: 0, value: ["one"] });
    expect(await Promise.all([first, second])).toEqual([["one"], ["two"]]);
  });

  it("rejects bad input with its places", async () => {
    const { client, worker } = played();
    const checked = client.check(project);
    const problem = { severity: "error", code: "E0205", message: "the unit is missing" } as const;
    worker().say({ call: 0, problem: [problem] });
    const error = await checked.catch((e) => e);
    expect(error).toBeInstanceOf(InputProblem);
    expect(error.diagnostics).toEqual([problem]);
  });

  it("cancels in the worker and rejects at once", async () => {
    const { client, worker } = played();
    const control = new AbortController();
    const run = client.run(project, {}, { signal: control.signal });
    control.abort();
    await expect(run).rejects.toMatchObject({ name: "AbortError" });
    expect(worker().heard).toContainEqual({ cancel: 0 });
  });

  it("starts a new worker after a crash", async () => {
    const { client, worker, workers } = played();
    const run = client.run(project);
    worker().say({ crash: "unreachable" });
    await expect(run).rejects.toBeInstanceOf(Crash);
    expect(workers[0]?.ended).toBe(true);
    const after = client.format([1], "s");
    expect(workers).toHaveLength(2);
    worker().say({ call: 1, value: ["1 s"] });
    expect(await after).toEqual(["1 s"]);
  });

  it("starts another worker while the first one works, and not before", async () => {
    const { client, workers } = played(2);
    const first = client.run(project);
    const second = client.format([1], "s");
    const third = client.format([2], "s");
    expect(workers).toHaveLength(2);
    workers[1]?.say({ call: 0, value: ["1 s"] });
    workers[0]?.say({ call: 1, value: ["2 s"] });
    workers[0]?.say({ crash: "unreachable" });
    expect(await Promise.all([second, third])).toEqual([["1 s"], ["2 s"]]);
    await expect(first).rejects.toBeInstanceOf(Crash);
    expect(workers.map((worker) => worker.ended)).toEqual([true, false]);
  });
});
