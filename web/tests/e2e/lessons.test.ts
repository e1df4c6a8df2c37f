import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { expect, it, vi } from "vitest";
import type { Engine, Outcome } from "../../src/engine/api";
import type { Task } from "../../src/engine/desk";
import { readCode } from "../../src/pages/lessons/code";
import { Exercise } from "../../src/pages/lessons/exercise";
import type { Lesson, Question } from "../../src/pages/lessons/lesson";
import { lessonOf, lessons } from "../../src/pages/lessons/set";
import { en } from "../../src/texts/en";
import { moduleMethods } from "../module/module";
import { inBrowser } from "./browser";
import { serious, wider } from "./looks";

const NUMBER = "7";
const t = en.lessons;
/** Runs take a while on a busy machine. */
const SOON = { timeout: 90_000 };
vi.setConfig({ testTimeout: 240_000 });

/** The simulator beside the browser: it says what is right. */
const task: Task = { progress: () => {}, pause: async () => {} };
const engine: Pick<Engine, "run"> = {
  run: async (...asked) => (await (await moduleMethods()).run(task, ...asked)) as Outcome,
};

const form = (page: Page, l: Lesson, q: Question) =>
  page.locator("form.ask").nth(l.questions.indexOf(q));

const digests = (o: Outcome) => o.runs.map((r) => r.digest);

async function answer(of: Locator, q: Question, given: string): Promise<void> {
  if (q.kind === "number") await of.getByRole("textbox").fill(given);
  else await of.locator(`input[value="${given}"]`).check();
  await of.getByRole("button", { name: t.check }).click();
}

inBrowser("the lessons", (open) => {
  it.each(lessons.map((l) => [l.name, l] as const))(
    "%s is answered, kept and printed",
    async (_, l) => {
      const exercise = new Exercise(l, NUMBER, engine);
      const { page } = await open(`#/lessons/${l.name}?n=${NUMBER}`, { dark: true });
      page.setDefaultTimeout(SOON.timeout);
      await page.locator(".lesson-measured").waitFor();
      await page.locator(".watch-stages canvas").first().waitFor();
      for (const q of l.questions) {
        const of = form(page, l, q);
        const right = String(await exercise.answer(q));
        const wrong =
          q.kind === "number" ? String(Number(right) * 8) : q.choices.find((c) => c !== right);
        await answer(of, q, wrong ?? "");
        await of.getByText(t.wrong).waitFor();
        // What is said to a wrong answer gives the right one to nobody.
        if (q.kind === "number")
          expect(await of.getByRole("status").textContent()).not.toContain(right);
        await answer(of, q, right);
        await of.getByText(t.right, { exact: true }).waitFor();
      }
      expect(await wider(page)).toBe(0);
      expect(await serious(page)).toEqual([]);

      await page.reload();
      const kept = page.getByText(t.right, { exact: true });
      await expect.poll(() => kept.count(), SOON).toBe(l.questions.length);

      await page.goto(`${page.url().split("#")[0]}#/lessons/sheet?n=${NUMBER}`);
      const code = page.locator(".sheet-code");
      await expect.poll(() => code.textContent(), SOON).toMatch(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/);
      const part = page.locator(".sheet-part").nth(lessons.indexOf(l as never));
      expect(await part.getByText(t.marks.right).count()).toBe(l.questions.length);
      const all = lessons.flatMap((x) => x.questions.map(() => x.name === l.name));
      expect(readCode(NUMBER, (await code.textContent()) ?? "", all.length)).toEqual(all);
      const measured = l.questions.filter((q) => q.runs);
      for (const q of measured) {
        const [digest = ""] = await exercise.digests(q);
        expect(await part.textContent()).toContain(digest.slice(0, 8));
      }
      // On paper there is nothing of the frame, and ink is black.
      await page.emulateMedia({ media: "print" });
      const ink = await page.evaluate(() => getComputedStyle(document.body).color);
      expect(ink).toBe("rgb(0, 0, 0)");
      expect(await page.locator(".top").isVisible()).toBe(false);
      expect(await part.isVisible()).toBe(true);
      expect((await page.pdf({ format: "A4" })).length).toBeGreaterThan(10_000);
    },
  );

  it("moves by the sliders, and keeps where they stood", async () => {
    const { page } = await open("#/lessons/queues");
    const wait = page.locator(".lesson-measured tbody tr").nth(1).locator("td").first();
    const before = await wait.textContent();
    const slider = page.getByRole("slider", { name: t.set.queues.controls.load });
    await slider.focus();
    for (let i = 0; i < 3; i++) await slider.press("PageUp");
    await expect.poll(() => wait.textContent(), SOON).not.toBe(before);
    const stood = await slider.inputValue();
    await page.reload();
    await page.locator(".lesson-measured").waitFor();
    expect(await slider.inputValue()).toBe(stood);
    await page.getByRole("button", { name: t.reset }).click();
    await expect.poll(() => wait.textContent(), SOON).toBe(before);
  });

  it("gives other numbers by the student's number", async () => {
    const { page } = await open("#/lessons");
    await page.getByLabel(t.number).fill("4711");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url(), SOON).toContain("n=4711");
    await page.getByRole("link", { name: t.set.policer.title }).click();
    const yours = page.locator(".lesson-yours");
    await expect.poll(() => yours.textContent(), SOON).toContain(t.numberIs("4711"));
  });

  it("saves the work as a file, erases it, and opens the file again", async () => {
    const { page } = await open(`#/lessons/queues?n=${NUMBER}`);
    const [q] = lessons[0].questions;
    const exercise = new Exercise(lessons[0], NUMBER, engine);
    await answer(
      form(page, lessons[0], q as Question),
      q as Question,
      String(await exercise.answer(q as Question)),
    );
    await page.getByText(t.right, { exact: true }).waitFor();
    await page.getByRole("link", { name: t.all }).first().click();
    const answered = page.getByText(t.answered(1, 3));
    await answered.waitFor();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: t.save }).click(),
    ]);
    expect(file.suggestedFilename()).toBe("spillgate-lessons-7.json");
    const text = readFileSync(await file.path(), "utf8");
    await page.getByRole("button", { name: t.erase }).click();
    await page.getByRole("dialog").getByRole("button", { name: t.erase }).click();
    await expect.poll(() => answered.count(), SOON).toBe(0);
    const chooser = page.locator('input[type="file"]');
    await chooser.setInputFiles({
      name: "x.json",
      mimeType: "application/json",
      buffer: Buffer.from("{}"),
    });
    await page.getByText(t.notLoaded).waitFor();
    const buffer = Buffer.from(text);
    await chooser.setInputFiles({ name: "7.json", mimeType: "application/json", buffer });
    await answered.waitFor();
  });

  it("runs nothing that a browser's store or an address holds", async () => {
    const { page } = await open("#/lessons/queues?n=<img src=x onerror=alert(1)>", {
      before: () => {
        const hostile = "<img src=x onerror=\"document.title='run'\">";
        localStorage.setItem("spillgate.lessons.number", hostile);
        const lessons = {
          queues: { given: { wait: hostile, growth: hostile }, controls: { load: 1e9 } },
        };
        const work = { format: "spillgate-lessons-1", number: "0", lessons };
        localStorage.setItem("spillgate.lessons.work.0", JSON.stringify(work));
      },
    });
    await page.locator(".lesson-measured").waitFor();
    await page.getByText(t.said.unreadable).first().waitFor();
    await page.goto(`${page.url().split("#")[0]}#/lessons/sheet`);
    await expect.poll(() => page.locator(".sheet-code").textContent(), SOON).toMatch(/-/);
    expect(await page.title()).not.toBe("run");
    expect(await page.locator("img").count()).toBe(0);
  });

  it("tells a teacher the answers of a list of numbers, and what a code says", async () => {
    const { page } = await open("#/lessons/answers");
    await page.getByLabel(t.numbers).fill("7, 4711");
    await page.getByRole("button", { name: t.compute }).click();
    const save = page.getByRole("button", { name: t.csv });
    await expect.poll(() => save.isEnabled(), SOON).toBe(true);
    await expect.poll(() => page.getByRole("button", { name: t.compute }).count(), SOON).toBe(1);
    const codes = page.locator(".table").first();
    const code = (await codes.textContent())?.match(/[0-9A-Z]{4}-[0-9A-Z]{4}/)?.[0] ?? "";
    await page.locator(".answers-code input").nth(0).fill("7");
    await page.locator(".answers-code input").nth(1).fill(code);
    await page.getByText(t.codeRight(26, 26)).waitFor();
    const [file] = await Promise.all([page.waitForEvent("download"), save.click()]);
    const lines = readFileSync(await file.path(), "utf8")
      .trim()
      .split("\r\n");
    expect(lines).toHaveLength(1 + 2 * 26);
    expect(await wider(page)).toBe(0);
    expect(await serious(page)).toEqual([]);
  });

  it("tells the command that gives the same digest, and opens the run as a scenario", async () => {
    const { page } = await open(`#/lessons/policer?n=${NUMBER}`);
    await page.locator(".lesson-measured").waitFor();
    const exercise = new Exercise(lessonOf("policer") as Lesson, NUMBER, engine);
    const [digest = ""] = digests(await exercise.outcome());
    await page.getByRole("button", { name: en.share.command }).click();
    const dialog = page.getByRole("dialog");
    await expect.poll(() => dialog.textContent(), SOON).toContain(digest);
    expect(await dialog.getByRole("textbox").inputValue()).toContain("lesson-policer.yaml");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: t.openScenario }).click();
    await expect.poll(() => page.url(), SOON).toContain("#/scenario?s=");
    await page.getByText("tokens").first().waitFor();
  });

  it("works in the form that is one file", async () => {
    const { page, requests } = await open(`#/lessons/queues?n=${NUMBER}`, { alone: true });
    await page.locator(".lesson-measured").waitFor();
    const exercise = new Exercise(lessons[0], NUMBER, engine);
    const [q] = lessons[0].questions as [Question];
    await answer(form(page, lessons[0], q), q, String(await exercise.answer(q)));
    await page.getByText(t.right, { exact: true }).waitFor();
    expect(requests.filter((address) => !/^(data|blob):/.test(address))).toHaveLength(1);
  });

  it("speaks German, in the dark", async () => {
    const look = { locale: "de-DE", width: 400, dark: true };
    const { page } = await open("#/lessons/bufferbloat", look);
    expect(await serious(page)).toEqual([]);
    await page.getByRole("heading", { name: "Fragen" }).waitFor();
    await page.locator(".lesson-measured").waitFor();
    expect(await wider(page)).toBe(0);
  });
});
