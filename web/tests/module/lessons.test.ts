import { expect, it } from "vitest";
import type { Engine, Outcome } from "../../src/engine/api";
import type { Task } from "../../src/engine/desk";
import { Exercise } from "../../src/pages/lessons/exercise";
import { expectedOf } from "../../src/pages/lessons/expected";
import { judge, tolerance } from "../../src/pages/lessons/judge";
import { type Lesson, type NumberQuestion, startOf } from "../../src/pages/lessons/lesson";
import { curves, mean, measured, measureRow, row } from "../../src/pages/lessons/outcome";
import { lessons } from "../../src/pages/lessons/set";
import { queues } from "../../src/pages/lessons/set/queues";
import { SEGMENT } from "../../src/pages/lessons/set/sawtooth";
import { withModule } from "./module";

const numbers = ["0", "7", "4711"];
const task: Task = { progress: () => {}, pause: async () => {} };

const digests = (o: Outcome) => o.runs.map((r) => r.digest);

withModule("the lessons", (methods) => {
  const engine: Pick<Engine, "run"> = {
    run: async (...asked) => (await (await methods()).run(task, ...asked)) as Outcome,
  };
  const exercise = (name: string, number: string) => {
    const found = lessons.find((l) => l.name === name) as Lesson;
    return new Exercise(found, number, engine);
  };

  it.each(lessons.map((l) => [l.name, l] as const))(
    "%s runs and shows what it says",
    async (_, l) => {
      for (const number of numbers) {
        const e = new Exercise(l, number, engine);
        const controls = startOf(l, e.parameters);
        const o = await e.run(l.chosen(e.parameters, controls));
        console.log(`${l.name}, number ${number}: ${o.seconds.toFixed(2)} s`);
        for (const m of l.measures) {
          for (const v of o.description.variants) {
            expect(measureRow(o, v, m)?.mean, m.name).toBeTypeOf("number");
          }
        }
        // What the table shows at first is what answers are checked by.
        if (l.questions.some((q) => q.runs)) {
          expect(digests(o)).toEqual(digests(await e.outcome()));
        }
        const { variants, links } = o.description;
        expect(links.map((link) => link.name)).toContain(l.link);
        for (const v of l.watched) expect(variants).toContain(v);
        for (const { place, metric } of l.drawn) expect(curves(o, place, metric)).not.toEqual([]);
      }
    },
  );

  // Who has the file only, on the command line, has the standard exercise.
  it.each(lessons.map((l) => [l.name, l] as const))(
    "%s is as the file for nobody",
    async (_, l) => {
      const e = new Exercise(l, "0", engine);
      expect(digests(await engine.run(e.project))).toEqual(digests(await e.outcome()));
    },
  );

  it.each(lessons.map((l) => [l.name, l] as const))("%s accepts what is right", async (_, l) => {
    for (const number of numbers) {
      const e = new Exercise(l, number, engine);
      for (const q of l.questions) {
        const outcomes = await e.outcomes(q);
        const right = await e.answer(q);
        expect(await e.judge(q, String(right))).toEqual({ kind: "right" });
        if (q.kind === "choice") {
          expect(q.choices).toContain(right);
          for (const other of q.choices.filter((c) => c !== right)) {
            expect(await e.judge(q, other)).toEqual({ kind: "slip", slip: other });
          }
          continue;
        }
        for (const [slip, x] of Object.entries(q.slips(e.parameters, outcomes))) {
          const same = Math.abs(x - Number(right)) <= tolerance(Number(right), q.digits);
          const { kind } = judge(q, e.parameters, outcomes, String(x));
          expect(kind, `${q.name}: ${slip}`).toBe(same ? "right" : "slip");
        }
        const eight = judge(q, e.parameters, outcomes, String(Number(right) * 8));
        if (q.unit !== "") expect(eight.kind, q.name).not.toBe("right");
      }
    }
  });

  it("queues wait as the formula says, within the interval of the runs", async () => {
    // Of eight runs: from the 95 % interval to one that misses once in a thousand times.
    const wider = 5.408 / 2.365;
    for (const number of numbers) {
      for (const [load, lengths] of [
        [50, 0],
        [80, 0],
        [50, 1],
        [80, 1],
      ] as const) {
        const e = exercise("queues", number);
        const controls = { load, lengths };
        const o = await e.run(e.lesson.chosen(e.parameters, controls));
        for (const m of queues.measures) {
          const theory = m.theory?.(e.parameters, controls);
          const found = row(o, undefined, m.scope, m.of, m.metric);
          if (theory === undefined || !found) continue;
          const half = ((found.high ?? 0) - (found.low ?? 0)) / 2;
          const off = Math.abs((found.mean ?? 0) - theory);
          expect(off, `${m.name} at ${load} %`).toBeLessThan(half * wider);
        }
      }
    }
  });

  it("a call with priority waits for one packet at most, and nearly so long", async () => {
    for (const number of numbers) {
      const e = exercise("scheduling", number);
      const { bytes = 0, rate = 0 } = e.parameters;
      const longest = (bytes * 8) / (rate * 1e6);
      const o = await e.outcome();
      const most = mean(o, "priority", "queue", "line/voice", "sojourn_max");
      // The largest in each run, on average. Waits are uniform where the line is always busy: of N
      // all are below (1 - x) of the longest with probability (1 - x)^N, here one in a million.
      const packets = mean(o, "priority", "queue", "line/voice", "packets_offered");
      expect(most).toBeLessThanOrEqual(longest);
      expect(most).toBeGreaterThan(longest * 1e-6 ** (1 / packets));
    }
  });

  it("fair queueing gives the greedy flow what the others leave", async () => {
    for (const number of numbers) {
      const e = exercise("scheduling", number);
      const { bytes = 0, rate = 0, modest = 0 } = e.parameters;
      const [, q] = e.lesson.questions;
      const o = await e.outcome();
      const { duration } = o.description.measurement;
      // The modest flow's packets are Poisson: four standard deviations of the mean over the runs.
      const wanted = (rate * 1e6 * modest) / 100;
      const packets = (wanted * duration * o.description.runs) / (8 * bytes);
      const allowed = (4 * wanted) / Math.sqrt(packets);
      const got = mean(o, "fair", "class", "greedy", "throughput");
      expect(Math.abs(got - Number(await e.answer(q as never)) * 1e6)).toBeLessThan(allowed);
    }
  });

  it("priority leaves the data what the formulas say, and a limit what is above it", async () => {
    for (const number of numbers) {
      const e = exercise("starvation", number);
      const { count = 0 } = e.parameters;
      const [left, starve, limited] = e.lesson.questions;
      const answer = async (q: typeof left) => Number(await e.answer(q as never));
      const full = await answer(starve);
      const rate = async (cameras: number, variant: string) => {
        const o = await e.run([`traffic.camera.count=${cameras}`]);
        return mean(o, variant, "class", "data", "throughput");
      };
      const { duration } = (await e.outcome()).description.measurement;
      // A packet of each flow more or less at both ends of the measured period.
      const edges = (cameras: number) => ((cameras + 1) * 2 * 1500 * 8) / duration;
      const some = await rate(count, "unlimited");
      expect(Math.abs(some - (await answer(left)) * 1e6)).toBeLessThan(edges(count));
      expect(await rate(full, "unlimited")).toBe(0);
      expect(await rate(full - 1, "unlimited")).toBeGreaterThan(0);
      // The policer's bucket of 30 kB may be full at one end and empty at the other.
      const rest = await rate(full + 1, "limited");
      const bucket = (30_000 * 8) / duration;
      const off = Math.abs(rest - (await answer(limited)) * 1e6);
      expect(off).toBeLessThan(edges(full + 1) + bucket);
    }
  });

  it("a sawtooth ends where path and buffer are full", async () => {
    for (const number of numbers) {
      const e = exercise("sawtooth", number);
      const [, top] = e.lesson.questions;
      const o = await e.outcome();
      const [cwnd] = curves(o, "flow download", "cwnd");
      if (!cwnd) throw new Error("no cwnd");
      const most = measured(o, cwnd).reduce((a, b) => Math.max(a, b)) / SEGMENT;
      const expected = Number(await e.answer(top as never));
      expect(cwnd.unit).toBe("B");
      // As many more as the question allows: one is being sent, one is lost.
      expect(most).toBeGreaterThan(expected);
      expect(most).toBeLessThan(expected + 2.5);
    }
  });

  it("a buffer of one path keeps the line busy, half of that does not", async () => {
    for (const number of numbers) {
      const e = exercise("sawtooth", number);
      const use = async (buffer: number) => {
        const o = await e.run(e.lesson.chosen(e.parameters, { buffer, sender: 0 }));
        return mean(o, undefined, "link", "line", "utilization");
      };
      const { rate = 0, rtt = 0 } = e.parameters;
      // The window grows by a packet each round trip: after a loss the line waits for two at most.
      const path = (rate * 1e3 * rtt) / (8 * 1500);
      const cycle = (path * 2) ** 2 / 2;
      expect(await use(100)).toBeGreaterThan(1 - 2 / cycle);
      expect(await use(50)).toBeLessThan(await use(100));
    }
  });

  it("a full buffer is as long as the formula says", async () => {
    for (const number of numbers) {
      const e = exercise("bufferbloat", number);
      const [full] = e.lesson.questions;
      const { rate = 0, buffer = 0 } = e.parameters;
      const expected = Number(await e.answer(full as never)) / 1e3;
      const o = await e.outcome();
      const most = row(o, "FIFO", "queue", "up/fifo", "sojourn_max")?.mean ?? 0;
      const packet = (1500 * 8) / (rate * 1e6);
      // Some that wait are the call's, 50 a second and as many as jitter adds, of 200 B.
      const least = ((buffer - 2) * packet) / (1 + 50 * packet * (1 - 200 / 1500));
      expect(most).toBeLessThanOrEqual(expected + packet);
      expect(most).toBeGreaterThan(least);
    }
  });

  it("a policer passes and a shaper delays what the formulas say, within a packet", async () => {
    for (const number of numbers) {
      const e = exercise("policer", number);
      const [passed, wait] = e.lesson.questions;
      const { size = 0, fill = 0 } = e.parameters;
      const o = await e.outcome();
      const got = size * (1 - mean(o, "policer", "class", "burst", "loss_ratio"));
      // Less than a packet's tokens are left over, and none come before the first packet is there.
      const allowed = 1 + fill / 20;
      expect(Math.abs(got - Number(await e.answer(passed as never)))).toBeLessThan(allowed);
      const late = mean(o, "shaper", "queue", "line/bursts", "sojourn_max") * 1e3;
      const packet = 8 / fill;
      expect(Math.abs(late - Number(await e.answer(wait as never)))).toBeLessThan(packet);
    }
  });

  it("DualPI2 drops with the square that the formula gives for its marks", async () => {
    for (const number of numbers) {
      const e = exercise("l4s", number);
      const [q] = e.lesson.questions as [NumberQuestion<string>];
      const o = await e.outcome();
      const [base] = curves(o, "down/dualpi2", "base_probability");
      const [drops] = curves(o, "down/dualpi2", "drop_probability");
      if (!base || !drops) throw new Error("no probabilities");
      expect(base.values.filter((p) => p > 0).length).toBeGreaterThan(100);
      for (const [i, p] of base.values.entries()) {
        if (Number.isNaN(p)) continue;
        // The coupling marks with 2 p'.
        const percent = q.expected({ ...e.parameters, marked: 200 * p }, []);
        expect(drops.values[i]).toBeCloseTo(percent / 100, 12);
      }
    }
  });

  it("a teacher gets all answers of a number", async () => {
    const { answers, code } = await expectedOf(engine, "7");
    expect(answers.size).toBe(lessons.reduce((sum, l) => sum + l.questions.length, 0));
    expect(code).toMatch(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/);
  });
});
