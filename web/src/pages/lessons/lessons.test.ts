import { describe, expect, it } from "vitest";
import { de } from "../../texts/de";
import { en } from "../../texts/en";
import { codeOf, readCode } from "./code";
import { readNumbers } from "./expected";
import { judge, tolerance } from "./judge";
import { allows, parametersOf, startOf } from "./lesson";
import { draw, hash, readNumber, shuffled } from "./number";
import { lessons } from "./set";
import {
  choiceNumbers,
  decimal,
  filled,
  type LessonWords,
  parameterWords,
  withUnit,
  wordsOf,
} from "./words";
import { readWork, written } from "./work";

/** Numbers that students may have. */
const numbers = ["0", ...Array.from({ length: 400 }, (_, i) => String(1 + i * 24_681))];

describe("a student's number", () => {
  it("has one form", () => {
    expect(readNumber(" 007 ")).toBe("7");
    expect(readNumber("")).toBe("0");
    expect(readNumber("123456789012")).toBe("123456789012");
    for (const bad of ["1234567890123", "-1", "1.5", "x", "__proto__", "１"]) {
      expect(readNumber(bad)).toBeUndefined();
    }
  });

  // Sheets that were printed have to fit for ever: these values must not change.
  it("draws the same for ever", () => {
    expect(hash("7/queues.rate")).toBe(774_791_502);
    expect(draw("0", "queues.rate", 6)).toBe(0);
    expect(numbers.slice(1, 8).map((n) => draw(n, "queues.rate", 6))).toEqual([
      1, 2, 1, 4, 2, 5, 1,
    ]);
  });

  it("draws each value about equally often", () => {
    const counts = [0, 0, 0, 0, 0];
    const draws = 5000;
    for (let i = 1; i <= draws; i++) {
      const drawn = draw(String(i), "queues.bytes", counts.length);
      counts[drawn] = (counts[drawn] ?? 0) + 1;
    }
    // Four standard deviations of a binomial.
    const p = 1 / counts.length;
    const allowed = 4 * Math.sqrt(draws * p * (1 - p));
    for (const c of counts) expect(Math.abs(c - draws * p)).toBeLessThan(allowed);
  });

  it("shuffles choices, nobody's not", () => {
    const things = ["a", "b", "c", "d"];
    expect(shuffled("0", "q", things)).toEqual(things);
    const orders = new Set(numbers.map((n) => shuffled(n, "q", things).join("")));
    expect(orders.size).toBe(24);
  });
});

describe("the parameters of each student", () => {
  it.each(lessons.map((l) => [l.name, l] as const))("fit the questions of %s", (_, l) => {
    for (const n of numbers) {
      const p = parametersOf(l, n);
      const start = startOf(l, p);
      for (const [k, control] of Object.entries(l.controls)) {
        expect(allows(control, start[k] ?? Number.NaN)).toBe(true);
      }
      for (const q of l.questions) {
        if (q.runs) continue;
        if (q.kind === "choice") {
          const right = q.right(p, []);
          expect(q.choices).toContain(right);
          expect(judge(q, p, [], right).kind).toBe("right");
          continue;
        }
        const expected = q.expected(p, []);
        expect(expected).toBeGreaterThan(0);
        expect(judge(q, p, [], String(expected)).kind).toBe("right");
        expect(judge(q, p, [], expected.toPrecision(Math.max(q.digits, 2))).kind).toBe("right");
        // A typical mistake may by chance give the right number, but is never taken for another.
        for (const [slip, x] of Object.entries(q.slips(p, []))) {
          const verdict = judge(q, p, [], String(x));
          const same = Math.abs(x - expected) <= tolerance(expected, q.digits);
          expect(verdict.kind).toBe(same ? "right" : "slip");
          if (verdict.kind === "slip")
            expect(
              wordsOf(en.lessons, l).questions[q.name]?.hints[verdict.slip],
              slip,
            ).toBeTruthy();
        }
      }
    }
  });

  it("make the choices of a question differ", () => {
    for (const l of lessons) {
      for (const n of numbers) {
        for (const q of l.questions) {
          const shown = Object.values(choiceNumbers(q, parametersOf(l, n)));
          expect(new Set(shown).size).toBe(shown.length);
        }
      }
    }
  });

  it("differ between students", () => {
    for (const l of lessons) {
      const all = new Set(numbers.map((n) => JSON.stringify(parametersOf(l, n))));
      expect(all.size, l.name).toBeGreaterThan(3);
    }
  });
});

const languages = { en: en.lessons, de: de.lessons };

describe.each(Object.entries(languages))("the words in %s", (_, t) => {
  it.each(lessons.map((l) => [l.name, l] as const))("of %s are there", (_, l) => {
    const words: LessonWords = wordsOf(t as never, l);
    const keys = (x: object) => Object.keys(x).sort();
    expect(keys(words.controls)).toEqual(keys(l.controls));
    expect(keys(words.measures)).toEqual(l.measures.map((m) => m.name).sort());
    expect(new Set(keys(words.curves))).toEqual(new Set(l.drawn.map((d) => d.metric)));
    expect(keys(words.questions)).toEqual(l.questions.map((q) => q.name).sort());
    const p = parametersOf(l, "0");
    for (const k of [...keys(l.parameters), ...keys(l.levels?.(p) ?? {})]) {
      expect(t.names).toHaveProperty(k);
    }
    const given = parameterWords(l, p);
    for (const q of l.questions) {
      const asked = words.questions[q.name];
      const named = q.kind === "choice" ? [...q.choices] : [];
      expect(keys(asked?.choices ?? {})).toEqual(named.sort());
      const shown = choiceNumbers(q, p);
      const texts = [asked?.ask, asked?.why, ...Object.values(asked?.hints ?? {})];
      for (const text of texts) expect(filled(text ?? "{", given)).not.toMatch(/[{}]/);
      for (const text of Object.values(asked?.choices ?? {})) {
        expect(filled(text, shown)).not.toMatch(/[{}]/);
      }
    }
  });
});

it("numbers are written as the language has it", () => {
  expect(decimal(1.25, 4, "en")).toBe("1.25");
  expect(decimal(12345.678, 4, "de")).toBe("12350");
  expect(decimal(0.0002, 3, "de")).toBe("0,0002");
});

it("an answer has its unit once on the sheet", () => {
  expect(withUnit("2,5", "ms")).toBe("2,5 ms");
  expect(withUnit("2,5 ms", "ms")).toBe("2,5 ms");
  expect(withUnit("5", "")).toBe("5");
});

describe("the check code", () => {
  const right = Array.from({ length: 26 }, (_, i) => i % 3 === 0);

  it("says which questions are right", () => {
    for (const n of numbers.slice(0, 50)) {
      const code = codeOf(n, right);
      expect(code).toMatch(/^[0-9A-Z]{4}(-[0-9A-Z]{4})*$/);
      expect(readCode(n, code, 26)).toEqual(right);
      expect(readCode(n, code.toLowerCase().replace(/-/g, " "), 26)).toEqual(right);
    }
  });

  it("finds every single wrong digit", () => {
    const code = codeOf("7", right).replace(/-/g, "");
    for (let i = 0; i < code.length; i++) {
      for (const digit of "0123456789ABCDEFGHJKMNPQRSTVWXYZ") {
        if (digit === code[i]) continue;
        expect(readCode("7", code.slice(0, i) + digit + code.slice(i + 1), 26)).toBeUndefined();
      }
    }
  });

  it("is no code of another number, and nothing else is one", () => {
    const code = codeOf("7", right);
    const others = numbers.filter((n) => readCode(n, code, 26));
    // One of 2^14 by chance.
    expect(others.length).toBeLessThan(2);
    for (const bad of ["", "x", "0".repeat(500), "<b>", "ÄÖÜ"]) {
      expect(readCode("7", bad, 26)).toBeUndefined();
    }
  });
});

it("a teacher's list of numbers may have them in any form, each once", () => {
  expect(readNumbers("7, 007\n12;0  3")).toEqual({ numbers: ["7", "12", "0", "3"], bad: [] });
  expect(readNumbers("7 x -1").bad).toEqual(["x", "-1"]);
  expect(readNumbers(" \n").numbers).toEqual([]);
});

describe("kept work", () => {
  const work = {
    queues: { given: { wait: "2.5" }, tries: { wait: 2 }, controls: { load: 80 } },
  };

  it("is read as it was written", () => {
    const found = readWork(written("7", work));
    expect(found?.number).toBe("7");
    expect(found?.work.queues).toEqual(work.queues);
    expect(found?.work.l4s).toEqual({ given: {}, tries: {}, controls: {} });
  });

  it("is none if it is something else", () => {
    const hostile = [
      "",
      "null",
      "[]",
      "1",
      "{",
      '{"format":"spillgate-lessons-1"}',
      "x".repeat(2e5),
    ];
    for (const text of hostile) expect(readWork(text)).toBeUndefined();
    expect(readWork(written("<b>", work))).toBeUndefined();
  });

  it("loses what no lesson has, and keeps the rest", () => {
    const text = JSON.stringify({
      format: "spillgate-lessons-1",
      number: "7",
      __proto__: { polluted: true },
      lessons: {
        __proto__: { polluted: true },
        queues: {
          given: { wait: "9".repeat(1000), transmission: 5, nothing: "x", growth: null },
          tries: { wait: -1, transmission: 1.5, growth: 1e12 },
          controls: { load: 1e9, lengths: 0.5, more: 1 },
        },
        scheduling: [1, 2],
        starvation: "x",
      },
    });
    const found = readWork(text)?.work;
    expect(found?.queues?.given).toEqual({ wait: "9".repeat(60) });
    expect(found?.queues?.tries).toEqual({ growth: 9999 });
    expect(found?.queues?.controls).toEqual({});
    expect(Object.keys(found ?? {})).toEqual(lessons.map((l) => l.name));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
