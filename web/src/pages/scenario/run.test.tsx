// @vitest-environment happy-dom
import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { fakeEngine, outcome } from "../../../tests/fake/engine";
import { Crash, type Engine, type Options } from "../../engine/api";
import { EngineProvider } from "../../engine/context";
import { examples } from "./examples";
import { RunBar } from "./RunBar";
import { Status } from "./Status";
import { useCheck } from "./useCheck";
import { type Ran, useRun } from "./useRun";

const root = document.createElement("div");
document.body.append(root);
const project = examples.first;
let ran: Ran | null = null;

/** The page without its editor and its results. */
function Small({ options }: { options: Options }) {
  const draft = drafts.get(options) ?? { project, options };
  drafts.set(options, draft);
  const check = useCheck(draft);
  const description = check.checked?.description;
  const runner = useRun(project, options, description);
  ran = runner.ran;
  return (
    <>
      <Status check={check} options={options} onOptions={() => undefined} onGo={() => undefined} />
      <RunBar
        runner={runner}
        options={options}
        description={description}
        ready={check.checked !== null && !check.stale}
      />
    </>
  );
}

/** A draft stays the same object as long as nothing changes. */
const drafts = new Map<Options, { project: typeof project; options: Options }>();

async function show(engine: Engine, options: Options = {}): Promise<void> {
  act(() =>
    render(
      <EngineProvider engine={engine}>
        <Small options={options} />
      </EngineProvider>,
      root,
    ),
  );
  await pass(400);
}

/** Lets time pass, and what was promised come. */
async function pass(ms: number): Promise<void> {
  await act(async () => {
    await vi.advanceTimersByTimeAsync(ms);
  });
}

async function press(name: RegExp): Promise<void> {
  const button = [...root.querySelectorAll("button")].find((b) => name.test(b.textContent ?? ""));
  if (!button) throw new Error(`no button ${name} in ${root.textContent}`);
  act(() => button.click());
  await pass(0);
}

beforeEach(() => {
  vi.useFakeTimers();
  ran = null;
});

afterEach(() => {
  act(() => render(null, root));
  vi.useRealTimers();
});

describe("checking", () => {
  test("waits for a pause, and says what is there", async () => {
    const check = vi.fn(fakeEngine().check);
    const engine = fakeEngine({ check });
    act(() =>
      render(
        <EngineProvider engine={engine}>
          <Small options={{}} />
        </EngineProvider>,
        root,
      ),
    );
    await pass(200);
    expect(check).not.toHaveBeenCalled();
    await pass(200);
    expect(check).toHaveBeenCalledOnce();
    expect(root.textContent).toContain("2 variants, 2 classes, 5 flows, 2 runs each.");
  });

  test("errors are counted and located, and nothing can be run", async () => {
    const wrong = () => [
      { severity: "error" as const, code: "E1", message: "bad", file: "scenario.yaml", line: 3 },
    ];
    await show(fakeEngine({ wrong }));
    expect(root.textContent).toContain("One error.");
    expect(root.querySelector(".problem-place")?.textContent).toContain("scenario.yaml:3");
    expect(root.querySelector<HTMLButtonElement>(".run .button")?.disabled).toBe(true);
  });

  test("a crash is said", async () => {
    await show(fakeEngine({ check: () => Promise.reject(new Crash("out of memory")) }));
    expect(root.textContent).toContain("out of memory");
  });
});

describe("running", () => {
  test("what is short is run at once", async () => {
    await show(fakeEngine());
    await press(/^Run$/);
    expect(ran?.outcome.runs).toEqual(outcome().runs);
  });

  test("what is long is offered shorter, and run as chosen", async () => {
    const run = vi.fn(fakeEngine().run);
    const estimate = async () => ({ seconds: 600, memoryBytes: 3e7 });
    const options = { set: ["a=1"] };
    await show(fakeEngine({ run, estimate }), options);
    await press(/^Run$/);
    expect(root.textContent).toContain("This takes about 10 min here, and 30 MB of memory.");
    expect(run).not.toHaveBeenCalled();
    await press(/^2 runs of/);
    expect(run.mock.calls[0]?.[1]).toMatchObject({ runs: 2 });
    expect(run.mock.calls[0]?.[1]?.set?.[0]).toBe("a=1");
    expect(ran?.options.runs).toBe(2);
    await press(/^Run$/);
    await press(/^Run all of it$/);
    expect(run.mock.calls[1]?.[1]).toBe(options);
  });

  test("what needs more memory than a page has says so", async () => {
    const estimate = async () => ({ seconds: 1, memoryBytes: 3e9 });
    await show(fakeEngine({ estimate }));
    await press(/^Run$/);
    expect(root.textContent).toContain("3 GB of memory, which is more than a page has");
    await press(/^Do not run$/);
    expect(root.textContent).not.toContain("3 GB");
    expect(ran).toBe(null);
  });

  test("a stop is heard at once, and what comes later is not", async () => {
    let end: (o: ReturnType<typeof outcome>) => void = () => undefined;
    let signal: AbortSignal | undefined;
    const run: Engine["run"] = (_, __, going) => {
      signal = going?.signal;
      going?.progress?.({ fraction: 0.25, runsDone: 1, runs: 4, events: 9, remaining: 3.2 });
      return new Promise((resolve) => {
        end = resolve;
      });
    };
    await show(fakeEngine({ run }));
    await press(/^Run$/);
    expect(root.textContent).toContain("1 of 4 runs done. About 4 s left.");
    await press(/^Stop$/);
    expect(signal?.aborted).toBe(true);
    end(outcome());
    await pass(0);
    expect(ran).toBe(null);
    expect(root.textContent).toContain("Run");
  });

  test("a run that fails says why", async () => {
    await show(fakeEngine({ run: () => Promise.reject(new Crash("it trapped")) }));
    await press(/^Run$/);
    expect(root.querySelector(".run .problem")?.textContent).toContain("it trapped");
  });
});
