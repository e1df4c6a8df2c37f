import type { Locator, Page } from "playwright-core";
import { expect, it, vi } from "vitest";
import { inBrowser } from "./browser";
import { serious, wider } from "./looks";

/** Long enough for a machine that does other things, too. */
const PATIENCE = 30_000;

vi.setConfig({ testTimeout: 4 * PATIENCE });

/** What a page comes to say. */
function soon<T>(said: () => Promise<T>) {
  return expect.poll(said, { timeout: PATIENCE });
}

/** The text in the editor, through its root of its own. */
function editor(page: Page): Locator {
  return page.locator(".cm-content");
}

async function write(page: Page, text: string): Promise<void> {
  await editor(page).click();
  await page.keyboard.press("Control+A");
  // As pasted: what is typed would get brackets closed and lines indented.
  await page.keyboard.insertText(text);
}

async function example(page: Page, name: string): Promise<void> {
  await page.getByLabel("Example").selectOption(name);
}

function status(page: Page): Locator {
  return page.locator(".status-line");
}

const runButton = (page: Page) => page.getByRole("button", { name: "Run", exact: true });

/** Runs what is written, all of it, though a busy machine may take it for long. */
async function run(page: Page): Promise<void> {
  await runButton(page).click();
  const conclusion = page.locator(".conclusion-head");
  const all = page.getByRole("button", { name: "Run all of it" });
  await conclusion.or(all).first().waitFor();
  if (await all.isVisible()) await all.click();
  await conclusion.waitFor();
}

/** A flow through a line, in few words; `limit` is what tests get wrong. */
const SMALL = (limit: string, duration = "5 s") => `schema_version: 1
topology:
  nodes: [a, b]
  links:
    up: {from: a, to: b, rate: 1 Mb/s, delay: 5 ms, policy: q}
policies:
  q: {fifo: {limit: ${limit}}}
traffic:
  - flow: {name: voice, from: a, to: b, source: {cbr: {rate: 100 kb/s, packet: 200 B}}}
measurement: {warmup: 0 s, duration: ${duration}}
runs: {count: 2}
sla:
  - {class: voice, metric: owd_max, max: 20 ms}
`;

/** A run of minutes on any machine, as long as the simulator's time and its series allow. */
const LONG = "8000000 s, interval: 10 s";

inBrowser("the scenario page", (open) => {
  it("locates an error, leads to it, and runs what is mended", async () => {
    const { page } = await open("#/scenario");
    await write(page, SMALL("50 parsecs"));
    const problem = page.locator(".status .problem");
    await problem.waitFor();
    expect(await problem.textContent()).toContain("scenario.yaml:7:21");
    expect(await runButton(page).isDisabled()).toBe(true);
    expect(await page.locator(".cm-lintRange-error").textContent()).toBe("50 parsecs");

    await problem.getByRole("button").click();
    await page.locator(".cm-focused .cm-activeLine", { hasText: "parsecs" }).waitFor();
    // The cursor stands where the value begins.
    await page.keyboard.press("Control+Shift+ArrowRight");
    await page.keyboard.press("Control+Shift+ArrowRight");
    await page.keyboard.insertText("50 packets");
    await soon(() => status(page).textContent()).toContain("1 class, 1 flow, 2 runs");
    expect(await page.locator(".status .problem").count()).toBe(0);

    await run(page);
    const cell = page.locator(".requirements td").first();
    expect(await cell.textContent()).toContain("pass");
    // 200 B at 1 Mb/s take 1.6 ms, and the line 5 ms.
    expect(await cell.textContent()).toContain("6.6 ms");
  });

  it("shows every view of results, and says when they are of another text", async () => {
    const { page } = await open("#/scenario");
    await example(page, "first");
    await run(page);
    const results = page.getByRole("tablist", { name: "Results" });
    for (const [name, shown] of [
      ["Summary", ".table tbody tr"],
      ["Over time", ".chart canvas"],
      ["Delays", ".chart svg path"],
      ["Bounds", ".table tbody tr"],
      ["Differences", ".effect"],
      ["Findings (1)", ".problem-warning"],
      ["Assumptions", ".assumptions li"],
    ] as const) {
      await results.getByRole("tab", { name }).click();
      await page.locator(`.results ${shown}`).first().waitFor();
    }
    expect(await page.locator(".conclusion-old").count()).toBe(0);
    await write(page, SMALL("5 packets"));
    await page.locator(".conclusion-old").waitFor();
  });

  it("points and zooms in charts over time by keyboard, all of them together", async () => {
    const { page } = await open("#/scenario");
    await example(page, "first");
    await run(page);
    await page.getByRole("tab", { name: "Over time" }).click();
    const results = page.getByRole("tabpanel").last();
    await results.getByLabel("Shown").selectOption({ label: "llq" });
    const pointer = results.getByRole("slider").first();
    await pointer.focus();
    await page.keyboard.press("End");
    await expect
      .poll(() => pointer.getAttribute("aria-valuetext"))
      .toMatch(/^21 s: voice \d+ packets/);
    await page.keyboard.press("Home");
    await page.keyboard.press("+");
    const whole = results.getByRole("button", { name: "Show all of it" });
    await whole.waitFor();
    await page.keyboard.press("0");
    await soon(() => whole.count()).toBe(0);

    // The same by mouse.
    const box = await results.locator(".u-over").boundingBox();
    if (!box) throw new Error("no chart");
    await page.mouse.move(box.x + 50, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + 150, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await whole.click();
    await soon(() => whole.count()).toBe(0);
  });

  it("stops a run at once, and can run again", async () => {
    const { page } = await open("#/scenario");
    await write(page, SMALL("5 packets", LONG));
    await runButton(page).click();
    await page.getByRole("button", { name: "Run all of it" }).click();
    await page.locator(".run-going").getByText("runs done").waitFor();
    const took = await page.evaluate(async () => {
      const stop = [...document.querySelectorAll("button")].find((b) => b.textContent === "Stop");
      const began = performance.now();
      stop?.click();
      while (!document.querySelector(".run .button-main")) {
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
      return performance.now() - began;
    });
    console.log(`stopped after ${took.toFixed(0)} ms (asked: 100)`);
    await write(page, SMALL("5 packets"));
    await soon(() => runButton(page).isEnabled()).toBe(true);
    await run(page);
  });

  it("offers a shorter run of what takes minutes, and runs it", async () => {
    const { page } = await open("#/scenario");
    await write(page, SMALL("5 packets", LONG));
    await runButton(page).click();
    const offer = page.getByRole("alert");
    expect(await offer.textContent()).toMatch(/This takes about .* of memory/);
    await offer.getByRole("button", { name: /runs of/ }).click();
    await page.locator(".conclusion-head").waitFor();
  });

  it("leads to what a rule found in another file", async () => {
    const { page } = await open("#/scenario");
    await example(page, "voice-edge");
    await page
      .getByRole("button", { name: /^edge\.cfg:\d+:\d+$/ })
      .first()
      .click();
    const tab = page.getByRole("tab", { name: "edge.cfg" });
    await soon(() => tab.getAttribute("aria-selected")).toBe("true");
    const line = page.locator(".cm-lineNumbers .cm-activeLineGutter");
    await soon(() => line.textContent()).toBe("13");
  });

  it("keeps what is written, with files of its own", async () => {
    const { page } = await open("#/scenario");
    await example(page, "voice-edge");
    await page.getByRole("tab", { name: "edge.cfg" }).click();
    await soon(() => editor(page).textContent()).toContain("hostname");
    await editor(page).click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.insertText("! of mine\n");
    await soon(() => editor(page).textContent()).toContain("! of mine");
    await page.reload();
    await page.getByRole("tab", { name: "edge.cfg" }).click();
    await soon(() => editor(page).textContent()).toContain("! of mine");
  });

  it("keeps what was changed on the way over other pages, and sets aside what a link replaces", async () => {
    const { page } = await open("#/scenario");
    await write(page, SMALL("5 packets"));
    await page.getByRole("button", { name: "Link", exact: true }).click();
    const link = await page.getByRole("textbox", { name: "Link" }).inputValue();
    await page.keyboard.press("Escape");
    await write(page, "name: of mine");
    await page.goto(link);
    await soon(() => editor(page).textContent()).toContain("5 packets");
    await write(page, "name: of the link's");
    await page.getByRole("link", { name: "Lessons" }).click();
    await page.getByRole("link", { name: "Scenario" }).click();
    await soon(() => editor(page).textContent()).toBe("name: of the link's");
    await example(page, "before");
    await soon(() => editor(page).textContent()).toBe("name: of mine");
  });

  it("shows characters that turn text around in place of what they do", async () => {
    const { page } = await open("#/scenario");
    await write(page, "name: a\u202Eb");
    await soon(() => page.locator(".cm-specialChar").getAttribute("title")).toContain(
      "right-to-left",
    );
  });

  it("completes by the format, explains it, and lets go of the keyboard", async () => {
    const { page } = await open("#/scenario");
    // The engine, which knows the format, is there.
    await soon(() => status(page).textContent()).toContain("2 variants");
    await write(page, "schema_version: 1\nrun");
    await page.keyboard.press("Control+Space");
    const offered = page.locator(".cm-tooltip-autocomplete li");
    await offered.first().waitFor();
    expect((await offered.allTextContents()).join(" ")).toContain("runs");
    // CodeMirror takes no key within 75 ms, which may have been meant for the text.
    await page.waitForTimeout(150);
    await page.keyboard.press("Enter");
    await soon(() => editor(page).textContent()).toContain("runs:");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    const inside = () => page.evaluate(() => document.activeElement?.closest(".editor") !== null);
    expect(await inside()).toBe(false);
  });

  it("draws names that are markup as text", async () => {
    const { page } = await open("#/scenario");
    const hostile = SMALL("5 packets")
      .replaceAll("voice", "'<img src=x onerror=alert(1)>'")
      .replace("schema_version: 1", "schema_version: 1\nname: '<script>alert(1)</script>'");
    await write(page, hostile);
    await soon(() => runButton(page).isEnabled()).toBe(true);
    await run(page);
    expect(await page.locator("main img, main script").count()).toBe(0);
    expect(await page.locator(".requirements tbody th").textContent()).toContain("<img");
  });

  it.each([
    { width: 400, dark: false },
    { width: 1400, dark: true },
    { width: 2560, dark: false },
  ])("fits a window of $width pixels", async (look) => {
    const { page } = await open("#/scenario", look);
    await example(page, "first");
    await run(page);
    for (const tab of await page.getByRole("tablist", { name: "Results" }).getByRole("tab").all()) {
      await tab.click();
      expect(await wider(page)).toBe(0);
      // What axe looks at is the same whatever the width.
      if (look.dark) expect(await serious(page)).toEqual([]);
    }
  });
});
