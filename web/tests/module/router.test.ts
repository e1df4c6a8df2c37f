import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type Engine, InputProblem, type Outline, type Understood } from "../../src/engine/api";
import type { Methods, Task } from "../../src/engine/desk";
import { type Analysis, analyze } from "../../src/pages/router/analysis";
import { leavesOf } from "../../src/pages/router/classes";
import { changedLines, knobsOf, withNumbers } from "../../src/pages/router/ios";
import { lineRate, rowsByRule } from "../../src/pages/router/loads";
import { build, overheadOf } from "../../src/pages/router/scenario";
import { changedCommands, ratesOf } from "../../src/pages/router/tc";
import { arrivedAt } from "../../src/pages/router/verdict";
import { random } from "../recordings";
import { withModule } from "./module";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const within = (folder: string, end: string) =>
  readdirSync(`${root}${folder}`)
    .filter((name) => name.endsWith(end))
    .map((name) => `${folder}/${name}`);

/** Configurations of every kind that the reader is tested with. */
const FILES = [
  ...within("crates/import/tests/configs", ".cfg"),
  ...within("crates/import/tests/tc", ".sh"),
  "examples/voice-edge/edge.cfg",
  "examples/ce-node/policies.cfg",
  "corpus/ios.cfg",
];

/** The guarantees of this one exceed its interface, of which the run says so at its line. */
const REFUSED = ["edits.cfg Serial0/0/0: E0410"];

const TASK: Task = { progress: () => {}, pause: async () => {} };

/** The methods as a page has them. */
function engineOf(methods: Methods): Engine {
  const asked =
    (name: keyof Methods) =>
    async (...args: unknown[]) => {
      try {
        return await (methods[name] as (...a: unknown[]) => unknown)(TASK, ...args);
      } catch (error) {
        const { diagnostics } = error as { diagnostics?: InputProblem["diagnostics"] };
        throw diagnostics ? new InputProblem(diagnostics) : error;
      }
    };
  return Object.fromEntries(
    Object.keys(methods).map((name) => [name, asked(name as keyof Methods)]),
  ) as unknown as Engine;
}

interface Case {
  label: string;
  analysis: Analysis;
}

async function casesOf(engine: Engine, path: string): Promise<Case[]> {
  const text = readFileSync(`${root}${path}`, "latin1");
  const platform = /\.(ios-\w+)\.cfg$/.exec(path)?.[1] ?? "ios";
  const name = path.split("/").at(-1);
  let first: Analysis;
  try {
    first = await analyze(engine, text, platform, null);
  } catch (error) {
    if (error instanceof InputProblem) return [];
    throw error;
  }
  const cases: Case[] = [];
  for (const target of first.targets) {
    const label = `${name} ${target.iface ?? target.policy}`;
    try {
      cases.push({ label, analysis: await analyze(engine, text, platform, target) });
    } catch (error) {
      // An interface of several circuits: each is a target of its own.
      expect((error as InputProblem).diagnostics.map((d) => d.code)).toEqual(["E0723"]);
    }
  }
  return cases;
}

/** The project of a page; if it is to be short, one run of about as many packets on any line. */
function projectOf(a: Analysis, short = false) {
  const rate = lineRate(a.iface) ?? 100e6;
  const loads = rowsByRule(leavesOf(a.policy), rate).map((l) =>
    // Some packets of each class in little time.
    short ? { ...l, rate: Math.max(l.rate, rate / 50) } : l,
  );
  const setup = {
    text: a.text,
    tc: a.tc,
    platform: a.platform,
    ...a.target,
    rate,
    delay: 0.01,
    overhead: a.iface?.circuit ? "" : overheadOf(a.target?.iface ?? ""),
    loads,
    ...(short ? { duration: rate > 10e6 ? 0.1 : 1, runs: 1 } : {}),
  };
  return { loads, project: build(setup) };
}

/** A policy without the lines at which it stands. */
function plain(o: Outline): unknown {
  const { line: _, ...rest } = o;
  return { ...rest, classes: o.classes.map(plain) };
}

withModule("the router page with the core", (methods) => {
  const engine = async () => engineOf(await methods());

  test("every scenario that is built is valid, and packets come to the class they are for", async () => {
    const core = await engine();
    const refused: string[] = [];
    let tried = 0;
    for (const path of FILES)
      for (const { label, analysis } of await casesOf(core, path)) {
        const { loads, project } = projectOf(analysis, true);
        tried += 1;
        try {
          await core.check(projectOf(analysis).project);
          const { summary } = await core.run(project);
          for (const [i, load] of loads.entries()) {
            if (load.kind === "none" || !analysis.leaves[i]?.sure) continue;
            // A class that only polices has no queue of its own.
            const packets = arrivedAt({ summary }, load.path) ?? 1;
            expect([label, load.name, packets > 0]).toEqual([label, load.name, true]);
          }
        } catch (error) {
          if (!(error instanceof InputProblem)) throw error;
          refused.push(`${label}: ${error.diagnostics.map((d) => d.code).join()}`);
        }
      }
    expect(refused).toEqual(REFUSED);
    expect(tried).toBeGreaterThan(60);
  }, 300_000);

  test("changed lines pasted behind the configuration give the changed policy", async () => {
    const core = await engine();
    const draw = random(7);
    let tried = 0;
    for (const path of FILES) {
      for (const { label, analysis: a } of await casesOf(core, path)) {
        const knobs = a.tc
          ? ratesOf(a.text, a.target?.iface ?? "")
          : knobsOf(a.text, a.policy?.policy ?? "");
        for (let i = 0; i < 6 && knobs.length > 0; i++) {
          // Less than before, so that no sum exceeds what there is.
          const moved = knobs
            .filter(() => draw() < 0.6)
            .map((k) => [k, k.value * (0.4 + 0.6 * draw())] as const);
          const changed = withNumbers(a.text, moved);
          const lines = (a.tc ? changedCommands : changedLines)(a.text, changed);
          const pasted = `${a.text}\n${lines.join("\n")}\n`;
          const read = async (text: string): Promise<Understood> =>
            core.understand("router.cfg", text, a.platform, a.target?.iface);
          const policyOf = (u: Understood) =>
            a.target?.iface === undefined
              ? u.unattached.find((p) => p.policy === a.target?.policy)
              : u.interfaces[0]?.policy;
          const [one, other] = [policyOf(await read(changed)), policyOf(await read(pasted))];
          if (!one || !other) throw new Error(`${label} has no policy any more`);
          expect([label, lines, plain(other)]).toEqual([label, lines, plain(one)]);
          tried += 1;
        }
      }
    }
    expect(tried).toBeGreaterThan(100);
  }, 300_000);

  test("a configuration of 50,000 lines is read in less than a second", async () => {
    const core = await engine();
    const interfaces = Array.from(
      { length: 12_500 },
      (_, i) =>
        `interface Vlan${i}\n description x\n ip address 10.0.${i % 250}.1 255.255.255.0\n!\n`,
    );
    const text = interfaces.join("") + readFileSync(`${root}examples/ce-node/policies.cfg`, "utf8");
    // The processor's time, not the clock's: the machine may do other things, too.
    const begin = process.cpuUsage();
    const { targets } = await analyze(core, text, "ios", null);
    const { user, system } = process.cpuUsage(begin);
    expect(targets.length).toBeGreaterThan(0);
    expect((user + system) / 1e6).toBeLessThan(1);
  });
});
